"""Names of catalog tables: the location is the identity, the catalog's name is a symlink."""

from __future__ import annotations

import re

from colline.naming.dataset import SESSION_CATALOG, Catalog, DatasetKind, NameContext, Named, Symlink
from colline.naming.file_paths import join, location, name_of_path
from colline.naming.partitions import without_version
from colline.plan.source import Source, SourceKind
from colline.trace import DatasetName

# formats that may stand where a database stands: delta.`/data/t`
_PATH_FORMATS = frozenset(["delta", "parquet", "orc", "csv", "json", "text", "avro", "binaryfile", "iceberg", "hudi"])


def path_in_identifier(source: Source) -> str | None:
    """The path of ``delta.`/data/t` ``, where a table's identifier is a path in disguise."""
    if len(source.table) < 2 or source.table[-2].lower() not in _PATH_FORMATS:
        return None
    return source.table[-1] if "/" in source.table[-1] or "\\" in source.table[-1] else None


def names_of_table(source: Source, context: NameContext) -> tuple[Named, ...]:
    """A table by where its data is; by its catalog only where nobody says where that is."""
    identifier = _identifier(source.table, context)
    symlinks = symlinks_of(identifier, context)
    path = source.paths[0] if source.paths else _default_location(identifier, context)
    kind = DatasetKind.VIEW if source.kind is SourceKind.VIEW else DatasetKind.TABLE
    if not path or kind is DatasetKind.VIEW:
        link = symlinks[0]
        return (Named(DatasetName(link.namespace, link.name), symlinks[1:], kind),)
    return (Named(name_of_path(without_version(path), context), symlinks, kind),)


def symlinks_of(identifier: tuple[str, ...], context: NameContext) -> tuple[Symlink, ...]:
    """The names a catalog knows a table by. Glue's has two spellings: OpenLineage's ARN form and the plain one."""
    catalog, *rest = identifier
    plain = ".".join(rest)
    if catalog != SESSION_CATALOG:
        found = context.catalogs.get(catalog, Catalog(catalog))
        return (Symlink(_catalog_namespace(found, context), f"{catalog}.{plain}"),)
    if context.glue_arn:
        return Symlink(context.glue_arn, "table/" + "/".join(rest)), Symlink(context.glue_arn, plain)
    return (Symlink(_session_namespace(context), plain),)


def _identifier(table: tuple[str, ...], context: NameContext) -> tuple[str, ...]:
    """catalog, database, table: what is missing on the left comes from the session. Names of the session catalog
    have no case of their own."""
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


def _catalog_namespace(catalog: Catalog, context: NameContext) -> str:
    """A catalog's own address, without user and parameters; else its warehouse; else its name."""
    if catalog.type == "glue" and context.glue_arn:
        return context.glue_arn
    if catalog.uri:
        bare = re.sub(r"(?<=//)[^/@]*@", "", catalog.uri.split("?")[0].split(";")[0]).rstrip("/")
        return re.sub(r"^thrift://", "hive://", bare.split(",")[0])
    return location(catalog.warehouse, context) if catalog.warehouse else f"catalog://{catalog.name}"


def _default_location(identifier: tuple[str, ...], context: NameContext) -> str:
    """Where Spark will put a table that names no location: known before the table is there."""
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
