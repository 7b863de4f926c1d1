"""The ids that names had before a rebuild: it makes tables anew, and their rows keep the ids they were known by."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.lake.tables import COLUMNS, DATASETS, JOBS, Table
from colline.pipeline.store import looked_up

if TYPE_CHECKING:
    from colline.pipeline.store import Store
    from colline.pipeline.threads import Threads

# by table: what an id is known by, as it is called where ids are given; SQL
KEYS = {
    DATASETS: ("namespace as to_namespace", "name as to_name"),
    COLUMNS: ("dataset_id", "lower(field) as key"),
    JOBS: ("namespace as job_namespace", "name as job_name"),
}


class Elders:
    """The ids of a lake's tables as they are now, read beside other work and kept while the tables are replaced."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._begun = {table: threads.begin(partial(_ids, store, table)) for table in KEYS}

    def kept(self, table: Table, rows: DataFrame, on: tuple[str, ...]) -> DataFrame:
        """The rows with the id of before where they have none."""
        ids = self._begun[table].result().where("is_live").drop("is_live")
        return (
            rows.join(looked_up(ids), list(on), "left")
            .withColumn("id", F.expr("coalesce(id, elder_id)"))
            .drop("elder_id")
        )

    def top(self, table: Table) -> DataFrame:
        """The highest id ever given, as `top`; null when there is none."""
        return self._begun[table].result().selectExpr("max(elder_id) as top")


def _ids(store: Store, table: Table) -> DataFrame:
    rows = store.read(table)
    is_live = "merged_into is null" if "merged_into" in rows.columns else "true"
    return rows.selectExpr("id as elder_id", *KEYS[table], f"{is_live} as is_live").localCheckpoint(eager=True)
