"""The table of endpoints. Routes, parameters, scopes, `/openapi.json` and docs/rest.md are all made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from colline.server.parameters import Parameter

Scope = Literal["open", "read", "send", "admin"]
Group = Literal["receive", "questions", "page", "marquez", "service"]

COLUMN = "`dataset.column`: any suffix that is unique, or the full `namespace` + `name` + column"


def _column(*, required: bool = True, repeated: bool = True) -> Parameter:
    about = f"a column, {COLUMN}" + (" (may be repeated)" if repeated else "")
    maximum = 100 if repeated else 0
    return Parameter("column", "text", about, required, repeated, maximum=maximum, example="gold.daily_revenue.total")


AS_OF = Parameter("as_of", "time", "answer as of this time (a date or an RFC 3339 time; UTC without an offset)")
INDIRECT = Parameter("indirect", "boolean", "follow indirect lineage too (filters, join keys, …)", default=False)
DEPTH = Parameter("depth", "integer", "how many hops at most", minimum=1, maximum=1000)
LIMIT = Parameter("limit", "integer", "rows in one answer", default=100, minimum=1, maximum=10_000)
CURSOR = Parameter("cursor", "text", "the `cursor` of the answer before, to go on where it was cut")
GRAIN = Parameter("grain", "choice", "what to list", default="column", choices=("column", "dataset", "job"))
SINCE = Parameter("since", "time", "also tell which jobs on the way changed, failed or have not run since then")
ONE = Parameter("from", "text", f"where it starts: a column, {COLUMN}", required=True)
OTHER = Parameter("to", "text", f"where it ends: a column, {COLUMN}", required=True)
ANY_DATASET = Parameter("dataset", "text", "only this dataset: any unique suffix of its name")
LAYER = Parameter("layer", "text", "only datasets of this layer")
STATES = ("START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "UNFINISHED")
STATE = Parameter("state", "choice", "only those whose last state is this", choices=STATES)
PAGED = (LIMIT, CURSOR)
WALK = (AS_OF, INDIRECT, DEPTH, *PAGED)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address: what it needs, what it takes, what comes back."""

    method: Literal["GET", "POST"]
    path: str
    name: str
    summary: str
    answer: str
    parameters: tuple[Parameter, ...] = ()
    scope: Scope = "read"
    group: Group = "questions"
    statuses: tuple[int, ...] = ()
    media: str = "application/json"
    paged: str | None = None  # the key that holds the rows a cursor walks over


def _ask(name: str, summary: str, answer: str, paged: str, *parameters: Parameter) -> Endpoint:
    statuses = (404, 409) if any(p.name in ("column", "from", "a", "dataset") for p in parameters) else ()
    return Endpoint("GET", f"/api/v1/{name}", name, summary, answer, parameters, statuses=statuses, paged=paged)


def _page(name: str, summary: str, answer: str, paged: str | None, *parameters: Parameter) -> Endpoint:
    statuses = (404,) if name == "dataset" else ()
    return Endpoint("GET", f"/api/v1/{name}", name, summary, answer, parameters, "read", "page", statuses, paged=paged)


def _serve(path: str, name: str, summary: str, answer: str, media: str = "application/json") -> Endpoint:
    scope: Scope = "read" if name == "metrics" else "open"
    return Endpoint("GET", path, name, summary, answer, (), scope, "service", (), media)


