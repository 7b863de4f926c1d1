"""Landing folders → the lake: Structured Streaming over files, one batch at a time, each batch exactly once."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from colline.environment.hadoop_files import HadoopFiles
from colline.environment.spark_session import STREAM_LOGGER, silence
from colline.errors import LakeError
from colline.lake.layout import CHECKPOINTS, EXPIRED_OBSERVATIONS, LANDING, recovery_marker
from colline.lake.location import hadoop_path, is_readable_by_delta_rs, local_path
from colline.lake.lock import lock_lake
from colline.lake.tables import BRONZE, RUNS
from colline.pipeline import idle, landing
from colline.pipeline.batch import Counts, expire_runs, ingest_batch
from colline.pipeline.ingest_settings import pipeline_session
from colline.pipeline.reading import Options
from colline.pipeline.rebuild import rebuild_locked, undo
from colline.pipeline.stops import asked_to_end
from colline.pipeline.store import Stamp, Store, nothing
from colline.pipeline.unreadable import set_aside
from colline.pipeline.upgrade import mark, upgraded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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
    # catalog names that moved to another dataset: what runs reported under them earlier stays where it was
    moved: tuple[str, ...] = ()
    # landed files that are broken, with what is wrong; each has another name now
    unreadable: tuple[str, ...] = ()
    # files beside them whose names end otherwise
    unread: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class IngestListener:
    """Who is told while an ingest runs: `progress` of each batch in the lake, `wrote` of each table written.

    `aside` of each broken file that was set aside, as in the summary: an ingest that is interrupted has none.
    """

    progress: Callable[[Progress], None] = field(default=lambda _: None)
    wrote: Callable[[str], None] = field(default=nothing)
    aside: Callable[[str], None] = field(default=nothing)


def ingest(
    lake: str,
    *,
    folders: Iterable[str] = (),
    spark: SparkSession | None = None,
    every: float | None = None,
    options: Options | None = None,
    watch: IngestListener | None = None,
) -> Summary:
    """Bring everything that has landed into the lake; with `every`, go on looking each so many seconds.

    A KeyboardInterrupt is the ordinary end of one that goes on: its summary comes back.
    """
    started = time.monotonic()
    named = tuple(folders)
    _check(lake, named)
    wanted = named or (f"{hadoop_path(lake)}/{LANDING}",)
    unread = tuple(file for folder in wanted for file in landing.unread(folder))
    if every is None and idle.is_idle(lake, wanted):
        return Summary(lake, seconds=round(time.monotonic() - started, 3), unread=unread)
    options = options or Options()
    brief = options.brief and every is None and idle.is_little(lake, wanted)
    with lock_lake(lake, spark, short_lived=brief) as given, pipeline_session(given) as session:
        run = _Run(hadoop_path(lake), session, options, watch or IngestListener(), goes_on=every is not None)
        run.prepare()
        try:
            for folder in run.in_order(wanted):
                run.stream(folder, every)
            run.wait()
        finally:
            run.stop()
        run.expire()
        snapshot = run.publish()
        idle.note(run.lake, run.landed)
    seconds = round(time.monotonic() - started, 3)
    return Summary(
        lake,
        seconds=seconds,
        snapshot=snapshot,
        moved=tuple(run.moved),
        unreadable=tuple(run.unreadable),
        unread=unread,
        **run.totals,
    )


def _check(lake: str, folders: tuple[str, ...]) -> None:
    """Say at once, before Spark starts, that there is nothing, or that nothing could be read there."""
    where = local_path(lake)
    if where is not None and not is_readable_by_delta_rs(Path(where).absolute().as_posix()):
        raise LakeError(
            f"query commands cannot read the tables of a lake at {lake}",
            hint="choose a folder without a backslash, a line break or a code like %20 in its path",
        )
    if where is not None and not folders and not Path(where).is_dir():
        raise LakeError(
            f"no lake at {lake}", hint="check --lake; its first events land in the folder `landing` below it"
        )


class _Run:
    """One ingest at work."""

    def __init__(
        self, lake: str, spark: SparkSession, options: Options, watch: IngestListener, *, goes_on: bool
    ) -> None:
        self.lake, self.spark, self.options, self.watch, self.goes_on = lake, spark, options, watch, goes_on
        self.files = HadoopFiles(spark)
        self.totals: dict[str, int] = {"batches": 0, "events": 0, "quarantined": 0}
        self.moved: list[str] = []
        self.unreadable: list[str] = []
        # by folder, and how one is begun again when a file was set aside
        self._queries: dict[str, Any] = {}
        self._begins: dict[str, Callable[[], Any]] = {}
        self._turn = threading.Lock()
        self._changed = False
        self._failure: Exception | None = None
        self._pending = f"{lake}/{idle.PENDING}"
        # what was in each folder before it was read to its end
        self.landed: list[dict[str, Any]] = []

    def in_order(self, folders: tuple[str, ...]) -> list[str]:
        """The folders, the one whose batch was interrupted first: nothing may come before the rest of that batch."""
        there = [folder for folder in map(hadoop_path, folders) if self.files.exists(folder)]
        if not there and not self.files.exists(f"{self.lake}/{BRONZE.path}"):
            raise LakeError(
                f"nothing has landed in {', '.join(folders)}", hint="write events there, or name it with --from"
            )
        interrupted = self.files.read(self._pending)
        if interrupted and interrupted not in there and self.files.exists(interrupted):
            there.append(interrupted)
        return sorted(there, key=lambda folder: folder != interrupted)

    def prepare(self) -> None:
        """Take back a rebuild that another process left half done, and bring an older lake up to date."""
        broken = undo(self.lake, self.spark, self.files)
        store = Store(self.spark, self.lake)
        if upgraded(store, self.files) or broken:
            rebuild_locked(self.lake, self.spark, self.files, self.options)
        mark(store, self.files)

    def _recovers(self, folder: str, checkpoint: str) -> bool:
        """Whether files of the folder may be in bronze without the checkpoint knowing; the lake is sound afterwards.

        A checkpoint that is gone may have gone in the middle of a batch. What bronze holds is then brought through
        again as a whole, and files that bronze has are not read a second time.
        """
        marker = f"{self.lake}/{recovery_marker(_short(self.files.absolute(folder)))}"
        if self.files.exists(checkpoint):
            return self.files.exists(marker)
        store = Store(self.spark, self.lake)
        prefix = re.sub("^file:/+", "file:/", self.files.absolute(folder))
        known = store.read(BRONZE).where(F.expr(landing.FILE).startswith(prefix))
        if known.isEmpty():
            return False
        with self._turn:  # the stream of another folder may be at work already
            rebuild_locked(self.lake, self.spark, self.files, self.options)
            self.files.delete(self._pending)
        self.files.write(marker, "")
        return True

    def stream(self, folder: str, every: float | None) -> None:
        """Read what is new in a folder to its end, or for ever."""
        checkpoint = f"{self.lake}/{CHECKPOINTS}/{_short(self.files.absolute(folder))}"
        recovers = self._recovers(folder, checkpoint)
        landed = idle.landed(folder)
        trigger = {"availableNow": True} if every is None else {"processingTime": f"{every} seconds"}

        def begin() -> Any:
            lines = landing.stream(self.spark, folder)
            writer = lines.writeStream.option("checkpointLocation", checkpoint)
            writer = writer.foreachBatch(self._into_lake(folder, recovers=recovers))
            return writer.trigger(**trigger).start()

        self._begins[folder], self._queries[folder] = begin, begin()
        if every is None:
            self._ended(folder)
            self.files.delete(f"{self.lake}/{recovery_marker(_short(self.files.absolute(folder)))}")
            where = local_path(checkpoint)
            if landed is not None and where is not None:
                self.landed.append({**landed, "checkpoint": str(Path(where).absolute())})

    def wait(self) -> None:
        """Until every stream has ended, or the user ends those that go on."""
        try:
            for folder in tuple(self._queries):
                self._ended(folder)
        except KeyboardInterrupt:
            if not self.goes_on:
                raise

    def _ended(self, folder: str) -> None:
        """Wait until the folder is read; a batch with a broken file is done again without it."""
        while True:
            try:
                self._awaited(self._queries[folder])
                return
            except Exception as error:
                told = set_aside(error, self.files)
                if told is None:
                    raise
                self.unreadable.append(told)
                self.watch.aside(told)
            self._failure = None
            self._queries[folder] = self._begins[folder]()

    def _awaited(self, query: Any) -> None:
        """Wait until the query has ended; Ctrl-C ends it, in the middle of its batch."""
        try:
            with asked_to_end() as asked:
                while not query.awaitTermination(0.3):
                    if asked.is_set():
                        silence(self.spark, STREAM_LOGGER)  # the end that the user asked for is no error
                        query.stop()
                        raise KeyboardInterrupt
        except Exception as error:  # noqa: BLE001 (raised again, or what it came from)
            raise (self._failure or error) from None

    def stop(self) -> None:
        """End what still runs: nothing may write when the lake's lock is given back.

        A query is let go: it holds the function of its batches in Python, which holds this, so that neither Python
        nor the JVM could see that nobody needs it.
        """
        self._begins.clear()
        while self._queries:
            self._queries.popitem()[1].stop()

    def expire(self) -> None:
        """Runs whose end never came are told as unfinished."""
        store = Store(self.spark, self.lake)
        self._changed = store.exists(RUNS) and expire_runs(store)

    def publish(self) -> str | None:
        """The name of the snapshot made of the tables as they are now; None when nothing is new."""
        where = local_path(self.lake)
        if where is None:
            return None
        from colline.graph.snapshot.publish import publish
        from colline.graph.snapshot.staleness import is_published

        # an ingest that was ended before its snapshot left tables that are newer than it
        if not self.totals["batches"] and not self._changed and is_published(Path(where)):
            return None
        return publish(where).version

    def _into_lake(self, folder: str, *, recovers: bool) -> Callable[[DataFrame, int], None]:
        def batch(lines: DataFrame, number: int) -> None:
            try:
                self._batch(folder, lines, number, recovers=recovers)
            except Exception as error:  # noqa: BLE001 (kept, and raised where the user waits)
                self._failure = error
                # Spark looks through the error's text with a pattern that overflows the stack on a long one
                raise RuntimeError("the batch was not finished") from None

        return batch

    def _batch(self, folder: str, lines: DataFrame, number: int, *, recovers: bool) -> None:
        session = lines.sparkSession
        stream_id = session.sparkContext.getLocalProperty("sql.streaming.queryId")
        stamp = Stamp(f"colline-{stream_id}", number)
        forgets = self.files.exists(f"{self.lake}/{EXPIRED_OBSERVATIONS}")
        store = Store(session, self.lake, stamp, self.watch.wrote, forgets=forgets)
        with self._turn:
            self.files.write(self._pending, folder)
            started = time.monotonic()
            fresh = _unknown(store, lines) if recovers else lines
            rows = _spread(landing.numbered(fresh))

            def lines_of(files: list[str]) -> DataFrame | None:
                some = landing.lines_of(session, files)
                return None if some is None else _spread(some)

            counts = ingest_batch(store, rows, self.options, lines_of)
            self.files.delete(self._pending)
            self._count(folder, number, counts, time.monotonic() - started)
            if self.goes_on:
                self.publish()

    def _count(self, folder: str, number: int, counts: Counts, seconds: float) -> None:
        self.totals["batches"] += 1
        self.totals["events"] += counts.events
        self.totals["quarantined"] += counts.quarantined
        self.moved += (name for name in counts.moved if name not in self.moved)
        self.watch.progress(Progress(folder, number, counts.events, counts.quarantined, round(seconds, 3)))


def _spread(lines: DataFrame) -> DataFrame:
    """Lines whose files are read one by one, in as many tasks (and bronze files) as the machine wants."""
    return lines.coalesce(2 * lines.sparkSession.sparkContext.defaultParallelism)


def _unknown(store: Store, lines: DataFrame) -> DataFrame:
    """The lines of files that no earlier batch brought to bronze."""
    earlier = store.read(BRONZE).where(F.col("batch") != store.marker)
    return lines.join(F.broadcast(earlier.select("file").distinct()), "file", "left_anti")


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
