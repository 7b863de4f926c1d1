"""Folds events into runs: the result does not depend on the order of events or on their repetition.

Every column of a run is a minimum, a maximum or a union.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.lake.tables import MENTION, RUNS
from colline.pipeline import unfinished
from colline.pipeline.delta_tables import LakeTables, materialize, query
from colline.pipeline.parsing.event_parsing import uuid7_time

# columns of a run, by how two values are combined
EARLIEST = ("first_event", "flowed_at", "failed_at", "aborted_at")
LATEST = ("last_event", "progressed_at", "completed_at")
LARGEST = ("parent_run", "root_run", "definition", "integration", "engine", "application", "owner", "error")

# Runs of one group are one version of a dataset: those of one root run, else one parent, else one streaming query.
GROUP = "coalesce(root_run, parent_run, if(streaming, concat('query:', definition), null), run_id)"
# the earliest possible start of a group; null if unknown
GROUP_STARTED = f"coalesce({uuid7_time(GROUP)}, if({GROUP} = run_id, started_at, null))"
NEW_MENTIONS = "array_except(mentions, if(was_effective, was_mentions, array()))"
# what a stream reports again after progress
UNCHANGED_MENTIONS = (
    "if(was_effective and streaming and ended_at > was_ended_at, array_intersect(mentions, was_mentions),"
    f" cast(array() as array<{MENTION}>))"
)
# what was counted for the run is obsolete, or its place in the job's history has changed
NEEDS_RECOMPUTE = (
    "was_effective and (not effective or effective_at is distinct from was_effective_at"
    " or (not streaming and ended_at is distinct from was_ended_at))"
    " or (was_known and started_at is distinct from was_started_at)"
    " or (was_state in ('FAIL', 'ABORT', 'COMPLETE') and not (effective and streaming)"
    " and (state <> was_state or ended_at is distinct from was_ended_at))"
    " or (was_effective and (opaque is distinct from was_opaque"
    " or coalesce(root_run, parent_run) is distinct from was_above"
    f" or exists({NEW_MENTIONS}, m -> m.role <> 'I' or m.fingerprint is not null)))"
)
_NO_MENTION = f"cast(array() as array<{MENTION}>)"


def is_stale() -> str:
    """Whether a run's last event is too old for it to be running; SQL."""
    return (
        f"last_event < current_timestamp() - make_dt_interval(0, 0, 0, {unfinished.UNFINISHED_AFTER.total_seconds()})"
    )


def changed_runs(tables: LakeTables, events: DataFrame, parts: list[str]) -> DataFrame:
    """The runs of the batch's events, united with what the lake knows of them; its previous values are in `was_*`."""
    known = tables.read(RUNS).where(partition_condition(parts))
    return materialize(_with_changes(_with_state(_unite_with_known(_fold_by_run(events), known))))


def stale_runs(tables: LakeTables) -> DataFrame:
    """Runs whose last event is too old, in the form of `changed_runs`."""
    known = tables.read(RUNS).where("open").where(is_stale())
    derived = ("state", "effective", "started_at", "effective_at", "ended_at", "open")
    was = ("mentions", "effective", "state", "started_at", "effective_at", "ended_at", "opaque", "job_id")
    rows = known.selectExpr(
        *(name for name in known.columns if name not in derived),
        *(f"{name} as was_{name}" for name in was),
        "true as was_known",
        "coalesce(root_run, parent_run) as was_above",
    )
    return materialize(_with_changes(_with_state(rows)))


def partition_condition(parts: list[str]) -> str:
    """SQL that selects these partitions of silver/runs."""
    return f"part in ({', '.join(repr(part) for part in parts)})" if parts else "false"


def write_runs(tables: LakeTables, runs: DataFrame, parts: list[str]) -> None:
    """Begin to replace the batch's runs; `parts` are the partitions in which any of them was known."""
    if not parts:
        tables.append(RUNS, runs)
        return
    known = tables.read(RUNS).where(partition_condition(parts))
    statement = "select k.* from {known} k left anti join {runs} r on r.part = k.part and r.run_id = k.run_id"
    kept = query(tables.spark, statement, known=known, runs=runs.select("part", "run_id"))
    tables.replace(RUNS, kept.unionByName(runs.select(*kept.columns)), partition_condition(parts))


