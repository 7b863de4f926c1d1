"""Runs → versions → edges: which lineage was true when.

Runs of one (job, output dataset) that share the run at the top are one version: an application that appends from ten
branches, or a command and its write. An overwrite that begins when everything before it in its group has ended starts
the next version. The last version's edges are current; an edge that the next version does not have is retired.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.pipeline.store import together

KEY = ("job_id", "dataset_id")
EDGE = ("source_id", "target_id", "type", "subtype", "masking", "description")
# An item is a run's write to a key, or (`is_past`) all that a version is known to have been so far.
ITEM = (*KEY, "run_id", "grp", "started", "first", "last", "overwrite", "shapes", "n", "is_past")
_OF_KEY, _OF_EDGE = ", ".join(KEY), ", ".join((*KEY, *EDGE))
_UP_TO_HERE = "rows between unbounded preceding and current row"
_OF_TOLD = (*KEY, "stretch", *EDGE, "source_dataset_id")
# what is told of an edge within a stretch, and how two stretches of it become one
_OF_STRETCH = (
    "max(source_dataset_id) as source_dataset_id",
    "sum(n) as n",
    "min(first) as first",
    "max(last) as last",
)


def _agg(rows: DataFrame, by: tuple[str, ...], *columns: str) -> DataFrame:
    return rows.groupBy(*by).agg(*(F.expr(column) for column in columns))


def with_epochs(items: DataFrame) -> DataFrame:
    """The items with `epoch`: how many overwrites began afresh in their group before them."""
    group = f"partition by {_OF_KEY}, grp order by is_past desc, started, last, run_id"
    before = f"max(last) over ({group} rows between unbounded preceding and 1 preceding)"
    marked = items.selectExpr("*", f"cast(coalesce(overwrite and started >= {before}, false) as int) as fresh")
    return marked.selectExpr("*", f"sum(fresh) over ({group} {_UP_TO_HERE}) as epoch")


def versions(items: DataFrame) -> DataFrame:
    """One row per version, in order (`v`), with the stretch of equal lineage it lies in (`stretch`) and the time at
    which what it has and the next one lacks is retired (`until`)."""
    each = _agg(
        items,
        (*KEY, "grp", "epoch"),
        "min(started) as started",
        "min(first) as first",
        "max(last) as last",
        "array_sort(array_distinct(flatten(collect_list(shapes)))) as shapes",
        "sum(n) as n",
        "max(struct(last, run_id)) as newest",
    )
    order = f"partition by {_OF_KEY} order by last, first, grp, epoch"
    placed = each.selectExpr(
        "*",
        f"row_number() over ({order}) as v",
        f"lead(first) over ({order}) as next_first",
        f"lead(last) over ({order}) as next_last",
        f"cast(coalesce(lag(shapes) over ({order}) <> shapes, false) as int) as changed",
    )
    return placed.selectExpr(
        "*",
        "if(next_first > last, next_first, next_last) as until",
        "next_last is null as is_last",
        f"sum(changed) over ({order} {_UP_TO_HERE}) as stretch",
    ).drop("changed", "next_first", "next_last")


def in_stretches(items: DataFrame, version: DataFrame) -> DataFrame:
    """The items with the stretch that their version lies in."""
    place = version.select(*KEY, "grp", "epoch", "stretch")
    return items.join(place, [*KEY, "grp", "epoch"])


def spans(placed: DataFrame) -> DataFrame:
    """How often each shape was newly told within a stretch, when first and when last; steady keys are left out."""
    each = placed.where("not is_past and not is_steady").selectExpr(
        *KEY, "stretch", "explode(shapes) as shape", "n", "struct(first as at, run_id as run) as first",
        "struct(last as at, run_id as run) as last",
    )  # fmt: skip
    return united_spans(each)


def united_spans(each: DataFrame) -> DataFrame:
    """One span per key, stretch and shape."""
    return _agg(each, (*KEY, "stretch", "shape"), "sum(n) as n", "min(first) as first", "max(last) as last")


def carried(placed: DataFrame, past: DataFrame) -> DataFrame:
    """The open edges of versions that came in as items, in the stretch that those are in."""
    known = placed.where("is_past").select(*KEY, "stretch").join(past, list(KEY))
    return known.selectExpr(
        *_OF_TOLD,
        "runs as n",
        "struct(first_seen as at, first_run as run) as first",
        "struct(last_seen as at, last_run as run) as last",
    )


def told_now(span: DataFrame, facts: DataFrame, past: DataFrame) -> DataFrame:
    """Edges by stretch: those that the spans tell by `facts`, which map a key's shape to edges, and the past ones."""
    now = span.join(facts, [*KEY, "shape"]).select(*_OF_TOLD, "n", "first", "last")
    return _agg(together(now, past), (*KEY, "stretch", *EDGE), *_OF_STRETCH)


def edges(each: DataFrame, version: DataFrame, *, turned: bool) -> DataFrame:
    """Edges by stretch as edges with when each was first and last seen and when it was retired.

    `turned` tells whether any key has more than one stretch.
    """
    return _retired(_joined_up(each) if turned else each, version)


def _joined_up(each: DataFrame) -> DataFrame:
    """Edges by stretch, with stretches that follow one another with the same edge as one row."""
    gap = f"stretch <> lag(stretch) over (partition by {_OF_EDGE} order by stretch) + 1"
    each = each.selectExpr("*", f"cast(coalesce({gap}, false) as int) as gap")
    each = each.selectExpr("*", f"sum(gap) over (partition by {_OF_EDGE} order by stretch {_UP_TO_HERE}) as island")
    return _agg(each, (*KEY, *EDGE, "island"), "max(stretch) as stretch", *_OF_STRETCH)


def _retired(islands: DataFrame, version: DataFrame) -> DataFrame:
    ends = _agg(version, (*KEY, "stretch"), "max(struct(v, until)) as end")
    return islands.join(ends, [*KEY, "stretch"]).selectExpr(
        *KEY,
        *EDGE,
        "source_dataset_id",
        "first.at as first_seen",
        "last.at as last_seen",
        "`end`.until as retired_at",
        "first.run as first_run",
        "last.run as last_run",
        "n as runs",
    )


def state(version: DataFrame) -> DataFrame:
    """Per job, the last version of each of its outputs: where the next batch goes on."""
    output = "struct(dataset_id, grp as group, started, first, last, shapes, newest.run_id as last_run, n as runs)"
    last = version.where("is_last").selectExpr("job_id", f"{output} as output")
    return _agg(last, ("job_id",), "array_sort(collect_list(output)) as outputs")
