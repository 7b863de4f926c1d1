"""Reads from a leaf operator or a command's target where its data is, as a `Source`. Naming it is up to the caller."""

from __future__ import annotations

import re

from colline.plan.node import Node
from colline.plan.source import Source, SourceKind

Options = tuple[tuple[str, str], ...]

# class name of a file format → its name in Spark SQL
_FORMATS = {
    "DeltaParquetFileFormat": "delta",
    "ParquetFileFormat": "parquet",
    "OrcFileFormat": "orc",
    "CSVFileFormat": "csv",
}


# the path of a data file relative to its dataset: optional partition folders, then a file name
_DATA_FILE = re.compile(r"([^/=]+=[^/]*/)*[^/]+\.[^/]*")


def source_of(node: Node) -> Source:
    """The source of a leaf operator, for every data source API of Spark."""
    objects = {each.kind: each for each in node.argument_nodes() if not each.is_operator and not each.is_expression}
    if "CatalogTable" in objects:
        return table_source(objects["CatalogTable"], version=_version(objects))
    if "HadoopFsRelation" in objects:
        return _file_source(objects["HadoopFsRelation"])
    if "Table" in objects:
        return _connector_source(node, objects["Table"])
    if "DataSource" in objects:
        stream = objects["DataSource"]
        return _source_from_options(stream.text("provider"), stream.pairs("options"), stream)
    if "Relation" in objects:
        return _source_from_options(objects["Relation"].text("class"), objects["Relation"].pairs("options"))
    return Source(SourceKind.OTHER, provider=node.text("sourceName") or node.kind)


def table_source(table: Node, *, kind: SourceKind = SourceKind.TABLE, version: str = "") -> Source:
    """The source of a catalog table."""
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
        options=_version_option(version),
        partition_columns=table.strings("partitions"),
    )


def path_source(path: str, provider: str) -> Source:
    """The source of files at a path."""
    return Source(SourceKind.PATH, provider=provider_name(provider), paths=(path,))


def memory_sink_source(query_name: str) -> Source:
    """The source of the table that a stream with the format `memory` writes."""
    return Source(SourceKind.LOCAL, provider=query_name)


def provider_name(name: str) -> str:
    """`ParquetFileFormat` → `parquet`; `org.x.DefaultSource` is returned as it is."""
    short = name.rsplit(".", 1)[-1].strip("<>")
    return _FORMATS.get(short, short.removesuffix("FileFormat").lower() if short.endswith("FileFormat") else name)


def _version(objects: dict[str, Node]) -> str:
    files = objects.get("HadoopFsRelation") or objects.get("Table")
    return files.text("version") if files is not None else ""


def _version_option(version: str) -> Options:
    return (("version", version),) if version else ()


def _file_source(relation: Node) -> Source:
    return Source(
        SourceKind.PATH,
        provider=provider_name(relation.text("format")),
        paths=_stream_folder(relation) or relation.strings("paths"),
        options=_version_option(relation.text("version")),
        partition_columns=relation.strings("partitions"),
    )


def _stream_folder(relation: Node) -> tuple[str, ...]:
    """The folder of a streaming micro-batch, which lists its files; empty if the paths are not files in `basePath`."""
    options = {key.lower(): value for key, value in relation.pairs("options")}
    scheme_or_path, _, path = options.get("basepath", "").rstrip("/").partition(":")
    root = "/" + (path or scheme_or_path).lstrip("/")
    split_paths = [path.partition(root + "/") for path in relation.strings("paths")]
    are_files = all(separator and _DATA_FILE.fullmatch(file) for _, separator, file in split_paths)
    return (split_paths[0][0] + root,) if len(root) > 1 and split_paths and are_files else ()


def _connector_source(node: Node, table: Node) -> Source:
    """The source of a DataSource V2 table."""
    catalog_table = table.optional("catalog_table")
    if catalog_table is not None:
        return table_source(catalog_table, version=table.text("version"))
    if table.text("class").endswith(".PythonTable"):
        return python_source(table.text("provider"), _options(node))
    catalog = node.optional("catalog")
    identifier = ((catalog.text("name"),) if catalog is not None else ()) + node.strings("identifier")
    if table.text("provider") == "iceberg" and ".".join(identifier).startswith(f"{table.text('name')}."):
        identifier = identifier[:-1]  # a branch, a tag or the changes of a table
    paths = table.strings("path")
    if paths:
        is_table = bool(identifier) and "/" not in "".join(identifier)
        kind, identifier = (SourceKind.TABLE, identifier) if is_table else (SourceKind.PATH, ())
        version = _version_option(table.text("version"))
        return Source(kind, table.text("provider") or "", paths=paths, table=identifier, options=version)
    options = (*node.pairs("options"), *node.pairs("extraOptions"), *table.pairs("options"))
    provider = table.text("provider") or table.text("class")
    return _source_from_options(provider, options, table=identifier, name=table.text("name"))


def _options(node: Node) -> Options:
    found = (*node.pairs("options"), *node.pairs("extraOptions"), *node.pairs("writeOptions"))
    return tuple(dict.fromkeys(found))


def python_source(name: str, options: Options) -> Source:
    """The source of a Python data source: its options name what it reads."""
    return Source(SourceKind.PYTHON, name, options=options)


def _source_from_options(
    provider: str, options: Options, stream: Node | None = None, *, table: tuple[str, ...] = (), name: str = ""
) -> Source:
    """A source that only its options describe: JDBC, Kafka, streamed files, and connectors of other packages."""
    keys = {key.lower() for key, _ in options}
    if "url" in keys and ("dbtable" in keys or "query" in keys or "jdbc" in provider.lower()):
        return Source(SourceKind.JDBC, "jdbc", options=options, table=table)
    if keys & {"subscribe", "topic", "subscribepattern", "assign"} or "kafka.bootstrap.servers" in keys:
        return Source(SourceKind.KAFKA, "kafka", options=options)
    paths = stream.strings("paths") if stream is not None else ()
    paths = paths or tuple(value for key, value in options if key.lower() == "path")
    if paths:
        return Source(SourceKind.PATH, provider_name(provider), paths=paths)
    if table:
        return Source(SourceKind.TABLE, provider, table=table, options=options)
    return Source(SourceKind.OTHER, provider, options=(*options, *((("name", name),) if name else ())))
