"""Every question about lineage: its parameters, defaults, help texts and result type.

The CLI commands, REST endpoints, MCP tools, the OpenAPI document and the reference pages are generated from
`QUESTIONS`; a test compares the methods of `Lineage` with it. This module imports nothing heavy, because
`colline --help` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

DEFAULT_LIMIT = 100
DEFAULT_IDLE_DAYS = 90
RUN_STATES = ("START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "UNFINISHED")
GAP_KINDS = (
    "no_column_lineage",
    "opaque_step",
    "unknown_source",
    "unfinished_run",
    "dropped_events",
    "run_without_events",
)

Kind = Literal["text", "column", "table", "sql", "integer", "boolean", "time", "choice"]
Group = Literal["questions", "catalog"]
Scope = Literal["read", "send", "admin"]

COLUMN_SYNTAX = "`dataset.column`: any unique suffix of the name, or the full name"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a question. `sql` is text over REST and MCP, and the path of a file in the CLI."""

    name: str
    kind: Kind
    help: str
    default: Any = None
    required: bool = False
    positional: bool = False  # an argument of the CLI command, not an option
    repeatable: bool = False
    minimum: int | None = None  # of the value; of the number of values if repeatable
    maximum: int | None = None
    request_bounds: tuple[int, int] | None = None  # tighter bounds over REST and MCP
    choices: tuple[str, ...] = ()
    example: str | int | None = None
    argument: str = ""  # keyword of the Python method, if it differs from the name
    option: str = ""  # CLI option, if it differs from the name; for a boolean that is true by default: turns it off
    metavar: str | None = None  # placeholder of the value in the CLI help

    @property
    def keyword(self) -> str:
        """The name of the parameter in Python."""
        return self.argument or self.name


@dataclass(frozen=True, slots=True)
class RequestForm:
    """A question as a REST endpoint or an MCP tool, with all or some of its parameters.

    A query string cannot express "give either columns or a schema change", so such a question has one form for each.
    """

    question: Question
    name: str
    summary: str
    parameters: tuple[Parameter, ...]

    @property
    def path(self) -> str:
        """The path of the REST endpoint."""
        return f"/api/v1/{self.name}"


