"""Lines that were no events: listed, shown, and replayed once what was wrong is put right."""

from __future__ import annotations

import time
import uuid
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colline.errors import LakeError
from colline.pipeline.files import local_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
    from colline.pipeline.lock import writing
    from colline.pipeline.parse import Limits, parsed
    from colline.pipeline.session import session_for
    from colline.pipeline.store import Store, cut
    from colline.pipeline.tables import QUARANTINE

    session = spark or session_for()
    store = Store(session, lake.rstrip("/"))
    if not store.exists(QUARANTINE):
        return 0
    with writing(lake, Files(session)):
        waiting = (
            store.read(QUARANTINE)
            .where("replayed_at is null and reason <> 'not_utf8'")
            .withColumnRenamed("line", "raw")
        )
        judged = parsed(waiting, limits or Limits()).where("reason is null").select("event_id")
        good = cut(waiting.join(judged.distinct(), "event_id", "left_semi").select("event_id", "raw"))
        count = int(good.count())
        if not count:
            return 0
        day = time.strftime("%Y-%m-%d", time.gmtime())
        good.select("raw").coalesce(1).write.text(f"{store.lake}/landing/dt={day}/replay-{uuid.uuid4()}")
        target = DeltaTable.forPath(session, store.path(QUARANTINE)).alias("t")
        done = target.merge(good.select("event_id").distinct().alias("s"), "t.event_id = s.event_id")
        done.whenMatchedUpdate("t.replayed_at is null", {"replayed_at": F.current_timestamp()}).execute()
    return count
