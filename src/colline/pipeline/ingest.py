"""Ingests landing folders and Kafka topics with Structured Streaming, one batch at a time, each exactly once."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colline.config.kafka_connection import is_topic_address, parse_topic
from colline.environment.hadoop_files import HadoopFiles
from colline.environment.spark_session import STREAM_LOGGER, silence
from colline.errors import LakeError
from colline.lake.layout import CHECKPOINTS, PENDING_BATCH, RESOLVED, recovery_marker
from colline.lake.location import hadoop_path, is_readable_by_delta_rs, local_path
from colline.lake.lock import lock_lake
from colline.lake.tables import BRONZE, RUNS
from colline.pipeline.batch import Counts, expire_runs, ingest_batch
from colline.pipeline.delta_tables import LakeTables, Manifest, Stamp, current_versions, query
from colline.pipeline.ingest_report import IngestListener, IngestSummary, Progress
from colline.pipeline.ingest_settings import pipeline_session
from colline.pipeline.interruption import interrupt_requested
from colline.pipeline.parsing.payloads import Options
from colline.pipeline.parsing.raw_events import bronze_of_batch
from colline.pipeline.sources import landing, pending
from colline.pipeline.sources.folder_source import EventSource, FolderSource
from colline.pipeline.sources.kafka_source import KafkaSource, connector_packages, kafka_settings
from colline.pipeline.sources.plan_resolution import land_resolved
from colline.pipeline.sources.unreadable import rename_corrupt_file
from colline.pipeline.upkeep.rebuild import REBUILT, rebuild_locked, undo

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# how often a continuous ingest checks for runs that have become unfinished by time alone
EXPIRY_CHECK_SECONDS = 600.0

# Lines that bronze does not have. A moved lake has other addresses for the same files, so their names are compared.
UNKNOWN_LINES = f"""
select l.* from {{lines}} l
left anti join {{known}} k
  on k.position = l.position and k.file_name = regexp_extract(l.file, '[^/]*$', 0)
  and k.event_id = {landing.event_id("l.raw")}
