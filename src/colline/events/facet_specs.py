"""The facets that colline writes: key, version and schema. A test compares them with openlineage-python 1.54."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import msgspec

from colline import __version__
from colline.events import facets
from colline.events.facets import Facet, TagsFacet
from colline.events.model import SPEC

PRODUCER = f"https://pypi.org/project/colline/{__version__}"


class FacetOwner(Enum):
    """The part of an event that a facet belongs to, as the name of its base schema in the spec."""

    RUN = "RunFacet"
    JOB = "JobFacet"
    DATASET = "DatasetFacet"
    INPUT = "InputDatasetFacet"
    OUTPUT = "OutputDatasetFacet"


@dataclass(frozen=True, slots=True)
class FacetSpec:
    """The key of a facet in an event, and the version of its schema. Facets of colline itself have no version."""

    key: str
    owner: FacetOwner
    version: str = ""
    schema: str = ""
    file: str = ""

    @property
    def url(self) -> str:
        """The URL of the schema; for a facet of colline, the base schema."""
        if not self.version:
            return f"{SPEC}{self.owner.value}"
        return f"https://openlineage.io/spec/facets/{self.version}/{self.file or self.schema}.json#/$defs/{self.schema}"


_RUN, _JOB, _DATASET, _OUTPUT = FacetOwner.RUN, FacetOwner.JOB, FacetOwner.DATASET, FacetOwner.OUTPUT

COLUMN_LINEAGE = FacetSpec("columnLineage", _DATASET, "1-2-0", "ColumnLineageDatasetFacet")
LINEAGE = FacetSpec("lineage", _JOB, "1-0-0", "LineageJobFacet", "LineageFacet")
STEPS = FacetSpec("colline_steps", _DATASET)
RUN_TAGS = FacetSpec("tags", _RUN, "1-0-0", "TagsRunFacet")
JOB_TAGS = FacetSpec("tags", _JOB, "1-0-0", "TagsJobFacet")
FACET_SPECS: dict[type[Facet], FacetSpec] = {
    facets.ParentRunFacet: FacetSpec("parent", _RUN, "1-2-0", "ParentRunFacet"),
    facets.ProcessingEngineFacet: FacetSpec("processing_engine", _RUN, "1-1-1", "ProcessingEngineRunFacet"),
    facets.ErrorMessageFacet: FacetSpec("errorMessage", _RUN, "1-0-1", "ErrorMessageRunFacet"),
    facets.JobTypeFacet: FacetSpec("jobType", _JOB, "2-0-4", "JobTypeJobFacet"),
    facets.SqlFacet: FacetSpec("sql", _JOB, "1-1-0", "SQLJobFacet"),
    facets.SourceCodeLocationFacet: FacetSpec("sourceCodeLocation", _JOB, "1-1-0", "SourceCodeLocationJobFacet"),
    facets.JobDocumentationFacet: FacetSpec("documentation", _JOB, "1-1-0", "DocumentationJobFacet"),
    facets.JobOwnershipFacet: FacetSpec("ownership", _JOB, "1-0-1", "OwnershipJobFacet"),
    facets.DatasetDocumentationFacet: FacetSpec("documentation", _DATASET, "1-1-0", "DocumentationDatasetFacet"),
    facets.DatasetOwnershipFacet: FacetSpec("ownership", _DATASET, "1-0-1", "OwnershipDatasetFacet"),
    facets.DatasetTagsFacet: FacetSpec("tags", _DATASET, "1-0-0", "TagsDatasetFacet"),
    facets.SchemaFacet: FacetSpec("schema", _DATASET, "1-2-0", "SchemaDatasetFacet"),
    facets.DataSourceFacet: FacetSpec("dataSource", _DATASET, "1-0-1", "DatasourceDatasetFacet"),
    facets.StorageFacet: FacetSpec("storage", _DATASET, "1-0-1", "StorageDatasetFacet"),
    facets.CatalogFacet: FacetSpec("catalog", _DATASET, "1-1-0", "CatalogDatasetFacet"),
    facets.SymlinksFacet: FacetSpec("symlinks", _DATASET, "1-0-1", "SymlinksDatasetFacet"),
    facets.VersionFacet: FacetSpec("version", _DATASET, "1-0-1", "DatasetVersionDatasetFacet"),
    facets.DatasetTypeFacet: FacetSpec("datasetType", _DATASET, "1-0-1", "DatasetTypeDatasetFacet"),
    facets.LifecycleFacet: FacetSpec("lifecycleStateChange", _DATASET, "1-0-1", "LifecycleStateChangeDatasetFacet"),
    facets.OutputStatisticsFacet: FacetSpec("outputStatistics", _OUTPUT, "1-0-2", "OutputStatisticsOutputDatasetFacet"),
    facets.ColumnsReadFacet: FacetSpec("colline_columnsRead", _DATASET),
    facets.OpaqueStepsFacet: FacetSpec("colline_opaque", _RUN),
    facets.QueryFacet: FacetSpec("colline_query", _RUN),
    facets.UnresolvedPlanFacet: FacetSpec("colline_plan", _RUN),
    facets.SparkPropertiesFacet: FacetSpec("spark_properties", _RUN),
    facets.SparkApplicationFacet: FacetSpec("spark_applicationDetails", _RUN),
    facets.DeliveryFacet: FacetSpec("colline_delivery", _RUN),
}


def add_header(spec: FacetSpec, content: dict[str, Any]) -> dict[str, Any]:
    """The JSON of a facet: its content with `_producer` and `_schemaURL`."""
    return {"_producer": PRODUCER, "_schemaURL": spec.url, **content}


def facets_by_key(*values: Facet | None, tags: tuple[FacetSpec, TagsFacet] | None = None) -> dict[str, Any] | None:
    """The JSON of several facets by key, without those that are None; None if nothing is left.

    Tags are given with their spec, because runs and jobs use the same facet class.
    """
    found = {
        FACET_SPECS[type(value)].key: add_header(FACET_SPECS[type(value)], msgspec.to_builtins(value))
        for value in values
        if value is not None
    }
    if tags is not None and tags[1].tags:
        found[tags[0].key] = add_header(tags[0], msgspec.to_builtins(tags[1]))
    return found or None
