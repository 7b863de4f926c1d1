"""The table of endpoints. Routes, parameters, scopes, calls, `/openapi.json` and docs/rest.md are all made from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from colline.server.parameters import Parameter

Scope = Literal["open", "read", "send", "admin"]
Group = Literal["receive", "questions", "page", "marquez", "service"]

COLUMN = "`dataset.column`: any suffix that is unique, or the whole name"

AS_OF = Parameter("as_of", "time", "answer as of this time (a date or an RFC 3339 time; UTC without an offset)")
INDIRECT = Parameter("indirect", "boolean", "follow indirect lineage too (filters, join keys, …)", default=False)
DEPTH = Parameter("depth", "integer", "how many hops at most", minimum=1, maximum=1000)
LIMIT = Parameter("limit", "integer", "rows in one answer", default=100, minimum=1, maximum=10_000)
CURSOR = Parameter("cursor", "text", "the `cursor` of the answer before, to go on where it was cut")
SINCE = Parameter("since", "time", "also tell which jobs on the way changed, failed or have not run since then")
COMMON = (AS_OF, LIMIT, CURSOR)
WALK = (AS_OF, INDIRECT, DEPTH, LIMIT, CURSOR)
IDLE = Parameter(
    "idle_days", "integer", "a query older than this is no live reader", default=90, minimum=0, maximum=36_500
)
IN_DATASET = Parameter("dataset", "text", "only this dataset: any unique suffix of its name")
IN_LAYER = Parameter("layer", "text", "only datasets of this layer")
STATES = ("START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "UNFINISHED")
STATE = Parameter("state", "choice", "only those in this state", choices=STATES)
GAPS = ("no_column_lineage", "opaque_step", "unknown_source", "unfinished_run", "dropped_events")


def _columns(*, required: bool = True) -> Parameter:
    about = f"a column, {COLUMN} (may be repeated; `dataset.*` is all of a dataset)"
    return Parameter(
        "column", "text", about, required, repeated=True, maximum=20, example="daily_revenue.total", argument="columns"
    )


def _text(name: str, about: str, argument: str | None = None, *, required: bool = False) -> Parameter:
    return Parameter(name, "text", about, required, argument=argument)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address: what it needs, what it takes, what comes back. `call` is the question it asks of the graph."""

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
    call: str | None = None
    lasting: bool = True  # the same snapshot gives the same answer, so it has an ETag


def _ask(name: str, summary: str, answer: str, *parameters: Parameter, call: str | None = None) -> Endpoint:
    path = f"/api/v1/{name}"
    return Endpoint("GET", path, name, summary, answer, parameters, statuses=(404, 409), call=call or name)


def _page(name: str, summary: str, answer: str, *parameters: Parameter, lasting: bool = True) -> Endpoint:
    return Endpoint(
        "GET", f"/api/v1/{name}", name, summary, answer, parameters, "read", "page", (404, 409), call=name,
        lasting=lasting,
    )  # fmt: skip


def _serve(path: str, name: str, summary: str, answer: str, *, media: str = "application/json") -> Endpoint:
    scope: Scope = "read" if name in ("metrics", "status") else "open"
    return Endpoint("GET", path, name, summary, answer, (), scope, "service", (), media)


