"""The Spark schema of an event, for the pipeline. It is explicit, never inferred.

All leaves are strings: an event is not rejected because `masking` is a text, or a name is a number. Only a wrong
container, such as an object in the place of a list, is a wrong type. Facets that are not listed are ignored.

The parts of an event that have an entry per column (`UNPARSED_FIELDS`) are read as text first, because the runs of a
job repeat them. The pipeline parses each distinct text once, as `PARSED_FIELDS`.
"""

from __future__ import annotations

from colline.events.facets import DeliveryFacet


def _struct(**fields: str) -> str:
    return "struct<" + ",".join(f"`{name}`:{kind}" for name, kind in fields.items()) + ">"


def _strings(*names: str) -> str:
    return _struct(**dict.fromkeys(names, "string"))


def array_of(element: str) -> str:
    """The type of a list."""
    return f"array<{element}>"


ID = _strings("namespace", "name")
TRANSFORMATION = _strings("type", "subtype", "description", "masking")
INPUT_FIELD = _struct(
    namespace="string", name="string", field="string", type="string", transformations=array_of(TRANSFORMATION)
)
OUTPUT_FIELD = _struct(
    inputFields=array_of(INPUT_FIELD),  # in the columnLineage facet
    inputs=array_of(INPUT_FIELD),  # in the lineage facet
    transformationType="string",  # deprecated
    transformationDescription="string",  # deprecated
)
FIELDS = f"map<string,{OUTPUT_FIELD}>"
INPUTS = array_of(INPUT_FIELD)
SCHEMA_FIELDS = array_of(_strings("name", "type", "description"))
SYMLINKS = array_of(_strings("namespace", "name", "type"))
OWNERS = _struct(owners=array_of(_strings("name", "type")))
READS = array_of(_struct(name="string", uses=array_of("string")))
COLUMNS_READ = _strings("fields")
TAG_LIST = array_of(_strings("key", "value", "field"))
TAGS = _struct(tags=TAG_LIST)

DOCUMENTATION = _strings("description")

DATASET_FACETS = _struct(
    schema=_strings("fields"),
    columnLineage=_strings("fields", "dataset"),
    lineage=_struct(fields=FIELDS, inputs=INPUTS),
    symlinks=_struct(identifiers=SYMLINKS),
    lifecycleStateChange=_struct(lifecycleStateChange="string", previousIdentifier=ID),
    datasetType=_strings("datasetType"),
    storage=_strings("storageLayer", "fileFormat"),
    ownership=OWNERS,
    tags=TAGS,
    documentation=DOCUMENTATION,
    colline_columnsRead=COLUMNS_READ,
)
DATASET = _struct(
    namespace="string", name="string", facets=DATASET_FACETS, inputFacets=_struct(colline_columnsRead=COLUMNS_READ)
)
PARENT = _struct(run=_strings("runId"), job=ID, root=_struct(run=_strings("runId"), job=ID))
DELIVERY_COUNTERS = DeliveryFacet.__struct_fields__
RUN_FACETS = _struct(
    parent=PARENT,
    parentRun=PARENT,
    errorMessage=_strings("message"),
    **{"spark.exception": _strings("message", "stackTrace")},
    processing_engine=_strings("name", "version"),
    colline_opaque=_struct(steps=array_of(_strings("node", "function", "why"))),
    colline_delivery=_strings(*DELIVERY_COUNTERS),
    colline_query=_strings("definition"),
    colline_plan=_strings("recorded"),
    spark_applicationDetails=_strings("applicationId"),
)
JOB_ENTRY = _struct(namespace="string", name="string", type="string", fields=FIELDS, inputs=INPUTS)
JOB_LINEAGE = _struct(entries=array_of(JOB_ENTRY))
JOB_FACETS = _struct(
    jobType=_strings("processingType", "integration", "jobType"),
    ownership=OWNERS,
    lineage=JOB_LINEAGE,
    sql=_strings("query"),
    sourceCodeLocation=_strings("url", "path"),
    documentation=DOCUMENTATION,
    tags=TAGS,
)

CORRUPT_RECORD = "_corrupt"
UNPARSED_FIELDS = {"fields": "{", "rows": "[", "schema": "[", "reads": "["}  # name → first character of its text
PARSED_FIELDS = _struct(fields=FIELDS, rows=INPUTS, schema=SCHEMA_FIELDS, reads=READS, **{CORRUPT_RECORD: "string"})
_RUN_PART_FIELDS = {
    "eventType": "string",
    "eventTime": "string",
    "producer": "string",
    "run": _struct(runId="string", facets=RUN_FACETS),
    "job": _struct(namespace="string", name="string", facets=JOB_FACETS),
    "dataset": DATASET,
}
EVENT = _struct(**_RUN_PART_FIELDS, inputs=array_of(DATASET), outputs=array_of(DATASET), **{CORRUPT_RECORD: "string"})
# The run part of an event has a digest in the place of its datasets. The marker shows that Spark read all of the text:
# it stops silently after the first complete object.
END_MARKER = "_end"
RUN_PART = _struct(
    **_RUN_PART_FIELDS,
    inputs="string",
    outputs=array_of("map<string,string>"),
    **{END_MARKER: "string", CORRUPT_RECORD: "string"},
)

# path → first character of the container that must be there, outermost first; reported when the type is wrong
CONTAINER_PATHS: tuple[tuple[str, str], ...] = (
    ("$.run", "{"),
    ("$.job", "{"),
    ("$.dataset", "{"),
    ("$.inputs", "["),
    ("$.outputs", "["),
    ("$.run.facets", "{"),
    ("$.job.facets", "{"),
    ("$.run.facets.parent", "{"),
)
