"""Lines that were no events: listed, shown, and replayed once what was wrong is put right."""

from __future__ import annotations

import time
import uuid
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colline.errors import LakeError
from colline.pipeline.files import local_path, spelled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from colline.pipeline.files import Files
    from colline.pipeline.parse import Limits

COLUMNS = ("event_id", "reason", "detail", "line", "file", "position", "received_at", "replayed_at")


@dataclass(frozen=True, slots=True)
class Entry:
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


def entries(lake: str, *, reason: str | None = None, replayed: bool = False) -> list[Entry]:
    """The quarantined lines, oldest first, read without a JVM; those replayed already only when asked for."""
    where = local_path(lake)
    if where is None:
        raise LakeError(f"{lake} is not on this machine", hint="read bronze/quarantine with Spark")
    if not Path(where).is_dir():
        raise LakeError(f"no lake at {where}", hint="check --lake")
    from colline.graph.tables import scan

    table = scan(Path(where), "bronze/quarantine", columns=COLUMNS)
    rows = table.to_pylist() if table is not None else []
    found = [_entry(row) for row in rows if reason is None or row["reason"] == reason]
    kept = [entry for entry in found if replayed or entry.replayed_at is None]
    return sorted(kept, key=lambda entry: (entry.received_at, entry.file, entry.position))


def _entry(row: dict[str, Any]) -> Entry:
    return Entry(
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


def replay(lake: str, *, spark: SparkSession | None = None, limits: Limits | None = None) -> int:
    """How many quarantined lines are events now: they are landed again, for the next ingest.

    Landing twice after a crash is harmless: an event that comes twice is one.
    """
    from delta.tables import DeltaTable
    from pyspark.sql import functions as F

    from colline.pipeline.files import Files
    from colline.pipeline.lock import held
    from colline.pipeline.parse import RID, Limits, parsed, whole
    from colline.pipeline.settings import pipeline_session
    from colline.pipeline.store import Store, cut
    from colline.pipeline.tables import QUARANTINE
    from colline.pipeline.wire import CORRUPT

    where = local_path(lake)
    if where is not None and not Path(where).is_dir():
        raise LakeError(f"no lake at {lake}", hint="check --lake")
    with held(lake, spark) as given, pipeline_session(given) as session:
        store, files = Store(session, spelled(lake)), Files(session)
        if not store.exists(QUARANTINE):
            return 0
        waiting = store.read(QUARANTINE).where("replayed_at is null and reason <> 'not_utf8'")
        lines = waiting.selectExpr("event_id", "line as raw", "file", "position", "received_at")
        sound = f"reason is null and not exists(mentions, m -> {whole('m')}.{CORRUPT} is not null)"
        judged = parsed(lines, limits or Limits()).where(sound).selectExpr("rid as of_line")
        good = lines.join(judged, F.expr(f"{RID} = of_line"), "left_semi")
        good = cut(good.select("event_id", "raw"))
        count = int(good.count())
        if count:
            _land(good, count, store.lake, files)
            target = DeltaTable.forPath(session, store.path(QUARANTINE)).alias("t")
            done = target.merge(good.select("event_id").distinct().alias("s"), "t.event_id = s.event_id")
            done.whenMatchedUpdate("t.replayed_at is null", {"replayed_at": "current_timestamp()"}).execute()
    return count


def _land(lines: DataFrame, count: int, lake: str, files: Files) -> None:
    """Put the lines into the landing folder as one whole file, named as a transport names it."""
    name, now = uuid.uuid4(), time.time()
    scratch = f"{lake}/_colline/replay-{name}"
    lines.select("raw").coalesce(1).write.text(scratch)
    day = time.strftime("%Y-%m-%d", time.gmtime(now))
    for part in files.parts(scratch):
        files.move(part, f"{lake}/landing/dt={day}/{int(now * 1000)}-{name}-{count}events.ndjson")
    files.delete(scratch)
