"""A table, and a watch that captures the queries of the shared session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

import colline
from colline.capture.watch import Watch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[None]:
    spark.sql("create database if not exists watched")
    spark.sql(
        "create table watched.orders using parquet as "
        "select id, id * 2 as amount, cast(id % 3 as string) as region from range(30)"
    )
    yield
    spark.sql("drop database watched cascade")


@pytest.fixture
def watch(spark: SparkSession) -> Iterator[Watch]:
    attached = colline.attach(spark, transport={"type": "memory"}, namespace="tests")
    assert isinstance(attached, Watch)
    yield attached
    attached.detach()
