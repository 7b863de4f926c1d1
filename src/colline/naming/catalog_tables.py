"""Names of catalog tables. A table is identified by its location; its name in the catalog is a symlink."""

from __future__ import annotations

import re

from colline.naming.dataset import SESSION_CATALOG, DatasetKind, NameContext, NamedDataset, SparkCatalog, Symlink
from colline.naming.file_paths import join, location, name_of_path
from colline.naming.partitions import without_version
from colline.plan.source import Source, SourceKind
from colline.trace import DatasetName

# formats that can take the place of the database: delta.`/data/t`
_PATH_FORMATS = frozenset(["delta", "parquet", "orc", "csv", "json", "text", "avro", "binaryfile", "iceberg", "hudi"])


def path_in_identifier(source: Source) -> str | None:
    """``delta.`/data/t` `` → `/data/t`; None if the identifier does not contain a path."""
    if len(source.table) < 2 or source.table[-2].lower() not in _PATH_FORMATS:
        return None
    return source.table[-1] if "/" in source.table[-1] or "\\" in source.table[-1] else None


def names_of_table(source: Source, context: NameContext) -> tuple[NamedDataset, ...]:
    """A table, named by its location; a view or a table without a known location is named by its catalog."""
    identifier = _identifier(source.table, context)
    symlinks = symlinks_of(identifier, context)
    path = source.paths[0] if source.paths else _default_location(identifier, context)
    kind = DatasetKind.VIEW if source.kind is SourceKind.VIEW else DatasetKind.TABLE
    if not path or kind is DatasetKind.VIEW:
        link = symlinks[0]
        return (NamedDataset(DatasetName(link.namespace, link.name), symlinks[1:], kind),)
    return (NamedDataset(name_of_path(without_version(path), context), symlinks, kind),)


def symlinks_of(identifier: tuple[str, ...], context: NameContext) -> tuple[Symlink, ...]:
    """The names of a table in its catalog. Glue has two: `table/db/t`, as in OpenLineage, and `db.t`."""
    catalog, *rest = identifier
    plain = ".".join(rest)
    if catalog != SESSION_CATALOG:
        found = context.catalogs.get(catalog, SparkCatalog(catalog))
        return (Symlink(_catalog_namespace(found, context), f"{catalog}.{plain}"),)
    if context.glue_arn:
        return Symlink(context.glue_arn, "table/" + "/".join(rest)), Symlink(context.glue_arn, plain)
    return (Symlink(_session_namespace(context), plain),)


def _identifier(table: tuple[str, ...], context: NameContext) -> tuple[str, ...]:
    """`Orders` → spark_catalog, default, orders. The session catalog is case-insensitive; other catalogs are not."""
    if len(table) == 1:
        table = (context.current_catalog, context.current_database, *table)
    elif len(table) == 2 and table[0] not in context.catalogs:
        table = (SESSION_CATALOG, *table)
    if table[0].lower() == SESSION_CATALOG:
        return (SESSION_CATALOG, *(part.lower() for part in table[1:]))
    return table


def _session_namespace(context: NameContext) -> str:
    if context.metastore_uris:
        first = context.metastore_uris.split(",")[0].strip()
        return re.sub(r"^\w+://", "hive://", first).rstrip("/")
    if context.unity_host:
        return f"unitycatalog://{context.unity_host}"
    return location(context.warehouse, context) if context.warehouse else SESSION_CATALOG


def _catalog_namespace(catalog: SparkCatalog, context: NameContext) -> str:
    """The URI of a catalog without user and parameters, else its warehouse, else its name."""
    if catalog.type == "glue" and context.glue_arn:
        return context.glue_arn
    if catalog.uri:
        uri = re.sub(r"(?<=//)[^/@]*@", "", catalog.uri.split("?")[0].split(";")[0]).rstrip("/")
        return re.sub(r"^thrift://", "hive://", uri.split(",")[0])
    return location(catalog.warehouse, context) if catalog.warehouse else f"catalog://{catalog.name}"


def _default_location(identifier: tuple[str, ...], context: NameContext) -> str:
    """Where Spark stores a table that is created without a location."""
    catalog, *namespace, table = identifier
    if catalog == SESSION_CATALOG and namespace:
        database = namespace[-1]
        if database in context.databases:
            return join(context.databases[database], table)
        below = () if database == "default" else (f"{database}.db",)
        return join(context.warehouse, *below, table) if context.warehouse else ""
    found = context.catalogs.get(catalog)
    if found and found.type == "hadoop" and found.warehouse:
        return join(found.warehouse, *namespace, table)
    return ""