_POST = (400, 408, 413, 415, 422, 429, 503, 507)

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "POST",
        "/api/v1/lineage",
        "receive",
        "Take one OpenLineage event. 201 means it is on disk.",
        "Received",
        (),
        "send",
        "receive",
        (201, *_POST),
    ),
    Endpoint(
        "POST",
        "/api/v1/lineage/batch",
        "receive_batch",
        "Take many events: a JSON array, or one event a line. Good ones are kept even when others are wrong.",
        "BatchReceived",
        (),
        "send",
        "receive",
        (200, *_POST),
    ),
    _ask(
        "columns",
        "Which columns are called like this? Best match first.",
        "Rows",
        "rows",
        Parameter("q", "text", "part of a column's name, or `table.column`", required=True, example="email"),
        LAYER,
        Parameter("tag", "text", "only columns with this tag"),
        AS_OF,
        *PAGED,
    ),
    _ask("upstream", "What feeds this column?", "Walk", "columns", _column(), *WALK, SINCE, GRAIN),
    _ask("downstream", "What is built on this column?", "Walk", "columns", _column(), *WALK, SINCE, GRAIN),
    _ask("paths", "How exactly are these two connected?", "Paths", "paths", ONE, OTHER, AS_OF, INDIRECT, DEPTH, *PAGED),
    _ask(
        "impact",
        "What breaks if this changes?",
        "Walk",
        "columns",
        _column(),
        *WALK,
        Parameter("change", "choice", "what is done to it", default="drop", choices=("drop", "rename", "type")),
    ),
    _ask(
        "pii",
        "Where does this personal datum end up, and in clear or masked?",
        "Landings",
        "landings",
        _column(required=False),
        Parameter("tag", "text", "every column with this tag, instead of `column`", example="PII"),
        Parameter(
            "allowed_zone",
            "text",
            "datasets where it may be in clear; others are violations",
            repeated=True,
            maximum=100,
        ),
        AS_OF,
        INDIRECT,
        DEPTH,
        *PAGED,
    ),
    _ask("droppable", "May I drop it? yes, no or unknown, and who reads it.", "Rows", "rows", _column(), AS_OF, *PAGED),
    _ask("unused", "Which columns does nobody read?", "Rows", "rows", ANY_DATASET, LAYER, AS_OF, *PAGED),
    _ask("writers", "Who writes it, and do they agree?", "Rows", "rows", _column(repeated=False), AS_OF, *PAGED),
    _ask(
        "compare",
        "Do two metrics share a derivation?",
        "Rows",
        "rows",
        Parameter("a", "text", f"one column, {COLUMN}", required=True),
        Parameter("b", "text", f"the other column, {COLUMN}", required=True),
        AS_OF,
        INDIRECT,
        *PAGED,
    ),
    _ask(
        "diff",
        "What changed between two times?",
        "Diff",
        "added",
        Parameter("from", "time", "the earlier time", required=True),
        Parameter("to", "time", "the later time (now if left out)"),
        *PAGED,
    ),
    _ask(
        "coverage",
        "Where is lineage missing?",
        "Rows",
        "rows",
        Parameter("by", "choice", "how to group it", default="job", choices=("job", "layer", "owner")),
        AS_OF,
        *PAGED,
    ),
    _ask("roots", "Columns that nothing feeds.", "Rows", "rows", _column(required=False), AS_OF, INDIRECT, *PAGED),
    _ask("leaves", "Columns that feed nothing.", "Rows", "rows", _column(required=False), AS_OF, INDIRECT, *PAGED),
    _ask("hubs", "Columns that feed the most.", "Rows", "rows", AS_OF, INDIRECT, *PAGED),
    _page("overview", "Layers, flow between them, recent changes, examples to try.", "Overview", None, AS_OF),
    _page(
        "dataset",
        "One dataset with all its columns, and how many columns each is fed by and feeds.",
        "Dataset",
        None,
        Parameter("namespace", "text", "its namespace", required=True, example="file"),
        Parameter("name", "text", "its name", required=True, example="/lake/silver/customers"),
        AS_OF,
    ),
    _page(
        "jobs",
        "Jobs with their last state and times, newest first.",
        "Rows",
        "rows",
        Parameter("q", "text", "part of the job's name"),
        STATE,
        *PAGED,
    ),
    _page(
        "runs",
        "Runs with state and times, newest first.",
        "Rows",
        "rows",
        Parameter("job_namespace", "text", "only runs of this job: its namespace"),
        Parameter("job_name", "text", "only runs of this job: its name"),
        STATE,
        *PAGED,
    ),
    _page(
        "quarantine",
        "Events that were set aside, with the reason, newest first.",
        "Rows",
        "rows",
        Parameter("reason", "text", "only this reason"),
        *PAGED,
    ),
    _page("status", "Snapshot, as-of time, receiver and health of ingest.", "Status", None),
    Endpoint(
        "GET",
        "/api/v1/column-lineage",
        "column_lineage",
        "Column lineage in the shape of Marquez, for its clients.",
        "MarquezGraph",
        (
            Parameter(
                "nodeId",
                "text",
                "`datasetField:{namespace}:{name}:{field}` or `dataset:{namespace}:{name}`",
                required=True,
                example="datasetField:file:/lake/gold/daily_revenue:total",
            ),
            Parameter("depth", "integer", "how many hops at most", default=20, minimum=1, maximum=1000),
            Parameter("withDownstream", "boolean", "downstream too", default=False),
        ),
        group="marquez",
        statuses=(404,),
    ),
    _serve("/healthz", "healthz", "The process is alive.", "Health"),
    _serve("/readyz", "readyz", "It can take events and answer questions (503 until then).", "Ready"),
    _serve("/metrics", "metrics", "Figures for Prometheus.", "Text", "text/plain"),
    _serve("/openapi.json", "openapi", "This table as OpenAPI 3.1.", "OpenApi"),
)

BY_NAME: dict[str, Endpoint] = {endpoint.name: endpoint for endpoint in ENDPOINTS}
