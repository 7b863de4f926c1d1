"""One batch: the steps from landed lines to the lake's tables.

Everything is computed from the table versions in the batch's manifest. So the tables can be written in any order, and a
batch that was killed gives the same result when it is run again.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass
from datetime import datetime, timezone

from pyspark.sql import DataFrame

from colline.environment.hadoop_files import HadoopFiles
from colline.lake import delta_log
from colline.lake.tables import QUARANTINE
from colline.pipeline import unfinished
from colline.pipeline.delta_tables import LakeTables, query
from colline.pipeline.history import runs
from colline.pipeline.history.aliases import Aliases, known_aliases, resolve
from colline.pipeline.history.coverage import write_coverage
from colline.pipeline.history.job_states import describe_jobs, write_jobs
from colline.pipeline.history.observations import write_observations
from colline.pipeline.history.reports import reports
from colline.pipeline.history.versions import current_of_jobs, lineage_versions, write_versions
from colline.pipeline.ingest_settings import set_tasks
from colline.pipeline.parsing.dimensions import new_facts, write_descriptions, write_facts
from colline.pipeline.parsing.event_parsing import LINE_ID, readable
from colline.pipeline.parsing.payloads import BatchEvents, Options, read_events
from colline.pipeline.parsing.raw_events import write_bronze
from colline.pipeline.sources.landing import event_id

BAD_LINES = f"""
select /*+ broadcast(e) */ l.*, e.reason, e.detail, {event_id("raw")} as event_id, {readable("raw")} as line,
  current_timestamp() as quarantined_at, null as replayed_at, to_date(received_at) as dt
from {{lines}} l join {{bad}} e on e.line_id = {LINE_ID}
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many lines a batch had: events, and quarantined lines. `plans` are events with a plan to analyze."""

    lines: int
    events: int
    quarantined: int
    plans: int


def ingest_batch(tables: LakeTables, files: HadoopFiles, lines: DataFrame, options: Options) -> Counts:
    """Write the lines to bronze, and what they contain to every other table."""
    try:
        write_bronze(tables, lines, options.limits)
        return derive(tables, files, options)
    finally:
        tables.close()
        collect_frames()


def derive(tables: LakeTables, files: HadoopFiles, options: Options) -> Counts:
    """Write every table after bronze: from the lines of the batch, in a rebuild from all of bronze."""
    set_tasks(tables.spark, None)
    events = read_events(tables, files, options)
    counts, parts = _counts(events)
    set_tasks(tables.spark, counts.lines)
    if not tables.is_rebuild:
        write_quarantine(tables, events, counts)
    write_descriptions(tables, options.rules)
    facts = new_facts(tables, events, options.rules)
    write_facts(tables, facts)
    changed = runs.changed_runs(tables, events.events.where("reason is null"), parts)
    runs.write_runs(tables, changed, _known_parts(changed))
    aliases = resolve(tables, changed, facts.mentions, facts.datasets)
    aliases.write()
    derive_history(tables, changed, aliases, events.events.where("reason is null"))
    tables.wait()
    return counts


def derive_history(tables: LakeTables, changed: DataFrame, aliases: Aliases, events: DataFrame | None = None) -> None:
    """Write the tables that depend on earlier runs."""
    found = reports(tables, changed, aliases)
    versions = lineage_versions(tables, found)
    write_versions(tables, found, versions)
    write_jobs(tables, found, describe_jobs(tables, events))
    write_observations(tables, found)
    write_coverage(tables, found, current_of_jobs(tables, found, versions))


def expire_runs(tables: LakeTables) -> bool:
    """Mark runs as unfinished if their last event is too old; returns whether there were any."""
    if delta_log.has_open_runs(tables.lake, datetime.now(timezone.utc) - unfinished.UNFINISHED_AFTER) is False:
        return False
    changed = runs.stale_runs(tables)
    if changed.isEmpty():
        return False
    try:
        derive_history(tables, changed, known_aliases(tables))
        tables.wait()
        # last, because a run that is marked is not found again
        runs.write_runs(tables, changed, _known_parts(changed))
        tables.wait()
    finally:
        tables.close()
        collect_frames()
    return True


def write_quarantine(tables: LakeTables, events: BatchEvents, counts: Counts) -> None:
    """Begin to write the lines that are not events, with the reason."""
    if not counts.quarantined:
        return
    bad = events.events.where("reason is not null").select("line_id", "reason", "detail")
    tables.append(QUARANTINE, query(tables.spark, BAD_LINES, lines=events.lines, bad=bad))


def collect_frames() -> None:
    """Free what frames hold in the JVM.

    A frame of PySpark is in a reference cycle with its own methods (py4j). So the JVM keeps its rows until Python
    collects cycles, which it does after many thousand new objects; a batch creates few.
    """
    gc.collect()


def _counts(events: BatchEvents) -> tuple[Counts, list[str]]:
    """The number of events and of quarantined lines, and the partitions of silver/runs that their runs are in."""
    row = events.events.selectExpr(
        "count(*) as lines",
        "count(reason) as bad",
        "count_if(reason is null and has_plan) as plans",
        "sort_array(collect_set(if(reason is null, part, null))) as parts",
    ).first()
    assert row is not None  # an aggregate without keys has one row
    return Counts(row["lines"], row["lines"] - row["bad"], row["bad"], row["plans"]), list(row["parts"])


def _known_parts(changed: DataFrame) -> list[str]:
    row = changed.selectExpr("sort_array(collect_set(if(was_known, part, null))) as parts").first()
    return list(row["parts"]) if row else []
