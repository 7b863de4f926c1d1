"""Landed files that are broken, or gone before they were read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

from colline.errors import LakeError
from colline.pipeline import ingest as pipeline
from colline.pipeline.files import Files
from colline.pipeline.landing import lines_of
from colline.pipeline.unreadable import set_aside
from tests.lakes import land
from tests.pipeline.lake_view import current, table
from tests.pipeline.scenarios import out, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]


def _packed(job: str) -> bytes:
    return gzip.compress("".join(f"{json.dumps(event)}\n" for event in write(job, job, 1, out(job))).encode())


def test_a_broken_archive_is_set_aside_and_all_else_is_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(tmp_path, write("plain", "plain", 1, out("plain")))
    landing = tmp_path / "landing"
    (landing / "whole.ndjson.gz").write_bytes(_packed("whole"))
    broken, half = landing / "at 10:30.ndjson.gz", _packed("half")[:-20]
    broken.write_bytes(half)

    def killed(error: Exception, files: Files) -> None:
        """What is left when the process ends as soon as the file has its new name."""
        set_aside(error, files)
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(pipeline, "set_aside", killed)
        with pytest.raises(RuntimeError, match="killed"):
            pipeline.ingest(str(tmp_path), spark=spark)
    assert (broken.exists(), broken.with_name(f"{broken.name}.unreadable").read_bytes()) == (False, half)

    (landing / "other.json.gz").write_bytes(b"no archive\n")
    done = pipeline.ingest(str(tmp_path), spark=spark)
    assert (done.events, done.quarantined) == (4, 0)
    other = f"file:{landing}/other.json.gz.unreadable"
    assert done.unreadable == (f"{other} cannot be read: java.io.IOException: not a gzip file",)
    for job in ("plain", "whole"):
        assert current(tmp_path, job) == {f"orders.amount -> {job}.total DIRECT/AGGREGATION"}
    assert len(table(tmp_path, "bronze/events")) == 4


def test_a_file_that_is_whole_stays_where_it_is_and_is_told(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "events.json.gz"
    file.write_bytes(_packed("whole"))
    lines = lines_of(spark, [file.as_uri()])
    assert lines is not None
    aside = file.rename(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="reading file") as failed:
        lines.count()
    with pytest.raises(LakeError, match=r"cannot read file:.*/events\.json\.gz: .*does not exist") as told:
        set_aside(failed.value, Files(spark))
    assert (told.value.hint, aside.exists()) == ("the next ingest tries it again", True)
    with pytest.raises(AnalysisException) as other:
        spark.sql("select nothing from nowhere")
    assert set_aside(other.value, Files(spark)) is None
