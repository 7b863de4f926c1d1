"""What a leaf or a command's target says of where its data is, as a `Source`. Naming it is somebody else's work."""

from __future__ import annotations

import re

from colline.plan.node import Node
from colline.plan.source import Source, SourceKind

# class name of a file format or table → what Spark calls it
_FORMATS = {
    "DeltaParquetFileFormat": "delta",
    "ParquetFileFormat": "parquet",
    "OrcFileFormat": "orc",
    "CSVFileFormat": "csv",
}


# a file below its dataset's folder, with the folders of its partition between them
_DATA_FILE = re.compile(r"([^/=]+=[^/]*/)*[^/]+\.[^/]*")


def source_of(node: Node) -> Source:
    """The source of a leaf operator, whichever API it comes from."""
    objects = {item.kind: item for item in node.argument_nodes() if not item.is_operator and not item.is_expression}
    if "CatalogTable" in objects:
        return table_source(objects["CatalogTable"], version=_version(objects))
    if "HadoopFsRelation" in objects:
        return _files(objects["HadoopFsRelation"])
    if "Table" in objects:
        return _connector(node, objects["Table"])
    if "DataSource" in objects:
        return _options(
            objects["DataSource"].text("provider"), objects["DataSource"].pairs("options"), objects["DataSource"]
        )
    if "Relation" in objects:
        return _options(objects["Relation"].text("class"), objects["Relation"].pairs("options"))
    return Source(SourceKind.OTHER, provider=node.text("sourceName") or node.kind)


def table_source(table: Node, *, kind: SourceKind = SourceKind.TABLE, version: str = "") -> Source:
    """The source of a table in a catalog."""
    location = table.text("location")
    options = table.pairs("options")
    provider = table.text("provider")
    if provider == "jdbc" or provider.endswith("JdbcRelationProvider"):
        return Source(SourceKind.JDBC, "jdbc", table=table.strings("identifier"), options=options)
    return Source(
        kind,
        provider=provider,
        paths=(location,) if location and kind is SourceKind.TABLE else (),
        table=table.strings("identifier"),
        options=(("version", version),) if version else (),
        partition_columns=table.strings("partitions"),
    )


def path_source(path: str, provider: str) -> Source:
    """The source of files at a path."""
    return Source(SourceKind.PATH, provider=provider_name(provider), paths=(path,))


def provider_name(name: str) -> str:
    """`ParquetFileFormat` → `parquet`; `org.x.DefaultSource` → as it is."""
    short = name.rsplit(".", 1)[-1].strip("<>")
    return _FORMATS.get(short, short.removesuffix("FileFormat").lower() if short.endswith("FileFormat") else name)


def _version(objects: dict[str, Node]) -> str:
    files = objects.get("HadoopFsRelation") or objects.get("Table")
    return files.text("version") if files is not None else ""


def _files(relation: Node) -> Source:
    version = relation.text("version")
    return Source(
        SourceKind.PATH,
        provider=provider_name(relation.text("format")),
        paths=_folder(relation) or relation.strings("paths"),
        options=(("version", version),) if version else (),
        partition_columns=relation.strings("partitions"),
    )


def _folder(relation: Node) -> tuple[str, ...]:
    """The folder that a stream's batch of files belongs to; none where what is read is not files right below it."""
    options = {key.lower(): value for key, value in relation.pairs("options")}
    base = options.get("basepath", "").rstrip("/").partition(":")
    root = "/" + (base[2] or base[0]).lstrip("/")
    found = [path.partition(root + "/") for path in relation.strings("paths")]
    are_files = all(truncate and _DATA_FILE.fullmatch(below) for _, truncate, below in found)
    return (found[0][0] + root,) if len(root) > 1 and found and are_files else ()


def _connector(node: Node, table: Node) -> Source:
    inner = table.optional("catalog_table")
    if inner is not None:
        return table_source(inner, version=table.text("version"))
    catalog = node.optional("catalog")
    parts = ((catalog.text("name"),) if catalog is not None else ()) + node.strings("identifier")
    paths = table.strings("path")
    options = (*node.pairs("options"), *node.pairs("extraOptions"), *table.pairs("options"))
    if paths:
        kind = SourceKind.TABLE if parts else SourceKind.PATH
        version = table.text("version")
        more = (("version", version),) if version else ()
        return Source(kind, table.text("provider") or "", paths=paths, table=parts, options=more)
    return _options(table.text("provider") or table.text("class"), options, table=parts, name=table.text("name"))


def _options(
    provider: str,
    options: tuple[tuple[str, str], ...],
    object_node: Node | None = None,
    *,
    table: tuple[str, ...] = (),
    name: str = "",
) -> Source:
    """A source that only its options describe: JDBC, Kafka, files of a stream, and the connectors of third parties."""
    keys = {key.lower() for key, _ in options}
    if "url" in keys and ("dbtable" in keys or "query" in keys or "jdbc" in provider.lower()):
        return Source(SourceKind.JDBC, "jdbc", options=options, table=table)
    if keys & {"subscribe", "topic", "subscribepattern", "assign"} or "kafka.bootstrap.servers" in keys:
        return Source(SourceKind.KAFKA, "kafka", options=options)
    paths = object_node.strings("paths") if object_node is not None else ()
    paths = paths or tuple(value for key, value in options if key.lower() == "path")
    if paths:
        return Source(SourceKind.PATH, provider_name(provider), paths=paths)
    if table:
        return Source(SourceKind.TABLE, provider, table=table, options=options)
    return Source(SourceKind.OTHER, provider, options=(*options, *((("name", name),) if name else ())))
