"""Reads and writes the lake's Delta tables: reads are pinned to versions, every write of a batch is stamped.

A batch is a function of the table versions in its manifest. A killed batch is computed again from the same versions,
and Delta skips the writes that exist already, which it recognizes by their stamp.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from delta.exceptions import DeltaConcurrentModificationException
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from colline.errors import LakeError
from colline.lake import delta_log
from colline.lake.layout import PENDING_BATCH
from colline.lake.location import hadoop_glob
from colline.lake.tables import BRONZE, TABLES, Table, fields_of
from colline.pipeline.ingest_settings import TASKS, activate

if TYPE_CHECKING:
    from colline.environment.hadoop_files import HadoopFiles

CONCURRENT_WRITES = 3
COMMIT_ATTEMPTS = 8
# each path of a file is a call into the JVM
MAX_LISTED_FILES = 1000
# Delta writes a checkpoint of the log every 10 commits, which takes as long as a small batch.
TABLE_PROPERTIES = {"delta.checkpointInterval": "100"}
# Spark cancels the jobs of a thread together with the stream that started them, if they have its properties.
_STREAM_PROPERTIES = ("spark.jobGroup.id", "spark.job.interruptOnCancel")


def ignore(_table: str) -> None:
    """The callback of a caller that is not interested."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The batch that a write belongs to: Delta writes the same stamp to a table only once."""

    app: str
    version: int


@dataclass(frozen=True)
class Manifest:
    """A batch that is being written, or was killed: its stream, its number, and the table versions before it."""

    stream: str
    batch: int
    folder: str
    versions: Mapping[str, int | None]

    @staticmethod
    def read(lake: str, files: HadoopFiles) -> Manifest | None:
        """The manifest in the lake; None when no batch was interrupted."""
        text = files.read(f"{lake}/{PENDING_BATCH}")
        if text is None:
            return None
        try:
            found = json.loads(text)
            return Manifest(found["stream"], found["batch"], found["folder"], found["versions"])
        except (ValueError, KeyError, TypeError):
            hint = "run `colline rebuild`, which does not need it"
            raise LakeError(f"{lake}/{PENDING_BATCH} cannot be read", hint=hint) from None

    def write(self, lake: str, files: HadoopFiles) -> None:
        """Write the manifest; the file is there as a whole or not at all."""
        files.write(f"{lake}/{PENDING_BATCH}.new", json.dumps(asdict(self)))
        files.delete(f"{lake}/{PENDING_BATCH}")
        files.move(f"{lake}/{PENDING_BATCH}.new", f"{lake}/{PENDING_BATCH}")


def current_versions(lake: str, files: HadoopFiles) -> dict[str, int | None]:
    """The newest version of each table; None for a table that does not exist."""
    found: dict[str, int | None] = {}
    for table in TABLES:
        place = f"{lake}/{table.path}"
        is_there = files.exists(f"{place}/_delta_log")
        found[table.path] = delta_log.newest_commit(files, place)[0] if is_there else None
    return found


