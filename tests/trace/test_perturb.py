"""Law 1 by experiment, on random queries: what moves is claimed. Law 2, loosely: what is claimed is mentioned."""

from __future__ import annotations

import os
import time
from random import Random
from typing import TYPE_CHECKING

import pytest

from colline.capture.analyze import lineage
from colline.trace import ColumnLineage, Dependency
from tests.trace.perturb import World, check, ddl, invented, queries, shrunk
from tests.trace.queries import Query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNT = 300
IS_HOME = not os.environ.get("COLLINE_MATRIX")


@pytest.mark.spark
@pytest.mark.timeout(1200)
@pytest.mark.skipif(not IS_HOME, reason="older Sparks do not take every query of the grammar")
def test_whatever_moves_is_claimed(spark: SparkSession) -> None:
    seed = int(os.environ.get("COLLINE_SEED") or time.time_ns() % 1_000_000)
    print(f"seed {seed}: COLLINE_SEED={seed} repeats this run")
    for statement in ddl():
        spark.sql(statement)
    random = Random(seed)
    world = World(random)

    def analyze(sql: str) -> ColumnLineage:
        return lineage(sql, spark)

    for query, found in queries(random, COUNT, analyze):
        moved = check(query, lambda _, found=found: found, world)
        assert moved is None, f"seed {seed}: {shrunk(query, analyze, world)}"
        assert invented(query, found) == [], f"seed {seed}: {query.sql}"
        assert not found.opaque, f"seed {seed}: {found.opaque} in {query.sql}"


def without(found: ColumnLineage, column: str) -> ColumnLineage:
    """A lineage that forgot one column."""

    def kept(entries: tuple[Dependency, ...]) -> tuple[Dependency, ...]:
        return tuple(entry for entry in entries if entry.column.field != column)

    return ColumnLineage({name: kept(found.fields[name]) for name in found.fields}, kept(found.dataset))


@pytest.mark.spark
@pytest.mark.parametrize("forgotten", ["p_a", "p_b", "p_k", "o_k", "o_a"])
def test_the_experiment_notices_a_forgotten_column(spark: SparkSession, forgotten: str) -> None:
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
    missed = check(query, lambda _: without(found, forgotten), world)
    assert missed is not None
    assert missed.column == forgotten
