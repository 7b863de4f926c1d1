"""Files written by the session's JVM, on a real Hadoop file system."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.capture.hadoop_writer import HadoopFiles, files_for
from colline.config import settings_from, transport_from
from colline.errors import SettingError, TransportError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_a_file_is_whole_under_its_name_and_nothing_else_stays(spark: SparkSession, tmp_path: Path) -> None:
    data = b"\x00\xff line\n" * 100_000
    HadoopFiles(spark, f"file://{tmp_path}").write_whole(f"file://{tmp_path}/dt=2026-01-01/a b.ndjson", data)
    names = {path.name for path in (tmp_path / "dt=2026-01-01").iterdir() if not path.name.endswith(".crc")}
    assert names == {"a b.ndjson"}
    assert (tmp_path / "dt=2026-01-01" / "a b.ndjson").read_bytes() == data


def test_a_reader_never_sees_half_a_file(spark: SparkSession, tmp_path: Path) -> None:
    """A reader that looks all the time while large files are written."""
    base, size, seen, over = f"file://{tmp_path}", 3_000_000, set(), threading.Event()

    def look() -> None:
        while not over.is_set():
            seen.update(path.stat().st_size for path in tmp_path.rglob("*.ndjson") if not path.name.startswith("."))

    reader = threading.Thread(target=look)
    reader.start()
    files = HadoopFiles(spark, base)
    for number in range(10):
        files.write_whole(f"{base}/{number}.ndjson", b"x" * size)
    over.set()
    reader.join()
    assert seen <= {size}
    assert seen


def test_the_same_file_twice_is_there_once(spark: SparkSession, tmp_path: Path) -> None:
    base = f"file://{tmp_path}"
    files = HadoopFiles(spark, base)
    files.write_whole(f"{base}/a.ndjson", b"1\n")
    files.write_whole(f"{base}/a.ndjson", b"1\n")
    assert [path.name for path in tmp_path.glob("[!.]*")] == ["a.ndjson"]


def test_spark_reads_what_the_lake_transport_wrote_through_the_session(spark: SparkSession, tmp_path: Path) -> None:
    """`viewfs` and other schemes take the same road; here the session's own `file:` file system does."""
    from colline.transport import Carrier
    from colline.transport.lake_sink import LakeSink

    base = f"file://{tmp_path}/my lake"
    carrier = Carrier("lake", LakeSink(base, "landing", files_for(spark)(base)))
    for number in range(120):
        carrier.emit({"n": number})
    carrier.close(20)
    assert carrier.stats.sent == 120
    rows = spark.read.json(f"{base}/landing").select("n").collect()
    assert sorted(row.n for row in rows) == list(range(120))


def test_a_scheme_only_the_session_knows_is_written_with_its_configuration(spark: SparkSession, tmp_path: Path) -> None:
    """`viewfs` exists nowhere but in the session's Hadoop configuration: the mount is made there."""
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


def test_an_address_the_session_does_not_know_is_a_loud_error(spark: SparkSession) -> None:
    settings = settings_from({"transport": {"type": "lake", "base": "nosuch://somewhere/lake"}}, environ={})
    with pytest.raises(TransportError, match="nosuch"):
        transport_from(settings, files_for(spark))


def test_onelake_without_a_session_is_a_loud_error() -> None:
    settings = settings_from({"transport": {"type": "lake", "workspace": "Sales", "lakehouse": "Bronze"}}, environ={})
    with pytest.raises(TransportError, match="no Spark session"):
        transport_from(settings)


def test_onelake_takes_two_names_or_two_guids() -> None:
    guid = "0f5e6a2c-1111-2222-3333-444455556666"
    settings = settings_from({"transport": {"type": "lake", "workspace": guid, "lakehouse": "Bronze"}}, environ={})
    with pytest.raises(SettingError, match="not one of each"):
        transport_from(settings)