"""


def ingest(
    lake: str | Path,
    spark: SparkSession | None = None,
    *,
    from_: str | Iterable[str] = (),
    every: float | None = None,
    options: Options | None = None,
    watch: IngestListener | None = None,
) -> IngestSummary:
    """Bring all landed events into the lake: `colline.ingest("/lake", spark)`.

    `from_` names other landing folders than `LAKE/landing`, or topics (`kafka://broker/topic`). With `every`, check
    again after that number of seconds, until Ctrl-C.
    """
    started, lake = time.monotonic(), str(lake)
    named = (from_,) if isinstance(from_, str) else tuple(map(str, from_))
    _check(lake, named)
    if every is None and (idle := pending.idle_summary(lake, named)) is not None:
        return idle
    wanted = pending.landing_addresses(lake, named)
    ignored = tuple(file for folder in wanted for file in landing.ignored_files(folder))
    packages = connector_packages() if any(map(is_topic_address, wanted)) else ()
    is_single = every is None
    with lock_lake(lake, spark, short_lived=is_single, packages=packages) as given, pipeline_session(given) as session:
        run = _Ingest(hadoop_path(lake), session, options or Options(), watch or IngestListener())
        run.prepare()
        snapshot = run.ingest_once(wanted) if every is None else run.until_interrupted(wanted, every)
    seconds = round(time.monotonic() - started, 3)
    unreadable = tuple(run.unreadable)
    return IngestSummary(lake, seconds=seconds, snapshot=snapshot, unreadable=unreadable, ignored=ignored, **run.totals)


def _check(lake: str, folders: tuple[str, ...]) -> None:
    """Raise before Spark starts if there is no lake, or if queries could not read it."""
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


class _Ingest:
    """One ingest: its streams, and what they have done."""

    def __init__(self, lake: str, spark: SparkSession, options: Options, watch: IngestListener) -> None:
        self.lake, self.spark, self.options, self.watch = lake, spark, options, watch
        self.files = HadoopFiles(spark)
        self.totals: dict[str, int] = {"batches": 0, "events": 0, "quarantined": 0}
        self.unreadable: list[str] = []
        self._failure: Exception | None = None

    def ingest_once(self, folders: tuple[str, ...]) -> str | None:
        """Ingest what is in the folders; returns the name of the snapshot if there is a new one."""
        batches = self.totals["batches"]
        landed = [found for address in self._ordered_sources(folders) if (found := self._read(self._source(address)))]
        if self.files.exists(f"{self.lake}/{RESOLVED}") and (
            found := self._read(self._source(f"{self.lake}/{RESOLVED}"))
        ):
            landed.append(found)
        changed = self._has_expired_runs()
        snapshot = self._publish(changed=changed or self.totals["batches"] > batches)
        pending.record_landed(self.lake, landed)
        self.watch.published(snapshot)
        return snapshot

    def until_interrupted(self, folders: tuple[str, ...], every: float) -> str | None:
        """Ingest, then look for new events until Ctrl-C, without Spark where that is possible."""
        snapshot, seen, expired = None, None, time.monotonic()
        sources = [self._source(address) for address in folders]
        with interrupt_requested() as requested:
            while not requested.is_set():
                landed = [source.state(self.spark) for source in sources]
                is_due = time.monotonic() - expired > EXPIRY_CHECK_SECONDS
                if landed != seen or None in landed or is_due:
                    expired = time.monotonic() if is_due or seen is None else expired
                    try:
                        snapshot = self.ingest_once(folders) or snapshot
                    except KeyboardInterrupt:
                        break
                    seen = landed
                requested.wait(every)
        return snapshot

    def prepare(self) -> None:
        """Restore the tables if another process left a rebuild unfinished.

        Rebuild them if that is impossible, or if an interrupted batch cannot be run again.
        """
        if undo(self.lake, self.spark, self.files) or self._lost_interrupted_batch():
            rebuild_locked(self.lake, self.spark, self.files, self.options)

    def _lost_interrupted_batch(self) -> bool:
        """Whether a batch was interrupted whose folder, or a table version that it needs, is gone."""
        manifest = Manifest.read(self.lake, self.files)
        if manifest is None or not LakeTables(self.spark, self.lake).exists(BRONZE):
            return False
        pinned = LakeTables(self.spark, self.lake, versions=manifest.versions)
        return not self._source_exists(manifest.folder) or not pinned.are_complete(self.files, REBUILT)

    def _ordered_sources(self, addresses: tuple[str, ...]) -> list[str]:
        """What there is to read; first the one whose batch was interrupted, because that batch comes first."""
        there = [address for address in addresses if self._source_exists(address)]
        if not there and not self.files.exists(f"{self.lake}/{BRONZE.path}"):
            raise LakeError(
                f"nothing has landed in {', '.join(addresses)}", hint="write events there, or name it with --from"
            )
        manifest = Manifest.read(self.lake, self.files)
        interrupted = manifest.folder if manifest else None
        if interrupted and interrupted not in there and self._source_exists(interrupted):
            there.append(interrupted)
        return sorted(there, key=lambda address: address != interrupted)

    def _source_exists(self, address: str) -> bool:
        return is_topic_address(address) or self.files.exists(address)

    def _source(self, address: str) -> EventSource:
        if not is_topic_address(address):
            return FolderSource(address)
        return KafkaSource.from_settings(parse_topic(address), kafka_settings(self.spark))

    def _read(self, source: EventSource) -> dict[str, Any] | None:
        """Ingest what is in a place; returns the files of a local folder, for `pending.record_landed`."""
        is_topic = is_topic_address(source.address)
        key = _short_digest(source.address if is_topic else self.files.absolute_path(source.address))
        checkpoint, marker = f"{self.lake}/{CHECKPOINTS}/{key}", f"{self.lake}/{recovery_marker(key)}"
        found = source.contents(self.spark)
        is_recovery = self._needs_recovery(checkpoint, marker)
        while not self._stream(source, checkpoint, is_recovery=is_recovery):
            pass
        self.files.delete(marker)
        where = None if is_topic else local_path(checkpoint)
        return {**found, "checkpoint": str(Path(where).absolute())} if found and where is not None else None

    def _needs_recovery(self, checkpoint: str, marker: str) -> bool:
        """Whether bronze may have lines that the checkpoint does not know.

        The checkpoint is lost, or the lake was moved. A batch that was interrupted then cannot be run again, so the
        tables are rebuilt from bronze.
        """
        if self.files.exists(checkpoint):
            return self.files.exists(marker)
        if not LakeTables(self.spark, self.lake).exists(BRONZE):
            return False
        if Manifest.read(self.lake, self.files) is not None:
            rebuild_locked(self.lake, self.spark, self.files, self.options)
        self.files.write(marker, "")
        return True

    def _stream(self, source: EventSource, checkpoint: str, *, is_recovery: bool) -> bool:
        """Read a place to its end; False if a corrupt file was renamed and the batch must be run again."""
        writer = source.stream(self.spark).writeStream.option("checkpointLocation", checkpoint)
        writer = writer.foreachBatch(self._into_lake(source.address, is_recovery=is_recovery))
        running = writer.trigger(availableNow=True).start()
        try:
            self._await(running)
        except Exception as error:
            explained = source.explain(error)
            if explained is not None:
                raise explained from error
            renamed = rename_corrupt_file(error, self.files)
            if renamed is None:
                raise
            self.unreadable.append(renamed)
            self.watch.renamed(renamed)
            self._failure = None
            return False
        finally:
            running.stop()
        return True

    def _await(self, running: Any) -> None:
        """Wait until the query has ended; Ctrl-C interrupts its batch."""
        try:
            with interrupt_requested() as requested:
                while not running.awaitTermination(0.1):
                    if requested.is_set():
                        silence(self.spark, STREAM_LOGGER)  # the user asked for this end
                        running.stop()
                        raise KeyboardInterrupt
        except Exception as error:  # noqa: BLE001 (raised again, or its cause)
            raise (self._failure or error) from None

    def _into_lake(self, folder: str, *, is_recovery: bool) -> Callable[[DataFrame, int], None]:
        def batch(lines: DataFrame, number: int) -> None:
            try:
                self._batch(folder, lines, number, is_recovery=is_recovery)
            except Exception as error:  # noqa: BLE001 (kept, and raised where the user waits)
                self._failure = error
                # Spark searches the error's text with a pattern that overflows the stack on a long one
                raise RuntimeError("the batch was not finished") from None

        return batch

    def _batch(self, folder: str, lines: DataFrame, number: int, *, is_recovery: bool) -> None:
        started, session = time.monotonic(), lines.sparkSession
        stamp = Stamp(f"colline-{session.sparkContext.getLocalProperty('sql.streaming.queryId')}", number)
        versions = self._pinned_versions(folder, stamp)
        tables = LakeTables(session, self.lake, stamp, self.watch.wrote, versions)
        placed = landing.with_positions(lines)
        if is_recovery:
            placed = _new_lines(tables, placed)
        # files are read one by one, in as many tasks as the machine wants
        placed = placed.coalesce(2 * session.sparkContext.defaultParallelism)
        counts = ingest_batch(tables, self.files, placed, self.options)
        if counts.plans:
            land_resolved(self.files, f"{self.lake}/{RESOLVED}", bronze_of_batch(tables, self.files))
        self.files.delete(f"{self.lake}/{PENDING_BATCH}")
        self._count(folder, number, counts, time.monotonic() - started)

    def _pinned_versions(self, folder: str, stamp: Stamp) -> dict[str, int | None]:
        """The table versions that the batch is computed from: those of its first attempt."""
        manifest = Manifest.read(self.lake, self.files)
        if manifest is not None and (manifest.stream, manifest.batch) == (stamp.app, stamp.version):
            return dict(manifest.versions)
        versions = current_versions(self.lake, self.files)
        Manifest(stamp.app, stamp.version, folder, versions).write(self.lake, self.files)
        return versions

    def _count(self, folder: str, number: int, counts: Counts, seconds: float) -> None:
        self.totals["batches"] += 1
        self.totals["events"] += counts.events
        self.totals["quarantined"] += counts.quarantined
        self.watch.progress(Progress(folder, number, counts.events, counts.quarantined, round(seconds, 3)))

    def _has_expired_runs(self) -> bool:
        """Whether runs have become unfinished by time alone."""
        tables = LakeTables(self.spark, self.lake)
        return tables.exists(RUNS) and expire_runs(tables)

    def _publish(self, *, changed: bool) -> str | None:
        """The name of the snapshot of the tables as they are now; None when nothing is new."""
        from colline.graph.snapshot.lake_publisher import publish_changes

        # an ingest that was killed before its snapshot left newer tables
        return publish_changes(self.lake, self.files, has_changes=changed)


def _new_lines(tables: LakeTables, lines: DataFrame) -> DataFrame:
    """The lines that no earlier batch brought to bronze."""
    earlier = tables.spark.read.format("delta").load(tables.path(BRONZE)).where(f"batch <> '{tables.marker}'")
    known = earlier.selectExpr("position", "event_id", "regexp_extract(file, '[^/]*$', 0) as file_name")
    return query(tables.spark, UNKNOWN_LINES, lines=lines, known=known)


def _short_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
