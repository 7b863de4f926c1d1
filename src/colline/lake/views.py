"""SQL views of a lake for any Spark session: `edges`, `columns`, `reads`, `jobs`, `datasets` and `coverage`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from colline.environment.extras import require_package
from colline.errors import LakeError
from colline.lake import view_queries
from colline.lake.flat_shapes import (
    FLAT_COLUMNS,
    FLAT_COVERAGE,
    FLAT_DATASETS,
    FLAT_EDGES,
    FLAT_JOBS,
    FLAT_READS,
)
from colline.lake.location import hadoop_path
from colline.lake.tables import (
    ALIASES,
    COLUMNS,
    COVERAGE,
    DATASETS,
    DESCRIPTIONS,
    EDGES,
    JOBS,
    LINEAGE_VERSIONS,
    MENTIONS,
    OBSERVATIONS,
    Table,
    fields_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# flat table → its statement, and the stored tables that the statement reads by their last names
_STATEMENTS: dict[Table, tuple[str, tuple[Table, ...]]] = {
    FLAT_EDGES: (view_queries.EDGES_VIEW, (COLUMNS, ALIASES, LINEAGE_VERSIONS, EDGES)),
    FLAT_READS: (view_queries.READS_VIEW, (COLUMNS, ALIASES, EDGES, OBSERVATIONS, MENTIONS)),
    FLAT_COLUMNS: (
        view_queries.COLUMNS_VIEW,
        (COLUMNS, ALIASES, OBSERVATIONS, MENTIONS, DATASETS, EDGES, DESCRIPTIONS),
    ),
    FLAT_DATASETS: (view_queries.DATASETS_VIEW, (ALIASES, OBSERVATIONS, MENTIONS, DATASETS, EDGES, DESCRIPTIONS)),
    FLAT_COVERAGE: (view_queries.COVERAGE_VIEW, (COVERAGE,)),
}


def register_views(spark: SparkSession, lake: str, prefix: str = "") -> list[str]:
    """Creates a temporary view of each flat table of a lake in the session, and returns their names.

    `register_views(spark, "abfss://…/lineage", prefix="lineage_")` → `lineage_edges`, `lineage_columns`, …
    """
    require_package("pyspark")
    frames = flat_frames(spark, lake)
    for name, frame in frames.items():
        frame.createOrReplaceTempView(f"{prefix}{name}")
    return [f"{prefix}{name}" for name in frames]


def flat_frames(spark: SparkSession, lake: str) -> dict[str, DataFrame]:
    """A DataFrame of each flat table of a lake, by name."""
    root = hadoop_path(str(lake))
    stored = {table: _read(spark, root, table) for _, tables in _STATEMENTS.values() for table in tables}
    jobs = _read(spark, root, JOBS)
    if all(frame is None for frame in (*stored.values(), jobs)):
        raise LakeError(f"no lake at {lake}, or it is empty", hint="check the path, or run `colline ingest`")
    frames = {
        flat: spark.sql(statement, **{_last_name(table): stored[table] or _empty(spark, table) for table in tables})
        for flat, (statement, tables) in _STATEMENTS.items()
    }
    frames[FLAT_JOBS] = spark.sql(
        view_queries.JOBS_VIEW,
        edges=frames[FLAT_EDGES],
        jobs=jobs if jobs is not None else _empty(spark, JOBS),
        lineage_versions=stored[LINEAGE_VERSIONS] or _empty(spark, LINEAGE_VERSIONS),
    )
    return {flat.path: _select_columns(frame, flat) for flat, frame in frames.items()}


def _read(spark: SparkSession, root: str, table: Table) -> DataFrame | None:
    """A stored table with its declared columns; None if no commit has created it yet."""
    from pyspark.errors import AnalysisException

    try:
        frame = spark.read.format("delta").load(f"{root}/{table.path}")
    except AnalysisException:
        return None
    present = set(frame.columns)
    return frame.selectExpr(
        *(
            f"`{name}`" if name in present else f"cast(null as {kind}) as `{name}`"
            for name, kind in fields_of(table).items()
        )
    )


def _empty(spark: SparkSession, table: Table) -> DataFrame:
    return spark.createDataFrame([], table.columns)


def _select_columns(frame: DataFrame, flat: Table) -> DataFrame:
    """The columns of a flat table in their documented order and types."""
    return frame.selectExpr(*(f"cast(`{name}` as {kind}) as `{name}`" for name, kind in fields_of(flat).items()))


def _last_name(table: Table) -> str:
    return table.path.rpartition("/")[2]
