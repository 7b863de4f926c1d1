"""On random queries, every observed influence is in the lineage, and every input in the lineage is in the query."""

from __future__ import annotations

import os
import time
from random import Random
from typing import TYPE_CHECKING

import pytest

from colline.capture.analyze import lineage
from colline.trace import ColumnLineage, Dependency
from tests.trace.perturb import World, check, ddl, queries, smallest_counterexample, unmentioned_inputs
from tests.trace.queries import Query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNT = 300
IS_DEFAULT_SPARK = not os.environ.get("COLLINE_MATRIX")


@pytest.mark.spark
@pytest.mark.timeout(1200)
@pytest.mark.skipif(not IS_DEFAULT_SPARK, reason="older Sparks do not support every query of the grammar")
def test_every_observed_influence_is_in_the_lineage(spark: SparkSession) -> None:
    seed = int(os.environ.get("COLLINE_SEED") or time.time_ns() % 1_000_000)
    print(f"seed {seed}: COLLINE_SEED={seed} repeats this run")
    for statement in ddl():
        spark.sql(statement)
    random = Random(seed)
    world = World(random)

    def analyze(sql: str) -> ColumnLineage:
        return lineage(sql, spark)

    for query, found in queries(random, COUNT, analyze):
        missing = check(query, lambda _, found=found: found, world)
        assert missing is None, f"seed {seed}: {smallest_counterexample(query, analyze, world)}"
        assert unmentioned_inputs(query, found) == [], f"seed {seed}: {query.sql}"
        assert not found.opaque, f"seed {seed}: {found.opaque} in {query.sql}"


def remove_input(found: ColumnLineage, column: str) -> ColumnLineage:
    """The lineage without one of its input columns."""

    def without_column(entries: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        return tuple(entry for entry in entries if entry.column.field != column)

    fields = {name: without_column(found.fields[name]) for name in found.fields}
    return ColumnLineage(fields, without_column(found.dataset))


@pytest.mark.spark
@pytest.mark.parametrize("removed", ["p_a", "p_b", "p_k", "o_k", "o_a"])
def test_experiment_detects_a_missing_input(spark: SparkSession, removed: str) -> None:
    for statement in ddl():
        spark.sql(statement)
    sql = (
        "select p_id, p_a, sum(o_a) as s from persons join purchases on p_k = o_k where p_b > 0 group by p_id, p_a "
        "order by p_id, p_a"
    )
    query = Query(sql, ("p_id", "p_a", "s"), ("p_id", "p_a"), is_ordered=True)
    world = World(Random(1))
    found = lineage(sql, spark)
    assert check(query, lambda _: found, world) is None
    missing = check(query, lambda _: remove_input(found, removed), world)
    assert missing is not None
    assert missing.column == removed
