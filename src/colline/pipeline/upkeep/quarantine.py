"""Lists quarantined lines, and replays those that have become valid events."""

from __future__ import annotations

import time
import uuid
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colline.errors import LakeError
from colline.lake.layout import replay_folder
from colline.lake.location import hadoop_path, local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from colline.environment.hadoop_files import HadoopFiles
    from colline.pipeline.delta_tables import LakeTables
    from colline.pipeline.parsing.event_parsing import Limits

COLUMNS = ("event_id", "reason", "detail", "line", "file", "position", "received_at", "replayed_at")


@dataclass(frozen=True, slots=True)
class QuarantinedLine:
    """A quarantined line."""

    id: str
    reason: str
    detail: str | None
    line: str
    file: str
    position: int
    received_at: str
    replayed_at: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ReplaySummary:
    """The result of a replay."""

    replayed: int = 0
    left: dict[str, int] = field(default_factory=dict)  # reason → lines that are still not events

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


def entries(lake: str, *, reason: str | None = None, replayed: bool = False) -> list[QuarantinedLine]:
    """The quarantined lines, oldest first, read without a JVM; with `replayed`, also those that were replayed."""
    where = local_path(lake)
    if where is None:
        raise LakeError(f"{lake} is not on this machine", hint="read bronze/quarantine with Spark")
    if not Path(where).is_dir():
        raise LakeError(f"no lake at {where}", hint="check --lake")
    from colline.lake.table_reader import read_rows
    from colline.lake.tables import QUARANTINE

    found = [
        _entry(row) for row in read_rows(Path(where), QUARANTINE, COLUMNS) if reason is None or row["reason"] == reason
    ]
    kept = [entry for entry in found if replayed or entry.replayed_at is None]
    return sorted(kept, key=lambda entry: (entry.received_at, entry.file, entry.position))


def _entry(row: dict[str, Any]) -> QuarantinedLine:
    return QuarantinedLine(
        row["event_id"],
        row["reason"],
        row["detail"],
        row["line"],
        row["file"],
        row["position"],
        _time(row["received_at"]) or "",
        _time(row.get("replayed_at")),
    )


def _time(at: datetime | None) -> str | None:
    return at.astimezone(timezone.utc).isoformat().replace("+00:00", "Z") if at else None


def replay(lake: str, *, spark: SparkSession | None = None, limits: Limits | None = None) -> ReplaySummary:
    """Check the quarantined lines again: those that are valid events now are landed again, for the next ingest.

    The others stay, with their current reason. Landing a line twice after a crash is harmless: it is one event.
    """
    from colline.environment.hadoop_files import HadoopFiles
    from colline.lake.lock import lock_lake
    from colline.lake.tables import QUARANTINE
    from colline.pipeline.delta_tables import LakeTables, materialize
    from colline.pipeline.ingest_settings import pipeline_session
    from colline.pipeline.parsing.event_parsing import Limits

    where = local_path(lake)
    if where is not None and not Path(where).is_dir():
        raise LakeError(f"no lake at {lake}", hint="check --lake")
    with lock_lake(lake, spark) as given, pipeline_session(given) as session:
        tables, files = LakeTables(session, hadoop_path(lake)), HadoopFiles(session)
        if not tables.exists(QUARANTINE):
            return ReplaySummary()
        again = materialize(_check_again(tables.read(QUARANTINE).where("replayed_at is null"), limits or Limits()))
        reasons = {row["reason"]: row["count"] for row in again.groupBy("reason").count().toLocalIterator()}
        good = reasons.pop(None, 0)
        if good:
            _land(again.where("reason is null"), good, tables.lake, files)
        _record_results(tables, again)
    return ReplaySummary(good, dict(sorted(reasons.items())))


def _check_again(waiting: DataFrame, limits: Limits) -> DataFrame:
    """The lines with reason and detail of bad lines; null for events."""
    from pyspark.sql import functions as F

    from colline.pipeline.parsing.event_parsing import LINE_ID, parse_lines
    from colline.pipeline.user_rules import Rules

    lines = waiting.selectExpr("line as raw", "file", "position", "received_at", "reason as was")
    judged = parse_lines(lines.drop("was"), limits, Rules()).select("line_id", "reason", "detail")
    # a line that was not UTF-8 is kept with replacement characters, which is another line
    kept = "if(was = 'not_utf8', was, reason) as reason"
    return lines.join(judged, F.expr(f"{LINE_ID} = line_id")).select(
        "file", "position", "raw", "was", F.expr(kept), "detail"
    )


def _record_results(tables: LakeTables, again: DataFrame) -> None:
    """Record which lines were replayed, and the current reason of the others."""
    from delta.tables import DeltaTable

    from colline.lake.tables import QUARANTINE

    changed = again.where("was is distinct from reason").drop("raw", "was")
    if changed.isEmpty():
        return
    target = DeltaTable.forPath(tables.spark, tables.path(QUARANTINE)).alias("t")
    merge = target.merge(changed.alias("s"), "t.file = s.file and t.position = s.position and t.replayed_at is null")
    merge = merge.whenMatchedUpdate("s.reason is null", {"replayed_at": "current_timestamp()"})
    merge.whenMatchedUpdate(set={"reason": "s.reason", "detail": "s.detail"}).execute()


def _land(lines: DataFrame, count: int, lake: str, files: HadoopFiles) -> None:
    """Write the lines to the landing folder as one file, named as by a transport."""
    name, now = uuid.uuid4(), time.time()
    scratch = f"{lake}/{replay_folder(str(name))}"
    # an event from Kafka may have line ends, between its tokens only
    lines.selectExpr(r"translate(raw, '\r\n', '  ') as raw").coalesce(1).write.text(scratch)
    day = time.strftime("%Y-%m-%d", time.gmtime(now))
    for part in files.part_files(scratch):
        files.move(part, f"{lake}/landing/dt={day}/{int(now * 1000)}-{name}-{count}events.ndjson")
    files.delete(scratch)
