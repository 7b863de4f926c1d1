"""How a batch is done goes by its own size, whatever the one before it in the same session was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from colline.pipeline import ingest_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NAMES = ("spark.sql.shuffle.partitions", "spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode")
READ = ("4", "false", "NO_CODEGEN")


def test_every_batch_of_a_stream_is_read_in_the_same_way_and_done_by_its_size(spark: SparkSession) -> None:
    with ingest_settings.pipeline_session(spark) as session:

        def done(lines: int, different: int) -> tuple[str | None, ...]:
            ingest_settings.unsized(session)
            assert tuple(session.conf.get(name) for name in NAMES) == READ
            ingest_settings.sized(session, lines=lines, different=different)
            return tuple(session.conf.get(name) for name in NAMES)

        few, many = ("1", *READ[1:]), ("4", "true", "FALLBACK")
        sizes = [(500, 50), (3_000, 3_000), (20_000, 100), (300_000, 100), (1, 1)]
        assert [done(*size) for size in sizes] == [few, many, few, many, few]
