"""The facets of a dataset that do not depend on the run: schema, storage, catalog, symlinks, type, version."""

from __future__ import annotations

import re
from collections.abc import Callable

from colline.events import facets
from colline.naming.dataset import SESSION_CATALOG, DatasetKind, NameContext, NamedDataset
from colline.naming.file_paths import location
from colline.naming.rules import identify_all
from colline.plan.source import Source
from colline.trace import DatasetName, DatasetRead, SchemaField

Redact = Callable[[str], str]

# provider → (storage layer, file format); any other provider has no storage facet
STORAGE: dict[str, tuple[str, str]] = {
    "delta": ("delta", "parquet"),
    "iceberg": ("iceberg", "parquet"),
    "hudi": ("hudi", "parquet"),
    "parquet": ("default", "parquet"),
    "orc": ("default", "orc"),
    "csv": ("default", "csv"),
    "json": ("default", "json"),
    "text": ("default", "text"),
    "avro": ("default", "avro"),
    "xml": ("default", "xml"),
    "binaryfile": ("default", "binary"),
    "hive": ("hive", ""),
}
# kind → type in the datasetType facet
_DATASET_TYPES = {
    DatasetKind.TABLE: "TABLE",
    DatasetKind.VIEW: "VIEW",
    DatasetKind.FILE: "FILE",
    DatasetKind.TOPIC: "TOPIC",
    DatasetKind.JDBC: "TABLE",
}


def find_named_dataset(name: DatasetName, source: Source, context: NameContext) -> NamedDataset:
    """The symlinks and kind of one dataset of a source, which can have several."""
    datasets = identify_all(source, context)
    return next((each for each in datasets if each.name == name), NamedDataset(name, kind=datasets[0].kind))


def schema(fields: tuple[SchemaField, ...], redact: Redact) -> facets.SchemaFacet | None:
    """The columns, if they are known."""
    if not fields:
        return None
    columns = (facets.SchemaFacetField(redact(each.name), each.type or None) for each in fields)
    return facets.SchemaFacet(tuple(columns))


def data_source(name: DatasetName, redact: Redact) -> facets.DataSourceFacet:
    """The namespace of the dataset."""
    namespace = redact(name.namespace)
    return facets.DataSourceFacet(namespace, namespace)


def symlinks(dataset: NamedDataset, redact: Redact) -> facets.SymlinksFacet | None:
    """The other names of the dataset, if it has any."""
    if not dataset.symlinks:
        return None
    links = (
        facets.SymlinkIdentifier(redact(link.namespace), redact(link.name), link.type) for link in dataset.symlinks
    )
    return facets.SymlinksFacet(tuple(links))


def storage(source: Source) -> facets.StorageFacet | None:
    """The table format and file format, if the provider is known."""
    provider = re.sub(r".*\.", "", source.provider.lower().removesuffix(".defaultsource"))
    layer, file_format = STORAGE.get(provider.removesuffix("fileformat"), ("", ""))
    return facets.StorageFacet(layer, file_format or None) if layer else None


def dataset_type(dataset: NamedDataset) -> facets.DatasetTypeFacet | None:
    """Whether the dataset is a table, a view, files or a topic."""
    return facets.DatasetTypeFacet(_DATASET_TYPES[dataset.kind]) if dataset.kind in _DATASET_TYPES else None


def version_read(source: Source) -> facets.VersionFacet | None:
    """The version of a table that a scan reads, if Spark reports it or the query asks for it."""
    options = ("version", "versionAsOf", "snapshot-id")
    text = next((value for value in map(source.option, options) if value), "")
    return facets.VersionFacet(text) if text else None


def catalog(source: Source, context: NameContext) -> facets.CatalogFacet | None:
    """The catalog of a table; None for a path."""
    if not source.table:
        return None
    name = source.table[0] if len(source.table) > 2 or source.table[0] in context.catalogs else SESSION_CATALOG
    known = context.catalogs.get(name)
    kind = (known.type if known else "") or ("hive" if context.metastore_uris else "memory")
    warehouse = (known.warehouse if known else "") or (context.warehouse if name == SESSION_CATALOG else "")
    uri = known.uri if known else context.metastore_uris.split(",")[0]
    return facets.CatalogFacet(
        framework=source.provider.lower() if source.provider.lower() in STORAGE else "spark",
        type=kind,
        name=name,
        metadata_uri=re.sub(r"(?<=//)[^/@]*@", "", uri.split("?")[0]) or None,
        warehouse_uri=location(warehouse, context) if warehouse else None,
        source="spark",
    )


def columns_read(dataset: DatasetRead, redact: Redact) -> facets.ColumnsReadFacet | None:
    """The columns that a query reads and what it uses them for, if any column is known."""
    if not dataset.reads:
        return None
    reads = (facets.ColumnUses(redact(read.field), tuple(use.value for use in read.uses)) for read in dataset.reads)
    return facets.ColumnsReadFacet(tuple(reads))