@dataclass(frozen=True, slots=True)
class _Form:
    """Which parameters a request form has, and which of them it requires."""

    name: str
    summary: str = ""
    omit: tuple[str, ...] = ()
    require: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `name` is its method in Python and its CLI command; `result` a class in `colline.graph.results`."""

    name: str
    summary: str
    description: str
    result: str
    parameters: tuple[Parameter, ...]
    alternatives: tuple[str, ...] = ()  # only one of these parameters may be given
    needs_alternative: bool = True  # one of them must be given
    examples: tuple[str, ...] = ()  # command lines; docs/reference/cli.md shows them with their output
    group: Group = "questions"
    scope: Scope = "read"  # what a token must allow
    is_command: bool = True
    is_cacheable: bool = True  # the same snapshot always gives the same answer
    forms: tuple[_Form, ...] = ()

    def requests(self) -> tuple[RequestForm, ...]:
        """The forms in which REST offers the question."""
        return tuple(self._request(form) for form in self.forms or (_Form(self.name),))

    def _request(self, form: _Form) -> RequestForm:
        parameters = tuple(
            replace(each, required=each.required or each.name in form.require)
            for each in self.parameters
            if each.name not in form.omit
        )
        return RequestForm(self, form.name, form.summary or self.summary, parameters)


def _columns(*, required: bool = True) -> Parameter:
    return Parameter(
        "column", "column", f"A column, {COLUMN_SYNTAX}. The name of a table selects all of its columns",
        required=required, positional=True, repeatable=True, request_bounds=(0, 20), argument="columns",
        example="daily_revenue.total",
    )  # fmt: skip


def _column(name: str, help_text: str, argument: str = "") -> Parameter:
    text = f"{help_text}, {COLUMN_SYNTAX}"
    return Parameter(name, "column", text, required=True, positional=True, argument=argument)


AS_OF = Parameter(
    "as_of",
    "time",
    "Answer as of this time: a date or an ISO 8601 time, in UTC without an offset, `yesterday`, or `2h` for hours ago",
)
INDIRECT = Parameter(
    "indirect", "boolean", "Follow indirect lineage as well, such as join keys, filters and groupings", default=False
)
INDIRECT_BY_DEFAULT = Parameter(
    "indirect", "boolean", "Follow indirect lineage as well. True by default", default=True, option="direct"
)
DEPTH = Parameter("depth", "integer", "The largest number of steps to follow", minimum=1, request_bounds=(1, 1000))
LIMIT = Parameter(
    "limit", "integer", "The largest number of rows in one answer", default=DEFAULT_LIMIT, minimum=0,
    request_bounds=(1, 10_000),
)  # fmt: skip
CURSOR = Parameter("cursor", "text", "Continue after the page that returned this cursor", metavar="CURSOR")
SINCE = Parameter("since", "time", "Flag jobs that changed, failed or did not succeed since this time")
GRAIN = Parameter(
    "grain", "choice", "What to list: columns, tables or jobs", default="column", choices=("column", "table", "job")
)
TABLE_GRAIN = replace(GRAIN, help="What to list: columns or tables", choices=("column", "table"))
IDLE_DAYS = Parameter(
    "idle_days", "integer", "Days after which a query no longer counts as a reader", default=DEFAULT_IDLE_DAYS,
    minimum=0, maximum=36_500,
)  # fmt: skip
DATASET = Parameter("dataset", "text", "Only this dataset: any unique suffix of its name", positional=True)
LAYER = Parameter("layer", "text", "Only datasets of this layer")
PART_OF_NAME = Parameter("q", "text", "Part of the name", positional=True, argument="text", metavar="TEXT")
STATE = Parameter("state", "choice", "Only this state", choices=RUN_STATES)
PAGING = (LIMIT, CURSOR)

QUESTIONS: tuple[Question, ...] = (
    Question(
        "find", "Find columns by name.",
        "Exact names first, then matches by suffix, prefix, part, dataset, and similar spelling.",
        "FindAnswer",
        (
            Parameter("q", "column", "Part of a name, or `table.column`", required=True, positional=True,
                      example="email", argument="text", metavar="TEXT"),
            LAYER,
            Parameter("tag", "text", "Only columns with this tag"),
            AS_OF, *PAGING,
        ),
        examples=("find email",),
        forms=(_Form("columns"),),
    ),
    Question(
        "upstream", "List what feeds a column.",
        "Nearest sources first, with the transformation, the job, and the outcome of the job's last run.",
        "WalkAnswer | TableWalkAnswer | JobWalkAnswer", (_columns(), INDIRECT, DEPTH, AS_OF, SINCE, GRAIN, *PAGING),
        examples=("upstream kpi.revenue --since 2026-01-05", "upstream kpi.revenue --indirect --depth 2 --tree"),
    ),
    Question(
        "downstream", "List what is built on a column.",
        "Nearest columns first, with the transformation, the job, and the outcome of the job's last run.",
        "WalkAnswer | TableWalkAnswer | JobWalkAnswer", (_columns(), INDIRECT, DEPTH, AS_OF, SINCE, GRAIN, *PAGING),
        examples=("downstream bronze.customers.email", "downstream bronze.customers.email --tree"),
    ),
    Question(
        "paths", "Show how two columns are connected.",
        "The shortest paths first, and how many more there are.",
        "PathsAnswer",
        (
            _column("from", "The column closer to the sources", "a"), _column("to", "The column built on it", "b"),
            Parameter("k", "integer", "The number of paths to show", default=5, minimum=1, request_bounds=(1, 100),
                      option="-k"),
            INDIRECT, DEPTH, AS_OF,
        ),
        examples=("paths bronze.orders.status kpi.revenue --indirect",),
    ),
    Question(
        "impact", "List what breaks if columns change.",
        "The columns, datasets, jobs and readers that a change affects. The exit code is 1 if something breaks, so that"
        " a CI job can fail.",
        "ImpactAnswer | ImpactTablesAnswer | ImpactJobsAnswer",
        (
            _columns(required=False),
            Parameter("change", "choice", "The change to the columns", default="drop",
                      choices=("drop", "rename", "type")),
            Parameter("diff", "sql", "A schema change in SQL: ALTER or DROP statements, a git diff, one schema to"
                      " compare with the lake, or the old and the new schema (given twice)", repeatable=True,
                      request_bounds=(0, 2), example="alter table orders drop column promo_code"),
            INDIRECT_BY_DEFAULT, DEPTH, AS_OF, GRAIN, *PAGING,
        ),
        alternatives=("column", "diff"),
        examples=("impact silver.customers.region --change drop",),
        forms=(
            _Form("impact", omit=("diff",), require=("column",)),
            _Form("schema-impact", "List what breaks if a schema changes.", ("column", "change"), ("diff",)),
        ),
    ),
    Question(
        "pii", "Show where personal data ends up, in clear or masked.",
        "Each column that the data reaches is `clear`, `masked` (by which job, at which step) or `indirect` (influenced"
        " only). The exit code is 1 if a column outside the allowed zones has it in clear.",
        "PiiAnswer | PiiTablesAnswer",
        (
            _columns(required=False),
            Parameter("tag", "text", "Start from every column with this tag"),
            Parameter("allowed_zone", "text", "A layer, dataset or pattern where the data may be in clear; it is a"
                      " violation elsewhere", repeatable=True, request_bounds=(0, 20), argument="allowed_zones",
                      metavar="ZONE"),
            INDIRECT_BY_DEFAULT, DEPTH, AS_OF, TABLE_GRAIN, *PAGING,
        ),
        alternatives=("column", "tag"),
        examples=("pii --tag PII --allowed-zone silver --allowed-zone 'gold.*'",),
    ),
    Question(
        "droppable", "Check whether columns can be dropped.",
        "The verdict of each column is yes, no or unknown, with its readers. The exit code is 1 unless every verdict is"
        " yes.",
        "DroppableAnswer | DroppableTablesAnswer", (_columns(), IDLE_DAYS, AS_OF, TABLE_GRAIN, *PAGING),
        examples=("droppable silver.customers.nickname silver.customers.email",),
    ),
    Question(
        "unused", "List columns that nobody reads.",
        "With the last write, the last read, and the confidence of the verdict.",
        "UnusedAnswer | UnusedTablesAnswer", (DATASET, LAYER, IDLE_DAYS, AS_OF, TABLE_GRAIN, *PAGING),
        examples=("unused silver.customers",),
    ),
    Question(
        "writers", "List the jobs that write a column, and how each defines it.",
        "The exit code is 1 if two jobs define a column differently.",
        "WritersAnswer", (_columns(), AS_OF, *PAGING),
        examples=("writers daily_revenue.total",),
    ),
    Question(
        "compare", "Compare how two columns are derived.",
        "Their common sources, and where the derivations diverge.",
        "CompareAnswer", (_column("a", "A column"), _column("b", "The other column"), INDIRECT, AS_OF, *PAGING),
        examples=("compare contacts.email contacts.key",),
    ),
    Question(
        "diff", "Show what changed between two times, jobs or lakes.",
        "Without --from, what the last change was. Edges that were observed again without a change are not listed.",
        "DiffAnswer",
        (
            Parameter("from", "time", "The earlier time; the last change by default", argument="from_"),
            Parameter("to", "time", "The later time; the current time by default"),
            Parameter("job", "text", "Compare the lineage of two jobs", repeatable=True, minimum=2, maximum=2,
                      argument="jobs", option="jobs", metavar="JOB JOB"),
            Parameter("other", "text", "Compare with another lake", metavar="PATH", example="staging"),
            replace(DATASET, positional=False, help="Only changes of this dataset: any unique suffix of its name"),
            AS_OF, *PAGING,
        ),
        alternatives=("from", "job", "other"), needs_alternative=False,
        examples=("diff", "diff --from 2026-01-02 --to 2026-01-08"),
        forms=(
            _Form("diff", "Show what changed between two times.", ("job", "other", "as_of")),
            _Form("job-diff", "Compare the lineage of two jobs.", ("from", "to", "other", "dataset"), ("job",)),
            _Form("lake-diff", "Compare with another lake, named by `colline serve --other-lake NAME=PATH`.",
                  ("from", "to", "job", "dataset"), ("other",)),
        ),
    ),
    Question(
        "coverage", "Show where lineage is missing.",
        "Runs without column lineage, opaque steps, unknown sources, unfinished runs and dropped events.",
        "CoverageAnswer",
        (
            Parameter("kind", "choice", "Only this kind of gap", choices=GAP_KINDS),
            Parameter("job", "text", "Only gaps of this job"),
            AS_OF, *PAGING,
        ),
        examples=("coverage",),
    ),
    Question(
        "columns", "List columns by their place in the graph: roots, leaves, or the most connected.",
        "A root has no direct input, and a leaf has no direct output.",
        "ColumnsAnswer",
        (
            DATASET,
            Parameter("roots", "boolean", "Columns that nothing feeds", default=False),
            Parameter("leaves", "boolean", "Columns that feed nothing", default=False),
            Parameter("top", "integer", "This number of columns with the most direct neighbours", minimum=1,
                      request_bounds=(1, 10_000), example=10),
            AS_OF, *PAGING,
        ),
        alternatives=("roots", "leaves", "top"),
        examples=("columns bronze.orders --roots", "columns gold.contacts --leaves", "columns --top 3"),
        forms=(_Form("columns-by-degree"),),
    ),
    Question(
        "overview", "Show the layers of the lake, the flow between them, recent changes, and its health.",
        "Also returns example columns to start from.",
        "OverviewAnswer", (), group="catalog", is_command=False,
    ),
    Question(
        "tables", "List tables, files and topics.",
        "With the number of their columns, of the tables they are built on, and of those built on them.",
        "TablesAnswer", (PART_OF_NAME, LAYER, *PAGING),
        group="catalog", examples=("tables customers",),
    ),
    Question(
        "jobs", "List jobs with the state and times of their runs.", "The job that started last is first.",
        "JobsAnswer", (PART_OF_NAME, STATE, *PAGING),
        group="catalog", examples=("jobs", "jobs --state FAIL"),
    ),
    Question(
        "show", "Show one table or job.",
        "Of a table: its columns with type, tags and description, how many columns each is built on and decided by, its"
        " neighbours, writers, readers, and the history of its schema. Of a job: its SQL or code location, inputs,"
        " outputs, owner, and the durations and errors of its last runs.",
        "TableCard | JobCard",
        (
            Parameter("name", "table", "A table or a job: any unique suffix of its name", required=True,
                      positional=True, example="silver.customers"),
            Parameter("kind", "choice", "What the name stands for", choices=("table", "job")),
            Parameter("namespace", "text", "The namespace; then the name must be whole", example="file"),
            AS_OF,
        ),
        group="catalog", is_cacheable=False, examples=("show gold.daily_revenue", "show daily_revenue --kind job"),
    ),
    Question(
        "runs", "List runs with state, times and duration, newest first.", "",
        "RunsAnswer",
        (
            Parameter("run", "text", "Only the run with this id"),
            Parameter("job", "text", "Only runs of this job"),
            Parameter("job_namespace", "text", "Only runs of jobs in this namespace"),
            STATE, replace(SINCE, help="Only runs that started since this time"), *PAGING,
        ),
        group="catalog", is_cacheable=False, examples=("runs --job daily_revenue --limit 3",),
    ),
    Question(
        "quarantine", "List lines that could not be ingested, with the reason, newest first.", "",
        "QuarantineAnswer", (Parameter("reason", "text", "Only this reason"), *PAGING),
        group="catalog", is_command=False, is_cacheable=False,
    ),
)  # fmt: skip

BY_NAME: dict[str, Question] = {question.name: question for question in QUESTIONS}
REQUESTS: dict[str, RequestForm] = {form.name: form for question in QUESTIONS for form in question.requests()}
