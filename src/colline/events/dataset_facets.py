"""A source's own facets: schema, storage, catalog, symlinks, version. The same for inputs and outputs."""

from __future__ import annotations

import re

from colline.events import facets
from colline.events.lineage_facets import Redact
from colline.naming.dataset import SESSION_CATALOG, DatasetKind, NameContext, NamedDataset
from colline.naming.file_paths import location
from colline.naming.rules import identify_all
from colline.plan.source import Source
from colline.trace import DatasetName, DatasetRead, SchemaField

# provider → (storage layer, file format); a provider that is not here stores nothing we can tell of
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
# what a dataset is, in the words of the datasetType facet
_TYPES = {
    DatasetKind.TABLE: "TABLE",
    DatasetKind.VIEW: "VIEW",
    DatasetKind.FILE: "FILE",
    DatasetKind.TOPIC: "TOPIC",
    DatasetKind.JDBC: "TABLE",
}


def named(name: DatasetName, source: Source, context: NameContext) -> NamedDataset:
    """What naming says of that dataset: a source may be several, and a traced one may have its name already."""
    found = identify_all(source, context)
    return next((each for each in found if each.name == name), NamedDataset(name, kind=found[0].kind))


def schema(fields: tuple[SchemaField, ...], redact: Redact) -> facets.Schema | None:
    """The schema facet, if the columns are known."""
    if not fields:
        return None
    return facets.Schema(tuple(facets.SchemaField(redact(each.name), each.type or None) for each in fields))


def data_source(name: DatasetName, redact: Redact) -> facets.DataSource:
    """Where the dataset lives: its namespace."""
    return facets.DataSource(redact(name.namespace), redact(name.namespace))


def symlinks(found: NamedDataset, redact: Redact) -> facets.Symlinks | None:
    """The dataset's other names."""
    if not found.symlinks:
        return None
    links = (facets.Identifier(redact(link.namespace), redact(link.name), link.type) for link in found.symlinks)
    return facets.Symlinks(tuple(links))


def storage(source: Source) -> facets.Storage | None:
    """How the data is stored, where its provider tells."""
    short = re.sub(r".*\.", "", source.provider.lower().removesuffix(".defaultsource"))
    layer, file_format = STORAGE.get(short.removesuffix("fileformat"), ("", ""))
    return facets.Storage(layer, file_format or None) if layer else None


def dataset_type(found: NamedDataset) -> facets.DatasetType | None:
    """What the dataset is."""
    return facets.DatasetType(_TYPES[found.kind]) if found.kind in _TYPES else None


def version(source: Source, told: str = "") -> facets.Version | None:
    """The version that was read (`versionAsOf` or what the scan tells), or the one a write made."""
    text = told or source.option("version") or source.option("versionAsOf") or source.option("snapshot-id") or ""
    return facets.Version(text) if text else None


def catalog(source: Source, context: NameContext) -> facets.Catalog | None:
    """The catalog that knows a table; a path has none."""
    if not source.table:
        return None
    name = source.table[0] if len(source.table) > 2 or source.table[0] in context.catalogs else SESSION_CATALOG
    known = context.catalogs.get(name)
    kind = (known.type if known else "") or ("hive" if context.metastore_uris else "memory")
    warehouse = (known.warehouse if known else "") or (context.warehouse if name == SESSION_CATALOG else "")
    uri = known.uri if known else context.metastore_uris.split(",")[0]
    return facets.Catalog(
        framework=source.provider.lower() if source.provider.lower() in STORAGE else "spark",
        type=kind,
        name=name,
        metadata_uri=re.sub(r"(?<=//)[^/@]*@", "", uri.split("?")[0]) or None,
        warehouse_uri=location(warehouse, context) if warehouse else None,
        source="spark",
    )


def columns_read(found: DatasetRead, redact: Redact) -> facets.ColumnsRead | None:
    """Which columns were read and what for."""
    if not found.reads:
        return None
    reads = (facets.FieldRead(redact(read.field), tuple(use.value for use in read.uses)) for read in found.reads)
    return facets.ColumnsRead(tuple(reads))