@dataclass(frozen=True)
class LakeTables:
    """The lake's tables, as one batch or one rebuild reads and writes them."""

    spark: SparkSession
    lake: str
    stamp: Stamp | None = None
    after_write: Callable[[str], None] = ignore
    # the versions to read; None: the newest ones
    versions: Mapping[str, int | None] | None = None
    # a rebuild reads bronze alone and overwrites every other table
    is_rebuild: bool = False
    _writers: list[Future[None]] = field(default_factory=list, compare=False)
    _written: set[str] = field(default_factory=set, compare=False)
    _frames: dict[str, DataFrame] = field(default_factory=dict, compare=False)
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(CONCURRENT_WRITES), compare=False)

    @property
    def marker(self) -> str:
        """The batch's name in the rows of bronze that it wrote."""
        return f"{self.stamp.app}/{self.stamp.version}" if self.stamp else ""

    def path(self, table: Table) -> str:
        """The path of the table."""
        return f"{self.lake.rstrip('/')}/{table.path}"

    def exists(self, table: Table) -> bool:
        """Whether the table has been created."""
        found = delta_log.exists(self.lake, table)
        return bool(DeltaTable.isDeltaTable(self.spark, self.path(table))) if found is None else found

    def read(self, table: Table) -> DataFrame:
        """The table before this batch; empty if it did not exist, and in a rebuild."""
        if self.versions is None:
            return pack(self._read(table))
        if table.path not in self._frames:
            self._frames[table.path] = self._read(table)
        return pack(self._frames[table.path])

    def _read(self, table: Table) -> DataFrame:
        if self.is_rebuild and table is not BRONZE:
            return empty(self.spark, fields_of(table))
        reader = self.spark.read.format("delta")
        if self.versions is not None:
            version = self.versions.get(table.path)
            if version is None:
                return empty(self.spark, fields_of(table))
            found = self._read_files(table, version)
            return reader.option("versionAsOf", version).load(self.path(table)) if found is None else found
        return reader.load(self.path(table)) if self.exists(table) else empty(self.spark, fields_of(table))

    def _read_files(self, table: Table, version: int) -> DataFrame | None:
        """A version of a local table, read from its files; None if that is not possible.

        Delta takes three to ten times longer, because it lists the files by Spark jobs, again for each query
        (`bench/ingest.py --only small`).
        """
        files = delta_log.data_files(self.lake, table, version)
        paths = [path for file in files or () if (path := hadoop_glob(file)) is not None]
        if files is None or len(paths) < len(files) or len(paths) > MAX_LISTED_FILES:
            return None
        if not paths:
            return empty(self.spark, fields_of(table))
        schema = ", ".join(f"{name} {kind}" for name, kind in fields_of(table).items())
        reader = self.spark.read.schema(schema).option("basePath", self.path(table))
        return reader.parquet(*paths).select(*fields_of(table))

    def are_complete(self, files: HadoopFiles, tables: Iterable[Table]) -> bool:
        """Whether the versions to read have all their files. A `VACUUM` by another program may have deleted some."""
        versions = self.versions or {}
        try:
            pinned = {t: v for t in tables if (v := versions.get(t.path)) is not None}
            return all(map(files.exists, chain.from_iterable(self._files(t, v) for t, v in pinned.items())))
        except AnalysisException:  # the log no longer has the version
            return False

    def _files(self, table: Table, version: int) -> list[str]:
        """The paths of the files of a version."""
        frame = self.spark.read.format("delta").option("versionAsOf", version).load(self.path(table))
        return list(frame.inputFiles())

    def append(self, table: Table, rows: DataFrame) -> None:
        """Begin to add rows to the table, in a thread."""
        self._begin(table, rows, {"mode": "append"})

    def replace(self, table: Table, rows: DataFrame, where: str | None = None) -> None:
        """Begin to replace the rows of the partitions that `where` selects, or all rows, in a thread."""
        condition = {"replaceWhere": where} if where is not None and not self.is_rebuild else {}
        self._begin(table, rows, {"mode": "overwrite", **condition})

    def wait(self) -> None:
        """Wait until every write has ended; raise the first failure."""
        failures = [write.exception() for write in self._writers]
        self._writers.clear()
        for failure in failures:
            if failure is not None:
                raise failure

    def close(self) -> None:
        """Begin no further write, and wait for those that have begun."""
        self._pool.shutdown(cancel_futures=True)

    def clear_unwritten(self, tables: Iterable[Table]) -> None:
        """Empty the tables that a rebuild has not written, because their rows are obsolete."""
        for table in tables:
            if table.path not in self._written and self.exists(table):
                self.append(table, empty(self.spark, fields_of(table)))

    def _begin(self, table: Table, rows: DataFrame, options: dict[str, str]) -> None:
        self._written.add(table.path)
        properties = {name: self.spark.sparkContext.getLocalProperty(name) for name in _STREAM_PROPERTIES}
        self._writers.append(self._pool.submit(self._write_as, properties, table, rows, options))

    def _write_as(
        self, properties: Mapping[str, str | None], table: Table, rows: DataFrame, options: dict[str, str]
    ) -> None:
        if any(done.done() and not done.cancelled() and done.exception() for done in self._writers):
            return
        activate(self.spark)
        for name, value in properties.items():
            self.spark.sparkContext.setLocalProperty(name, value)
        self._write(table, rows, options)
        self.after_write(table.path)

    def _write(self, table: Table, rows: DataFrame, options: dict[str, str]) -> None:
        if self.is_rebuild:
            options = {"mode": "overwrite", "overwriteSchema": "true"}
        columns = (f"cast({name} as {kind}) as {name}" for name, kind in fields_of(table).items())
        writer = rows.selectExpr(*columns).write.format("delta").options(**options, **self._stamp_options())
        writer = writer.mode(options["mode"])
        if not self.exists(table):
            writer = writer.options(**TABLE_PROPERTIES)
        if table.partitions:
            writer = writer.partitionBy(*table.partitions)
        retry_conflicts(lambda: writer.save(self.path(table)))

    def _stamp_options(self) -> dict[str, str]:
        return {} if self.stamp is None else {"txnAppId": self.stamp.app, "txnVersion": str(self.stamp.version)}


def retry_conflicts(action: Callable[[], Any]) -> Any:
    """The result of the action, which is repeated after a conflict with the commit of another writer."""
    for attempt in range(COMMIT_ATTEMPTS):
        try:
            return action()
        except DeltaConcurrentModificationException:
            if attempt + 1 == COMMIT_ATTEMPTS:
                raise
            time.sleep(min(10.0, 0.5 * 2**attempt))
    raise AssertionError  # the last attempt returns or raises


def query(spark: SparkSession, statement: str, **frames: DataFrame) -> DataFrame:
    """The result of a SQL statement in which `{name}` stands for a frame."""
    views = {name: f"colline_{uuid.uuid4().hex}" for name in frames}
    for name, frame in frames.items():
        frame.createOrReplaceTempView(views[name])
        statement = statement.replace(f"{{{name}}}", views[name])
    try:
        return spark.sql(statement)
    finally:
        for view in views.values():
            spark.catalog.dropTempView(view)


def pack(frame: DataFrame) -> DataFrame:
    """The frame in as many partitions as the batch has tasks; joins of single partitions need no shuffle."""
    tasks = frame.sparkSession.conf.get(TASKS, None)
    return frame if tasks is None else frame.coalesce(int(tasks))


def materialize(frame: DataFrame) -> DataFrame:
    """The frame, computed now. For frames that are used more than once; the plan of the result has one node."""
    return pack(frame).localCheckpoint(eager=True)


def empty(spark: SparkSession, fields: Mapping[str, str]) -> DataFrame:
    """A frame without rows. `createDataFrame` would start a Python process."""
    return (
        spark.range(0).where("false").selectExpr(*(f"cast(null as {kind}) as {name}" for name, kind in fields.items()))
    )
