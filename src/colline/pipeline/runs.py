"""Events → runs: what is known of each run, united over its events in any order, as often as they come.

Every column is a minimum, a maximum or a union, so the order and the number of events do not matter.
"""

from __future__ import annotations

from datetime import timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.lake.tables import MENTION
from colline.pipeline.parse import uuid7_time

# columns of a run → how two values become one
EARLIEST = ("first_event", "flowed_at", "failed_at", "aborted_at")
LATEST = ("last_event", "progressed_at", "completed_at")
LARGEST = ("parent_run", "root_run", "definition", "integration", "engine", "application", "owner", "error")
# how far back a run without an end may lie before it counts as unfinished
UNFINISHED_AFTER = timedelta(hours=24)


# what makes runs one version: the run at the top, else the parent, else (a stream) the query, else itself
GROUP = "coalesce(root_run, parent_run, if(streaming, concat('query:', definition), null), run_id)"
# when a group of runs cannot have begun before; null when nothing tells
GROUP_STARTED = f"coalesce({uuid7_time(GROUP)}, if({GROUP} = run_id, started_at, null))"
NEWS = "array_except(mentions, if(was_effective, was_mentions, array()))"
# what a stream that went on says as before
STILL = (
    "if(was_effective and streaming and ended_at > was_ended_at, array_intersect(mentions, was_mentions),"
    f" cast(array() as array<{MENTION}>))"
)
# what a run tells now, by digests: runs of a job that tell the same are one telling
SAYS = "concat_ws(',', transform(news, m -> m.content), transform(still, m -> concat('~', m.content)))"
# when a run counts from, and when it ended
WHEN = ("struct(effective_at as at, run_id as run) as first", "struct(ended_at as at, run_id as run) as last")
RESTATED = (
    "was_effective and (not effective or effective_at is distinct from was_effective_at"
    " or (not streaming and ended_at is distinct from was_ended_at))"
)
AGAIN = (
    "restated or (was_known and started_at is distinct from was_started_at)"
    " or (was_state in ('FAIL', 'ABORT', 'COMPLETE') and not (effective and streaming)"
    " and (state <> was_state or ended_at is distinct from was_ended_at))"
    " or (was_effective and (opaque is distinct from was_opaque"
    " or coalesce(root_run, parent_run) is distinct from was_above"
    f" or exists({NEWS}, m -> m.role <> 'I' or m.shape is not null)))"
)


def stale() -> str:
    """Whether nobody has spoken of a run for too long; SQL."""
    seconds = UNFINISHED_AFTER.total_seconds()
    return f"last_event < current_timestamp() - make_dt_interval(0, 0, 0, {seconds})"


def folded(events: DataFrame) -> DataFrame:
    """One row per run of the batch."""
    whens = {"flowed": ("min", "RUNNING"), "progressed": ("max", "RUNNING"), "completed": ("max", "COMPLETE")}
    whens |= {"failed": ("min", "FAIL"), "aborted": ("min", "ABORT")}
    columns = {
        "job": "min(struct(job_namespace, job_name))",
        "first_event": "min(t)",
        "last_event": "max(t)",
        **{f"{name}_at": f"{fold}(if(event_type = '{kind}', t, null))" for name, (fold, kind) in whens.items()},
        **{name: f"max({name})" for name in LARGEST},
        "streaming": "max(streaming)",
        "opaque": "array_distinct(flatten(collect_list(opaque)))",
        "delivery": "max(map_entries(delivery))",
        "mentions": "array_distinct(flatten(collect_list(light)))",
    }
    rows = events.groupBy("run_id", "part").agg(*(F.expr(f"{sql} as {name}") for name, sql in columns.items()))
    return rows.selectExpr("*", "job.job_namespace", "job.job_name").drop("job")


def united(batch: DataFrame, known: DataFrame) -> DataFrame:
    """The batch's runs with what was known of them; `was_*` columns tell how they were before.

    `lacks`: something it says now that it counts is not in the batch. `restated`: what it was counted with is no
    longer true. `again`: its job cannot go on from where it stood.
    """
    before = known.selectExpr(*(f"{name} as was_{name}" for name in known.columns))
    both = batch.join(before, F.expr("part = was_part and run_id = was_run_id"), "left")
    no_mention = f"cast(array() as array<{MENTION}>)"
    merged = both.selectExpr(
        "run_id",
        "part",
        *(f"coalesce(was_{name}, {name}) as {name}" for name in ("job_namespace", "job_name")),
        *(f"least({name}, was_{name}) as {name}" for name in EARLIEST),
        *(f"greatest({name}, was_{name}) as {name}" for name in (*LATEST, *LARGEST)),
        "coalesce(greatest(streaming, was_streaming), false) as streaming",
        "array_sort(array_union(coalesce(opaque, array()), coalesce(was_opaque, array()))) as opaque",
        "map_from_entries(greatest(delivery, map_entries(was_delivery))) as delivery",
        f"array_sort(array_union(coalesce(mentions, {no_mention}), coalesce(was_mentions, {no_mention}))) as mentions",
        f"coalesce(mentions, {no_mention}) as here",
        f"coalesce(was_mentions, {no_mention}) as was_mentions",
        "was_run_id is not null as was_known",
        "coalesce(was_effective, false) as was_effective",
        *(f"was_{name}" for name in ("state", "started_at", "effective_at", "ended_at", "opaque")),
        "coalesce(was_root_run, was_parent_run) as was_above",
    )
    return compared(judged(merged))


def compared(runs: DataFrame) -> DataFrame:
    """The runs with what became of them since they were last seen."""
    rows = runs.selectExpr(
        "*",
        f"if(effective, {NEWS}, array()) as news",
        f"if(effective, {STILL}, array()) as still",
        f"{RESTATED} as restated",
    )
    return rows.selectExpr(
        "*",
        f"{SAYS} as says",
        "size(array_except(news, here)) > 0 as lacks",
        f"{AGAIN} as again",
        f"{GROUP} as grp",
        f"{GROUP_STARTED} as grp_started",
    ).drop("here")


def judged(runs: DataFrame) -> DataFrame:
    """The runs with their state: FAIL and ABORT win over COMPLETE, and no end for long is UNFINISHED."""
    state = (
        "case when failed_at is not null then 'FAIL' when aborted_at is not null then 'ABORT'"
        f" when completed_at is not null then 'COMPLETE' when {stale()} then 'UNFINISHED' else 'RUNNING' end"
    )
    flowing = "(streaming and progressed_at is not null)"
    ended = f"if({flowing}, greatest(progressed_at, completed_at), coalesce(failed_at, aborted_at, completed_at))"
    rows = runs.selectExpr("*", f"{state} as state", f"{ended} as ended_at", "first_event as started_at")
    return rows.selectExpr(
        "*",
        f"coalesce({flowing} or state = 'COMPLETE', false) as effective",
        # a stream counts from its first sign of progress on, any other run when it has ended
        f"if({flowing}, least(flowed_at, completed_at), ended_at) as effective_at",
        "state = 'RUNNING' as open",
    )
