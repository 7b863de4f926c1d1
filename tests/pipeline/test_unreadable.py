"""Landed files that cannot be read; test_upkeep has broken ones in its lake."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

from colline.environment.hadoop_files import HadoopFiles
from colline.errors import LakeError
from colline.pipeline.landing import lines_of
from colline.pipeline.unreadable import set_aside

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]


def test_a_file_that_is_whole_stays_where_it_is_and_is_told(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "events.json.gz"
    file.write_bytes(gzip.compress(b"{}\n"))
    lines = lines_of(spark, [file.as_uri()])
    assert lines is not None
    aside = file.rename(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="reading file") as failed:
        lines.count()
    with pytest.raises(LakeError, match=r"cannot read file:.*/events\.json\.gz: .*does not exist") as told:
        set_aside(failed.value, HadoopFiles(spark))
    assert (told.value.hint, aside.exists()) == ("the next ingest tries it again", True)
    with pytest.raises(AnalysisException) as other:
        spark.sql("select nothing from nowhere")
    assert set_aside(other.value, HadoopFiles(spark)) is None
