"""Compares the runs that a platform reports with the runs whose lineage arrived."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from colline.errors import LakeError, SettingError
from colline.lake.tables import RUNS
from colline.pipeline.delta_tables import LakeTables, materialize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# an expected run: the id of its application or run, the name of its job, and its start
EXPECTED = {"run": "string", "job": "string", "started": "timestamp"}


@dataclass(frozen=True, slots=True)
class JobDay:
    """Runs of one job on one day."""

    job: str
    day: str
    expected: int
    seen: int
    missing: int
    extra: int
    dropped: int


@dataclass(frozen=True, slots=True)
class MissingRun:
    """An expected run without any event."""

    run: str
    job: str
    started: str


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The comparison."""

    lake: str
    expected: int
    seen: int
    coverage: float  # seen of expected, 0 to 1; 1 when nothing was expected
    days: tuple[JobDay, ...]
    missing: tuple[MissingRun, ...]
    left_out: int

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RunColumns:
    """The names of the columns in a table of expected runs."""

    run: str = "run_id"
    job: str = "job"
    started: str = "started_at"


def from_table(spark: SparkSession, path: str, names: RunColumns) -> DataFrame:
    """Expected runs in a Delta table, a CSV file with a header, or NDJSON, by the file's ending."""
    from pyspark.sql import functions as F

    lower = path.lower()
    if lower.endswith((".csv", ".csv.gz")):
        rows = spark.read.option("header", "true").csv(path)
    elif lower.endswith((".ndjson", ".jsonl", ".json", ".ndjson.gz", ".jsonl.gz")):
        wanted = ", ".join(f"`{name}` string" for name in asdict(names).values())
        rows = spark.read.schema(wanted).json(path)
    else:
        rows = spark.read.format("delta").load(path)
    lacking = [name for name in asdict(names).values() if name not in rows.columns]
    if lacking:
        raise SettingError(
            f"{path} has no column {', '.join(lacking)}; it has {', '.join(rows.columns)}",
            hint="name the columns with --run-column, --job-column and --started-column",
        )
    started = F.try_to_timestamp(F.col(names.started).cast("string"))
    return rows.select(
        F.col(names.run).cast("string").alias("run"),
        F.col(names.job).cast("string").alias("job"),
        started.alias("started"),
    )


def reconcile(lake: str, expected: DataFrame, *, spark: SparkSession, limit: int = 100) -> Reconciliation:
    """Compare the expected runs with those in the lake."""
    from pyspark.sql import functions as F

    tables = LakeTables(spark, lake.rstrip("/"))
    if not tables.exists(RUNS):
        raise LakeError(f"no lake at {lake}", hint="run `colline ingest` first, or check --lake")
    wanted = materialize(expected.where("run is not null").dropDuplicates(["run"]))
    known = materialize(_seen_runs(tables))
    keys = materialize(
        wanted.join(known.select(F.explode("keys").alias("run")).distinct(), "run", "left_semi").select("run")
    )
    judged = materialize(
        wanted.join(keys.withColumn("found", F.lit(True)), "run", "left").withColumn("day", F.to_date("started"))
    )
    extra = known.join(
        wanted.select("run").withColumn("asked", F.lit(True)), F.array_contains("keys", F.col("run")), "left_anti"
    )
    days = materialize(_days(judged, known, extra))
    missing = judged.where("found is null").select("run", "job", "started").orderBy("started", "run")
    totals = judged.agg(F.count("*").alias("n"), F.count("found").alias("seen")).first()
    n, seen = (totals["n"], totals["seen"]) if totals else (0, 0)
    rows = [MissingRun(r["run"], r["job"], str(r["started"])) for r in missing.limit(limit).toLocalIterator()]
    table = [_job_day(r) for r in days.orderBy("day", "job").toLocalIterator()]
    return Reconciliation(lake, n, seen, seen / n if n else 1.0, tuple(table), tuple(rows), n - seen - len(rows))


def _seen_runs(tables: LakeTables) -> DataFrame:
    """Runs without a parent (applications), with every id by which a platform may know them."""
    from pyspark.sql import functions as F

    runs = tables.read(RUNS).where("run_id not like 'job:%' and run_id not like 'dataset:%'")
    lost = F.coalesce(F.expr("try_cast(delivery['dropped'] as bigint)"), F.lit(0))
    top = F.coalesce("root_run", "parent_run", "run_id")
    whole = (
        runs.withColumn("top", top)
        .groupBy("top")
        .agg(
            F.min("started_at").alias("started"),
            F.max(F.when(F.col("run_id") == F.col("top"), F.col("job_name"))).alias("own"),
            F.min("job_name").alias("any_job"),
            F.array_distinct(
                F.concat(F.collect_set("application"), F.collect_set("run_id"), F.collect_set("top"))
            ).alias("keys"),
            F.max(lost).alias("dropped"),
        )
    )
    return whole.select("keys", "started", F.coalesce("own", "any_job").alias("job"), "dropped")


def _days(judged: DataFrame, known: DataFrame, extra: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    wanted = judged.groupBy("job", "day").agg(F.count("*").alias("expected"), F.count("found").alias("seen"))
    more = extra.groupBy("job", F.to_date("started").alias("day")).agg(F.count("*").alias("extra"))
    lost = known.groupBy("job", F.to_date("started").alias("day")).agg(F.sum("dropped").alias("dropped"))
    both = wanted.join(more, ["job", "day"], "full").join(lost, ["job", "day"], "left")
    return both.na.fill(0, ["expected", "seen", "extra", "dropped"])


def _job_day(row: Any) -> JobDay:
    missing = row["expected"] - row["seen"]
    return JobDay(
        row["job"] or "", str(row["day"]), row["expected"], row["seen"], missing, row["extra"], row["dropped"]
    )