def _fold_by_run(events: DataFrame) -> DataFrame:
    """One row per run of the batch."""
    times = {"flowed": ("min", "RUNNING"), "progressed": ("max", "RUNNING"), "completed": ("max", "COMPLETE")}
    times |= {"failed": ("min", "FAIL"), "aborted": ("min", "ABORT")}
    columns = {
        "job": "min(struct(job_namespace, job_name, job_id))",
        "first_event": "min(t)",
        "last_event": "max(t)",
        **{f"{name}_at": f"{fold}(if(event_type = '{kind}', t, null))" for name, (fold, kind) in times.items()},
        **{name: f"max({name})" for name in LARGEST},
        "streaming": "max(streaming)",
        "opaque": "array_distinct(flatten(collect_list(opaque)))",
        "delivery": "max(map_entries(delivery))",
        "mentions": "array_distinct(flatten(collect_set(mentions)))",
    }
    rows = events.groupBy("run_id", "part").agg(*(F.expr(f"{sql} as {name}") for name, sql in columns.items()))
    return rows.selectExpr("*", "job.job_namespace", "job.job_name", "job.job_id").drop("job")


def _unite_with_known(batch: DataFrame, known: DataFrame) -> DataFrame:
    """The batch's runs united with their known state."""
    before = known.selectExpr(*(f"{name} as was_{name}" for name in known.columns))
    both = batch.join(before, F.expr("part = was_part and run_id = was_run_id"), "left")
    mentions = f"coalesce(mentions, {_NO_MENTION}), coalesce(was_mentions, {_NO_MENTION})"
    was_smaller = "was_run_id is not null and array(was_job_namespace, was_job_name) < array(job_namespace, job_name)"
    return both.selectExpr(
        "run_id",
        "part",
        # of several names of its job, the smallest, as within a batch
        *(f"if({was_smaller}, was_{name}, {name}) as {name}" for name in ("job_id", "job_namespace", "job_name")),
        *(f"least({name}, was_{name}) as {name}" for name in EARLIEST),
        *(f"greatest({name}, was_{name}) as {name}" for name in (*LATEST, *LARGEST)),
        "coalesce(greatest(streaming, was_streaming), false) as streaming",
        "array_sort(array_union(coalesce(opaque, array()), coalesce(was_opaque, array()))) as opaque",
        "map_from_entries(greatest(delivery, map_entries(was_delivery))) as delivery",
        f"array_sort(array_union({mentions})) as mentions",
        f"coalesce(was_mentions, {_NO_MENTION}) as was_mentions",
        "was_run_id is not null as was_known",
        "coalesce(was_effective, false) as was_effective",
        *(f"was_{name}" for name in ("state", "started_at", "effective_at", "ended_at", "opaque", "job_id")),
        "coalesce(was_root_run, was_parent_run) as was_above",
    )


def _with_state(runs: DataFrame) -> DataFrame:
    """The runs with their state: FAIL and ABORT have precedence over COMPLETE; without a final event, UNFINISHED."""
    state = (
        "case when failed_at is not null then 'FAIL' when aborted_at is not null then 'ABORT'"
        f" when completed_at is not null then 'COMPLETE' when {is_stale()} then 'UNFINISHED' else 'RUNNING' end"
    )
    flowing = "(streaming and progressed_at is not null)"
    ended = f"if({flowing}, greatest(progressed_at, completed_at), coalesce(failed_at, aborted_at, completed_at))"
    rows = runs.selectExpr("*", f"{state} as state", f"{ended} as ended_at", "first_event as started_at")
    return rows.selectExpr(
        "*",
        f"coalesce({flowing} or state = 'COMPLETE', false) as effective",
        # a stream counts from its first progress, any other run from its end
        f"if({flowing}, least(flowed_at, completed_at), ended_at) as effective_at",
        "state = 'RUNNING' as open",
    )


def _with_changes(runs: DataFrame) -> DataFrame:
    """The runs with the mentions that they report for the first time (`new`) and again (`unchanged`)."""
    return runs.selectExpr(
        "*",
        f"if(effective, {NEW_MENTIONS}, {_NO_MENTION}) as new",
        f"if(effective, {UNCHANGED_MENTIONS}, {_NO_MENTION}) as unchanged",
        f"coalesce({NEEDS_RECOMPUTE}, false) as needs_recompute",
        f"{GROUP} as run_group",
        f"{GROUP_STARTED} as group_started",
    )
