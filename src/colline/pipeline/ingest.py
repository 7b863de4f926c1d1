"""Landing folders → the lake: Structured Streaming over files, one batch at a time, each batch exactly once."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from colline.errors import LakeError
from colline.pipeline import landing
from colline.pipeline.batch import Counts, ingest_batch
from colline.pipeline.files import Files, local_path
from colline.pipeline.lock import writing
from colline.pipeline.parse import Limits
from colline.pipeline.session import session_for
from colline.pipeline.store import Stamp, Store, nothing
from colline.pipeline.tables import BRONZE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# what the pipeline sets while it runs and puts back afterwards
SETTINGS = {**landing.ONE_FILE_EACH, "spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true"}


@dataclass(frozen=True, slots=True)
class Progress:
    """A batch that is in the lake."""

    folder: str
    batch: int
    events: int
    quarantined: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Summary:
    """What an ingest did."""

    lake: str
    batches: int = 0
    events: int = 0
    quarantined: int = 0
    seconds: float = 0.0
    snapshot: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told while an ingest runs: `progress` of each batch in the lake, `wrote` of each table written."""

    progress: Callable[[Progress], None] = field(default=lambda _: None)
    wrote: Callable[[str], None] = field(default=nothing)


def ingest(
    lake: str,
    *,
    folders: Iterable[str] = (),
    spark: SparkSession | None = None,
    every: float | None = None,
    limits: Limits | None = None,
    watch: Watch | None = None,
) -> Summary:
    """Bring everything that has landed into the lake; with `every`, go on looking each so many seconds."""
    session = spark or session_for()
    files = Files(session)
    started = time.monotonic()
    run = _Run(lake.rstrip("/"), session, files, limits or Limits(), watch or Watch())
    with writing(lake, files), _settings(session):
        for folder in run.in_order(tuple(folders) or (f"{run.lake}/landing",)):
            run.stream(folder, every)
        run.wait()
        snapshot = run.publish()
    return Summary(lake, seconds=round(time.monotonic() - started, 3), snapshot=snapshot, **run.totals)


@contextmanager
def _settings(spark: SparkSession) -> Iterator[None]:
    before = {key: spark.conf.get(key, None) for key in SETTINGS}
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            spark.conf.unset(key) if old is None else spark.conf.set(key, old)


class _Run:
    """One ingest at work."""

    def __init__(self, lake: str, spark: SparkSession, files: Files, limits: Limits, watch: Watch) -> None:
        self.lake, self.spark, self.files, self.limits, self.watch = lake, spark, files, limits, watch
        self.totals: dict[str, int] = {"batches": 0, "events": 0, "quarantined": 0}
        self._queries: list[Any] = []
        self._turn = threading.Lock()
        self._pending = f"{lake}/_colline/pending"

    def in_order(self, folders: tuple[str, ...]) -> list[str]:
        """The folders, the one whose batch was interrupted first: nothing may come before the rest of that batch."""
        there = [folder.rstrip("/") for folder in folders if self.files.exists(folder)]
        if not there and not self.files.exists(f"{self.lake}/{BRONZE.path}"):
            raise LakeError(
                f"nothing has landed in {', '.join(folders)}", hint="write events there, or name it with --from"
            )
        interrupted = self.files.read(self._pending)
        if interrupted and interrupted not in there and self.files.exists(interrupted):
            there.append(interrupted)
        return sorted(there, key=lambda folder: folder != interrupted)

    def stream(self, folder: str, every: float | None) -> None:
        """Read what is new in a folder to its end, or for ever."""
        checkpoint = f"{self.lake}/_colline/checkpoints/{_short(self.files.absolute(folder))}"
        lines = landing.stream(self.spark, folder)
        writer = lines.writeStream.option("checkpointLocation", checkpoint).foreachBatch(self._into_lake(folder))
        trigger = {"availableNow": True} if every is None else {"processingTime": f"{every} seconds"}
        query = writer.trigger(**trigger).start()
        self._queries.append(query)
        if every is None:
            query.awaitTermination()

    def wait(self) -> None:
        """Until every stream has ended."""
        for query in self._queries:
            query.awaitTermination()

    def publish(self) -> str | None:
        """The name of the snapshot made of the tables as they are now; None when nothing is new."""
        where = local_path(self.lake)
        if where is None or (not self.totals["batches"] and self.files.exists(f"{self.lake}/snapshot")):
            return None
        from colline.graph.snapshot import publish

        return publish(where).version

    def _into_lake(self, folder: str) -> Callable[[DataFrame, int], None]:
        def batch(lines: DataFrame, number: int) -> None:
            session = lines.sparkSession
            stream_id = session.sparkContext.getLocalProperty("sql.streaming.queryId")
            store = Store(session, self.lake, Stamp(f"colline-{stream_id}", number), self.watch.wrote)
            with self._turn:
                self.files.write(self._pending, folder)
                started = time.monotonic()
                # files are read one by one; tasks and bronze files are as many as the machine wants
                spread = landing.numbered(lines).coalesce(2 * session.sparkContext.defaultParallelism)
                counts = ingest_batch(store, spread, self.limits)
                self.files.delete(self._pending)
            self._count(folder, number, counts, time.monotonic() - started)

        return batch

    def _count(self, folder: str, number: int, counts: Counts, seconds: float) -> None:
        self.totals["batches"] += 1
        self.totals["events"] += counts.events
        self.totals["quarantined"] += counts.quarantined
        self.watch.progress(Progress(folder, number, counts.events, counts.quarantined, round(seconds, 3)))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
