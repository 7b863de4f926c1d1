"""Catalog names that stand for a dataset, and for another one later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(name="spark")
def as_in_a_batch(spark: SparkSession) -> Iterator[SparkSession]:
    from colline.pipeline.ingest_settings import pipeline_session

    with pipeline_session(spark) as own:
        yield own


LINK = "array(named_struct('namespace', 'hive', 'name', 'db.t', 'type', 'TABLE'{seen}))"


def _told(spark: SparkSession, name: str, day: int) -> DataFrame:
    """A dataset that says that it is `db.t`."""
    return spark.sql(
        f"select 's3://b' namespace, '{name}' name, timestamp'2026-11-{day:02d}' seen, {LINK.format(seen='')} symlinks"
    )


def _known(spark: SparkSession, name: str, day: int) -> DataFrame:
    """The same, as silver/datasets keeps it."""
    link = LINK.format(seen=f", 'seen', timestamp'2026-11-{day:02d}'")
    return spark.sql(f"select 's3://b' namespace, '{name}' name, {link} symlinks, cast(null as bigint) merged_into")


@pytest.mark.parametrize(
    ("now", "day", "moved"),
    [
        ("there", 2, ("db.t is now s3://b there, was s3://b here",)),
        ("here", 2, ()),  # said again
        ("there", 1, ("db.t is now s3://b there, was s3://b here",)),  # the same day: the larger name, as on a rebuild
    ],
)
def test_a_catalog_name_that_moves_is_told(spark: SparkSession, now: str, day: int, moved: tuple[str, ...]) -> None:
    from colline.pipeline.identity import links
    from colline.pipeline.user_rules import Rules

    found = links(_told(spark, now, day), _known(spark, "here", 1), Rules())
    assert found.moved == moved
    assert [(r["alias_name"], r["name"]) for r in found.frame.toLocalIterator()] == [("db.t", now)]


def test_a_name_of_a_late_event_moves_nothing(spark: SparkSession) -> None:
    from colline.pipeline.identity import links
    from colline.pipeline.user_rules import Rules

    found = links(_told(spark, "earlier", 1), _known(spark, "here", 3), Rules())
    assert found.moved == ()
    assert [r["name"] for r in found.frame.toLocalIterator()] == ["here"]
