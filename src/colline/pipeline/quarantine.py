"""Lines that were no events: listed, shown, and replayed once what was wrong is put right."""

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
    from colline.pipeline.parse import Limits
    from colline.pipeline.store import Store

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
class Replayed:
    """What became of the lines in quarantine."""

    replayed: int = 0
    left: dict[str, int] = field(default_factory=dict)  # reason → lines that are still no events

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


def entries(lake: str, *, reason: str | None = None, replayed: bool = False) -> list[QuarantinedLine]:
    """The quarantined lines, oldest first, read without a JVM; those replayed already only when asked for."""
    where = local_path(lake)
    if where is None:
        raise LakeError(f"{lake} is not on this machine", hint="read bronze/quarantine with Spark")
    if not Path(where).is_dir():
        raise LakeError(f"no lake at {where}", hint="check --lake")
    from colline.lake.table_reader import scan
    from colline.lake.tables import QUARANTINE

    table = scan(Path(where), QUARANTINE, columns=COLUMNS)
    rows = table.to_pylist() if table is not None else []
    found = [_entry(row) for row in rows if reason is None or row["reason"] == reason]
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
        _time(row["replayed_at"]),
    )


def _time(at: datetime | None) -> str | None:
    return at.astimezone(timezone.utc).isoformat().replace("+00:00", "Z") if at else None


def replay(lake: str, *, spark: SparkSession | None = None, limits: Limits | None = None) -> Replayed:
    """Look at the quarantined lines again: those that are events now are landed again, for the next ingest.

    The others stay, with the reason of now. Landing twice after a crash is harmless: an event that comes twice is one.
    """
    from colline.environment.hadoop_files import HadoopFiles
    from colline.lake.lock import lock_lake
    from colline.lake.tables import QUARANTINE
    from colline.pipeline.ingest_settings import pipeline_session
    from colline.pipeline.parse import Limits
    from colline.pipeline.store import Store, cut

    where = local_path(lake)
    if where is not None and not Path(where).is_dir():
        raise LakeError(f"no lake at {lake}", hint="check --lake")
    with lock_lake(lake, spark) as given, pipeline_session(given) as session:
        store, files = Store(session, hadoop_path(lake)), HadoopFiles(session)
        if not store.exists(QUARANTINE):
            return Replayed()
        again = cut(_looked_at(store.read(QUARANTINE).where("replayed_at is null"), limits or Limits()))
        reasons = {row["reason"]: row["count"] for row in again.groupBy("reason").count().toLocalIterator()}
        good = reasons.pop(None, 0)
        if good:
            _land(again.where("reason is null"), good, store.lake, files)
        _note(store, again)
    return Replayed(good, dict(sorted(reasons.items())))


def _looked_at(waiting: DataFrame, limits: Limits) -> DataFrame:
    """The lines, each with the reason (and detail) why it is no event; null for those that are events."""
    from pyspark.sql import functions as F

    from colline.events.spark_schema import CORRUPT_RECORD
    from colline.pipeline.parse import RID, WRONG, WRONG_DETAIL, parsed, whole

    lines = waiting.selectExpr("line as raw", "file", "position", "received_at", "reason as was")
    wrong = f"reason is null and exists(mentions, m -> {whole('m')}.{CORRUPT_RECORD} is not null)"
    judged = parsed(lines.drop("was"), limits).selectExpr(
        "rid as of_line",
        f"if({wrong}, '{WRONG}', reason) as reason",
        f"if({wrong}, '{WRONG_DETAIL}', detail) as detail",
    )
    # what was not text is kept as text with marks in it, which is another line
    kept = "if(was = 'not_utf8', was, reason) as reason"
    return lines.join(judged, F.expr(f"{RID} = of_line")).select(
        "file", "position", "raw", "was", F.expr(kept), "detail"
    )


def _note(store: Store, again: DataFrame) -> None:
    """Write down which lines were replayed, and what is wrong with the others now."""
    from delta.tables import DeltaTable

    from colline.lake.tables import QUARANTINE

    news = again.where("was is distinct from reason").drop("raw", "was")
    if news.isEmpty():
        return
    target = DeltaTable.forPath(store.spark, store.path(QUARANTINE)).alias("t")
    merge = target.merge(news.alias("s"), "t.file = s.file and t.position = s.position and t.replayed_at is null")
    merge = merge.whenMatchedUpdate("s.reason is null", {"replayed_at": "current_timestamp()"})
    merge.whenMatchedUpdate(set={"reason": "s.reason", "detail": "s.detail"}).execute()


def _land(lines: DataFrame, count: int, lake: str, files: HadoopFiles) -> None:
    """Put the lines into the landing folder as one whole file, named as a transport names it."""
    name, now = uuid.uuid4(), time.time()
    scratch = f"{lake}/{replay_folder(str(name))}"
    lines.select("raw").coalesce(1).write.text(scratch)
    day = time.strftime("%Y-%m-%d", time.gmtime(now))
    for part in files.part_files(scratch):
        files.move(part, f"{lake}/landing/dt={day}/{int(now * 1000)}-{name}-{count}events.ndjson")
    files.delete(scratch)
