"""Files written through a real Hadoop file system in the session's JVM."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.capture.hadoop_writer import HadoopFileWriter, files_for
from colline.config import settings_from, transport_from
from colline.errors import SettingError, TransportError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_file_is_complete_and_leaves_no_temporary_file(spark: SparkSession, tmp_path: Path) -> None:
    data = b"\x00\xff line\n" * 100_000
    HadoopFileWriter(spark, f"file://{tmp_path}").write_atomically(f"file://{tmp_path}/dt=2026-01-01/a b.ndjson", data)
    names = {path.name for path in (tmp_path / "dt=2026-01-01").iterdir() if not path.name.endswith(".crc")}
    assert names == {"a b.ndjson"}
    assert (tmp_path / "dt=2026-01-01" / "a b.ndjson").read_bytes() == data


def test_reader_never_sees_a_partial_file(spark: SparkSession, tmp_path: Path) -> None:
    """A reader lists the folder continuously while large files are written."""
    base, size, seen, over = f"file://{tmp_path}", 3_000_000, set(), threading.Event()

    def record_sizes() -> None:
        while not over.is_set():
            seen.update(path.stat().st_size for path in tmp_path.rglob("*.ndjson") if not path.name.startswith("."))

    reader = threading.Thread(target=record_sizes)
    reader.start()
    files = HadoopFileWriter(spark, base)
    for number in range(10):
        files.write_atomically(f"{base}/{number}.ndjson", b"x" * size)
    over.set()
    reader.join()
    assert seen <= {size}
    assert seen


def test_writing_the_same_file_twice_leaves_one_file(spark: SparkSession, tmp_path: Path) -> None:
    base = f"file://{tmp_path}"
    files = HadoopFileWriter(spark, base)
    files.write_atomically(f"{base}/a.ndjson", b"1\n")
    files.write_atomically(f"{base}/a.ndjson", b"1\n")
    assert [path.name for path in tmp_path.glob("[!.]*")] == ["a.ndjson"]


def test_spark_reads_files_of_the_lake_transport(spark: SparkSession, tmp_path: Path) -> None:
    """Uses the session's `file:` file system; other schemes such as `viewfs` use the same code."""
    from colline.transport import BatchingTransport
    from colline.transport.sinks.lake_sink import LakeSink

    base = f"file://{tmp_path}/my lake"
    transport = BatchingTransport("lake", LakeSink(base, "landing", files_for(spark)(base)))
    for number in range(120):
        transport.emit({"n": number})
    transport.close(20)
    assert transport.stats.sent == 120
    rows = spark.read.json(f"{base}/landing").select("n").collect()
    assert sorted(row.n for row in rows) == list(range(120))


def test_scheme_configured_only_in_the_session_is_written(spark: SparkSession, tmp_path: Path) -> None:
    """The mount table of `viewfs` exists only in the session's Hadoop configuration."""
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    configuration.set("fs.viewfs.mounttable.colline.link./data", f"file://{tmp_path}")
    settings = settings_from({"lake": "viewfs://colline/data/lake"}, environ={})
    transport = transport_from(settings, files_for(spark))
    for number in range(60):
        transport.emit({"n": number})
    transport.close(30)
    assert transport.stats.sent == 60
    paths = [path for path in (tmp_path / "lake" / "landing").rglob("*.ndjson") if not path.name.startswith(".")]
    assert sorted(len(path.read_text().splitlines()) for path in paths) == [10, 50]
    assert list((tmp_path / "lake").rglob("*.part")) == []


def test_unknown_scheme_is_an_error(spark: SparkSession) -> None:
    settings = settings_from({"transport": {"type": "lake", "base": "nosuch://somewhere/lake"}}, environ={})
    with pytest.raises(TransportError, match="nosuch"):
        transport_from(settings, files_for(spark))


def test_onelake_without_a_session_is_an_error() -> None:
    settings = settings_from({"transport": {"type": "lake", "workspace": "Sales", "lakehouse": "Bronze"}}, environ={})
    with pytest.raises(TransportError, match="no Spark session"):
        transport_from(settings)


def test_onelake_names_and_guids_cannot_be_mixed() -> None:
    guid = "0f5e6a2c-1111-2222-3333-444455556666"
    settings = settings_from({"transport": {"type": "lake", "workspace": guid, "lakehouse": "Bronze"}}, environ={})
    with pytest.raises(SettingError, match="not one of each"):
        transport_from(settings)
