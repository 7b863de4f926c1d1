"""Landed files that cannot be read; test_upkeep has corrupt ones in its lake."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

from colline.environment.hadoop_files import HadoopFiles
from colline.errors import LakeError
from colline.pipeline.sources.landing import lines_of
from colline.pipeline.sources.unreadable import rename_corrupt_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]


def test_unreadable_file_that_is_not_corrupt_is_reported_and_kept(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "events.json.gz"
    file.write_bytes(gzip.compress(b"{}\n"))
    lines = lines_of(spark, [file.as_uri()])
    assert lines is not None
    away = file.rename(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="reading file") as failed:
        lines.count()
    with pytest.raises(LakeError, match=r"cannot read file:.*/events\.json\.gz: .*does not exist") as reported:
        rename_corrupt_file(failed.value, HadoopFiles(spark))
    assert (reported.value.hint, away.exists()) == ("the next ingest tries it again", True)
    with pytest.raises(AnalysisException) as other:
        spark.sql("select nothing from nowhere")
    assert rename_corrupt_file(other.value, HadoopFiles(spark)) is None
