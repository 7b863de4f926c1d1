"""The content of each facet as a frozen value. `facet_specs` has their keys and versions.

The facets of column lineage are in `lineage_facets`.
"""

from __future__ import annotations

import msgspec


class Facet(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The content of a facet, or of a part of one."""


class JobIdentifier(Facet, frozen=True):
    """A job by name."""

    namespace: str
    name: str


class RunIdentifier(Facet, frozen=True):
    """A run by id."""

    run_id: str


class RootRun(Facet, frozen=True):
    """The outermost run, such as that of a scheduler."""

    run: RunIdentifier
    job: JobIdentifier


class ParentRunFacet(Facet, frozen=True):
    """The run that started this run."""

    run: RunIdentifier
    job: JobIdentifier
    root: RootRun | None = None


class ProcessingEngineFacet(Facet, frozen=True):
    """The engine that executed the run."""

    version: str
    name: str
    openlineage_adapter_version: str


class ErrorMessageFacet(Facet, frozen=True):
    """Why a run failed."""

    message: str
    programming_language: str
    stack_trace: str | None = None


class Tag(Facet, frozen=True):
    """One tag."""

    key: str
    value: str
    source: str | None = None


class TagsFacet(Facet, frozen=True):
    """The tags of a run or job."""

    tags: tuple[Tag, ...]


class DatasetTag(Facet, frozen=True):
    """One tag of a dataset, or with `field` of a column."""

    key: str
    value: str
    source: str | None = None
    field: str | None = None


class DatasetTagsFacet(Facet, frozen=True):
    """The tags of a dataset and of its columns."""

    tags: tuple[DatasetTag, ...]


class DatasetDocumentationFacet(Facet, frozen=True):
    """The description of a dataset."""

    description: str


class JobDocumentationFacet(Facet, frozen=True):
    """The description of a job."""

    description: str


class Owner(Facet, frozen=True):
    """A person, team or application that owns something."""

    name: str
    type: str | None = None


class DatasetOwnershipFacet(Facet, frozen=True):
    """The owners of a dataset."""

    owners: tuple[Owner, ...]


class JobOwnershipFacet(Facet, frozen=True):
    """The owners of a job."""

    owners: tuple[Owner, ...]


class SourceCodeLocationFacet(Facet, frozen=True):
    """Where the definition of a job is stored."""

    type: str
    url: str
    path: str | None = None


class EmissionPattern(Facet, frozen=True):
    """When events are sent, and whether an event repeats the content of earlier ones."""

    event_trigger: str
    event_content_mode: str


class JobTypeFacet(Facet, frozen=True):
    """The type of a job."""

    processing_type: str
    integration: str
    job_type: str
    emission_pattern: EmissionPattern | None = None


class SqlFacet(Facet, frozen=True):
    """The SQL text of a job."""

    query: str
    dialect: str | None = None


class SchemaFacetField(Facet, frozen=True):
    """One column of a schema."""

    name: str
    type: str | None = None
    description: str | None = None


class SchemaFacet(Facet, frozen=True):
    """The columns of a dataset."""

    fields: tuple[SchemaFacetField, ...]


class DataSourceFacet(Facet, frozen=True):
    """The system that a dataset is stored in."""

    name: str
    uri: str


class StorageFacet(Facet, frozen=True):
    """The table format and file format of a dataset."""

    storage_layer: str
    file_format: str | None = None


class CatalogFacet(Facet, frozen=True):
    """The catalog of a table."""

    framework: str
    type: str
    name: str
    metadata_uri: str | None = None
    warehouse_uri: str | None = None
    source: str | None = None


class SymlinkIdentifier(Facet, frozen=True):
    """Another name of a dataset."""

    namespace: str
    name: str
    type: str


class SymlinksFacet(Facet, frozen=True):
    """The other names of a dataset."""

    identifiers: tuple[SymlinkIdentifier, ...]


class VersionFacet(Facet, frozen=True):
    """The version of a table that was read or written."""

    dataset_version: str


class DatasetTypeFacet(Facet, frozen=True):
    """The type of a dataset: TABLE, VIEW, FILE, TOPIC."""

    dataset_type: str
    sub_type: str | None = None


class PreviousIdentifier(Facet, frozen=True):
    """The name of a table before it was renamed."""

    namespace: str
    name: str


class LifecycleFacet(Facet, frozen=True):
    """What a run did to a table as a whole: CREATE, DROP, RENAME, …"""

    lifecycle_state_change: str
    previous_identifier: PreviousIdentifier | None = None


class OutputStatisticsFacet(Facet, frozen=True):
    """How much a run wrote to an output."""

    row_count: int | None = None
    size: int | None = None
    file_count: int | None = None


class ColumnUses(Facet, frozen=True):
    """A column that was read, and what it was used for."""

    name: str
    uses: tuple[str, ...]


class ColumnsReadFacet(Facet, frozen=True):
    """The columns of an input that a run read."""

    fields: tuple[ColumnUses, ...]


class OpaqueFacetStep(Facet, frozen=True):
    """A step of a query whose code cannot be analyzed."""

    node: str
    function: str = ""
    why: str = ""


class OpaqueStepsFacet(Facet, frozen=True):
    """The opaque steps of a run's query."""

    steps: tuple[OpaqueFacetStep, ...]


class QueryFacet(Facet, frozen=True):
    """The digest of a query's lineage, equal for all runs of the query."""

    definition: str


class UnresolvedPlanFacet(Facet, frozen=True):
    """A plan of Spark Connect that could not be analyzed where it was captured: base64 of compressed JSON."""

    recorded: str


class SparkPropertiesFacet(Facet, frozen=True):
    """Selected properties of the Spark session."""

    properties: dict[str, str]


class SparkApplicationFacet(Facet, frozen=True):
    """The application id in Spark's event log and history server. OpenLineage's Spark listener uses the same key."""

    application_id: str


class DeliveryFacet(Facet, frozen=True):
    """How many events of an application were emitted, and what became of them."""

    emitted: int = 0
    queued: int = 0
    sent: int = 0
    retried: int = 0
    dropped: int = 0
    spooled: int = 0
    failed: int = 0
