"""What the pipeline reads of an event: one explicit schema, never inferred.

Leaves are strings, so that a `masking` written as text or a number where a word was expected costs nobody an event;
only structure (an object where a list must be) is a wrong type. Facets that are not here are ignored, not refused.

What a facet says of every column (`WHOLE`) is text in an event: runs repeat it, and it is read once per text.
"""

from __future__ import annotations


def _struct(**fields: str) -> str:
    return "struct<" + ",".join(f"`{name}`:{kind}" for name, kind in fields.items()) + ">"


def array_of(of: str) -> str:
    """The type of a list."""
    return f"array<{of}>"


S = "string"
ID = _struct(namespace=S, name=S)
TRANSFORMATION = _struct(type=S, subtype=S, description=S, masking=S)
INPUT_FIELD = _struct(namespace=S, name=S, field=S, type=S, transformations=array_of(TRANSFORMATION))
# `inputFields` is the columnLineage facet's word, `inputs` the lineage facet's; the last two are deprecated
OUTPUT_FIELD = _struct(
    inputFields=array_of(INPUT_FIELD),
    inputs=array_of(INPUT_FIELD),
    transformationType=S,
    transformationDescription=S,
)
FIELDS = f"map<string,{OUTPUT_FIELD}>"
INPUTS = array_of(INPUT_FIELD)
SCHEMA_FIELDS = array_of(_struct(name=S, type=S))
SYMLINKS = array_of(_struct(namespace=S, name=S, type=S))
OWNERS = _struct(owners=array_of(_struct(name=S, type=S)))
READS = array_of(_struct(name=S, uses=array_of(S)))
COLUMNS_READ = _struct(fields=S)
TAG_LIST = array_of(_struct(key=S, value=S, field=S))
TAGS = _struct(tags=TAG_LIST)

DATASET_FACETS = _struct(
    schema=_struct(fields=S),
    columnLineage=_struct(fields=S, dataset=S),
    lineage=_struct(fields=FIELDS, inputs=INPUTS),
    symlinks=_struct(identifiers=SYMLINKS),
    lifecycleStateChange=_struct(lifecycleStateChange=S, previousIdentifier=ID),
    datasetType=_struct(datasetType=S),
    storage=_struct(storageLayer=S, fileFormat=S),
    ownership=OWNERS,
    tags=TAGS,
    colline_columnsRead=COLUMNS_READ,
)
DATASET = _struct(namespace=S, name=S, facets=DATASET_FACETS, inputFacets=_struct(colline_columnsRead=COLUMNS_READ))
PARENT = _struct(run=_struct(runId=S), job=ID, root=_struct(run=_struct(runId=S), job=ID))
DELIVERY = ("made", "queued", "sent", "retried", "dropped", "spooled", "failed")
RUN_FACETS = _struct(
    parent=PARENT,
    parentRun=PARENT,
    errorMessage=_struct(message=S),
    **{"spark.exception": _struct(message=S, stackTrace=S)},
    processing_engine=_struct(name=S, version=S),
    colline_opaque=_struct(steps=array_of(_struct(node=S, function=S, why=S))),
    colline_delivery=_struct(**dict.fromkeys(DELIVERY, S)),
    colline_query=_struct(definition=S),
    spark_applicationDetails=_struct(applicationId=S),
)
JOB_ENTRY = _struct(namespace=S, name=S, type=S, fields=FIELDS, inputs=INPUTS)
JOB_LINEAGE = _struct(entries=array_of(JOB_ENTRY))
JOB_FACETS = _struct(jobType=_struct(processingType=S, integration=S, jobType=S), ownership=OWNERS, lineage=JOB_LINEAGE)

CORRUPT = "_corrupt"
# what is text in an event, with the bracket it begins with, and as it is read
TEXTS = {"fields": "{", "rows": "[", "schema": "[", "reads": "["}
WHOLE = _struct(fields=FIELDS, rows=INPUTS, schema=SCHEMA_FIELDS, reads=READS, **{CORRUPT: S})
_BESIDES = {
    "eventType": S,
    "eventTime": S,
    "producer": S,
    "run": _struct(runId=S, facets=RUN_FACETS),
    "job": _struct(namespace=S, name=S, facets=JOB_FACETS),
    "dataset": DATASET,
}
EVENT = _struct(**_BESIDES, inputs=array_of(DATASET), outputs=array_of(DATASET), **{CORRUPT: S})
# an event with a digest in the place of its datasets, and a word at its end: Spark reads no further than a whole object
END = "_end"
HEAD = _struct(**_BESIDES, inputs=S, outputs=array_of("map<string,string>"), **{END: S, CORRUPT: S})

# where structure can be wrong, outermost first: the path that is told to the user
STRUCTURE: tuple[tuple[str, str], ...] = (
    ("$.run", "{"),
    ("$.job", "{"),
    ("$.dataset", "{"),
    ("$.inputs", "["),
    ("$.outputs", "["),
    ("$.run.facets", "{"),
    ("$.job.facets", "{"),
    ("$.run.facets.parent", "{"),
)