_POST = (400, 408, 413, 415, 422, 429, 503, 507)
_BATCH = "Take many events: a JSON array, or one event a line. Good ones are kept even when others are wrong."
_NODE = "`datasetField:{namespace}:{name}:{field}` or `dataset:{namespace}:{name}`"

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "POST", "/api/v1/lineage", "receive", "Take one OpenLineage event. 201 means it is on disk.",
        "Received", (), "send", "receive", (201, *_POST),
    ),
    Endpoint(
        "POST", "/api/v1/lineage/batch", "receive_batch", _BATCH,
        "BatchReceived", (), "send", "receive", (200, *_POST),
    ),
    _ask(
        "columns", "Which columns are called like this? Best match first.", "Rows",
        Parameter("q", "text", "part of a name, or `table.column`", True, example="email", argument="text"),
        IN_LAYER, _text("tag", "only columns with this tag"), *COMMON, call="find",
    ),
    _ask(
        "upstream", "What feeds this column?", "Walk", _columns(), *WALK, SINCE,
        Parameter("grain", "choice", "what to list", default="column", choices=("column", "table", "job")),
    ),
    _ask(
        "downstream", "What is built on this column?", "Walk", _columns(), *WALK, SINCE,
        Parameter("grain", "choice", "what to list", default="column", choices=("column", "table", "job")),
    ),
    _ask(
        "paths", "How exactly are these two connected? Shortest first.", "Paths",
        _text("from", f"where it starts, toward the sources: a column, {COLUMN}", "a", required=True),
        _text("to", f"where it ends: a column, {COLUMN}", "b", required=True),
        Parameter("k", "integer", "how many paths", default=5, minimum=1, maximum=100), INDIRECT, DEPTH, AS_OF,
    ),
    _ask(
        "impact", "What breaks if this changes?", "Impact", _columns(), AS_OF,
        Parameter("indirect", "boolean", "follow indirect lineage too", default=True), DEPTH, LIMIT, CURSOR,
        Parameter("change", "choice", "what is done to it", default="drop", choices=("drop", "rename", "type")),
    ),
    _ask(
        "schema-impact", "What breaks if a schema changes like this?", "Impact",
        Parameter("diff", "text", "SQL: ALTER or DROP statements, a git diff, or the old and new schema (given twice)",
                  True, repeated=True, maximum=2, example="alter table orders drop column promo_code"),
        AS_OF, Parameter("indirect", "boolean", "follow indirect lineage too", default=True), DEPTH, LIMIT, CURSOR,
        call="impact",
    ),
    _ask(
        "pii", "Where does this personal datum end up, and in clear or masked?", "Landings", _columns(required=False),
        _text("tag", "every column with this tag, instead of `column`"),
        Parameter("allowed_zone", "text", "a layer or dataset where it may be in clear (may be repeated)",
                  repeated=True, maximum=20, argument="allowed_zones"),
        Parameter("indirect", "boolean", "follow indirect lineage too", default=True), DEPTH, *COMMON,
    ),
    _ask("droppable", "May I drop it? yes, no or unknown, and who reads it.", "Rows", _columns(), IDLE, *COMMON),
    _ask("unused", "Which columns does nobody read?", "Rows", IN_DATASET, IN_LAYER, IDLE, *COMMON),
    _ask("writers", "Who writes it, and do they agree?", "Rows", _columns(), *COMMON),
    _ask(
        "compare", "Do two metrics share a derivation?", "Compared",
        _text("a", f"one column, {COLUMN}", required=True), _text("b", f"the other column, {COLUMN}", required=True),
        INDIRECT, *COMMON,
    ),
    _ask(
        "diff", "What changed between two times?", "Diff",
        Parameter("from", "time", "the earlier time", True, argument="from_"),
        Parameter("to", "time", "the later time (now if left out)"), IN_DATASET, LIMIT, CURSOR,
    ),
    _ask(
        "job-diff", "How does the lineage of two jobs differ?", "Diff",
        Parameter("job", "text", "a job, given twice", True, repeated=True, minimum=2, maximum=2, argument="jobs"),
        *COMMON, call="diff",
    ),
    Endpoint(
        "GET", "/api/v1/lake-diff", "lake-diff", "How does another lake differ from this one?", "Diff",
        (
            Parameter("other", "text", "the lake that `colline serve --other-lake NAME=PATH` gave this name", True,
                      example="staging"),
            *COMMON,
        ),
        statuses=(404, 409), call="diff", lasting=False,
    ),
    _ask(
        "coverage", "Where is lineage missing?", "Rows",
        Parameter("kind", "choice", "only this kind of gap", choices=GAPS), _text("job", "only this job"), *COMMON,
    ),
    _ask("roots", "Columns that nothing feeds.", "Rows", IN_DATASET, *COMMON),
    _ask("leaves", "Columns that feed nothing.", "Rows", IN_DATASET, *COMMON),
    _ask("hubs", "Columns with the most neighbours.", "Rows", IN_DATASET, *COMMON),
    _page("overview", "Layers, flow between them, recent changes, examples to try, health.", "Overview"),
    _page(
        "dataset", "One dataset: its columns, its neighbours, its jobs.", "Dataset",
        Parameter("namespace", "text", "its namespace", True, example="file"),
        Parameter("name", "text", "its name", True, example="/lake/silver/customers"), AS_OF,
    ),
    _page(
        "datasets", "Datasets, all or some by name.", "Rows", _text("q", "part of the name", "text"), IN_LAYER,
        LIMIT, CURSOR,
    ),
    _page(
        "jobs", "Jobs with their last state and times.", "Rows", _text("q", "part of the job's name", "text"), STATE,
        LIMIT, CURSOR,
    ),
    _page(
        "runs", "Runs with state and times, newest first.", "Rows", _text("job", "only runs of this job"),
        _text("job_namespace", "of the job in this namespace"), STATE,
        Parameter("since", "time", "only runs that started since then"), LIMIT, CURSOR, lasting=False,
    ),
    _page(
        "quarantine", "Events that were set aside, with the reason, newest first.", "Rows",
        _text("reason", "only this reason"), LIMIT, CURSOR, lasting=False,
    ),
    Endpoint(
        "GET", "/api/v1/column-lineage", "column_lineage", "Column lineage in the shape of Marquez, for its clients.",
        "MarquezGraph",
        (
            Parameter("nodeId", "text", _NODE, True, example="datasetField:file:/lake/gold/daily_revenue:total",
                      pattern="^(dataset:.+|datasetField:.+:.+):.+"),
            Parameter("depth", "integer", "how many hops at most", default=20, minimum=1, maximum=1000),
            Parameter("withDownstream", "boolean", "downstream too", default=False),
        ),
        group="marquez", statuses=(404, 409),
    ),
    _serve("/api/v1/status", "status", "Snapshot, as-of time, receiver and health of ingest.", "Status"),
    _serve("/healthz", "healthz", "The process is alive.", "Health"),
    _serve("/readyz", "readyz", "It takes events (503 until then); `lineage` says whether it has answers.", "Ready"),
    _serve("/metrics", "metrics", "Figures for Prometheus.", "Text", media="text/plain"),
    _serve("/openapi.json", "openapi", "This table as OpenAPI 3.1.", "OpenApi"),
)  # fmt: skip

BY_NAME: dict[str, Endpoint] = {endpoint.name: endpoint for endpoint in ENDPOINTS}
