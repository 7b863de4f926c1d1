"""A damaged snapshot is reported and never answered from."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import fsspec
import pytest

from colline.errors import LakeError
from colline.graph import Lineage, lake_reader, open_lake
from colline.graph.snapshot.array_file import COPIED_FILES
from colline.graph.snapshot.publish import publish
from colline.graph.snapshot.staleness import is_published
from tests.graph.graph_lakes import shop

PLACES = 25


@pytest.fixture(scope="module")
def shop_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = shop().write(tmp_path_factory.mktemp("published") / "lake")
    publish(lake)
    return lake


@pytest.fixture
def lake(shop_lake: Path, tmp_path: Path) -> Path:
    """A copy of the snapshot without the tables, so that it cannot be published again."""
    without_marker = shutil.ignore_patterns("verified.json")  # other tests may have verified the original
    shutil.copytree(shop_lake / "snapshot", tmp_path / "lake" / "snapshot", ignore=without_marker)
    return tmp_path / "lake"


def answers(lake: Path) -> list[object]:
    with open_lake(lake) as lineage:
        found = [
            lineage.upstream("kpi.revenue", indirect=True),
            lineage.downstream("silver.customers.email", as_of="2026-01-20"),
            lineage.pii(tag="PII"),
            lineage.find("e"),
            lineage.unused(),
            lineage.overview(),
        ]
        return [answer.to_dict() for answer in found]


def snapshot_file(lake: Path, name: str) -> Path:
    folder = lake / "snapshot"
    return folder / "CURRENT" if name == "CURRENT" else folder / (folder / "CURRENT").read_text() / name


def flip_bit(path: Path, seed: int) -> None:
    content = bytearray(path.read_bytes())
    content[random.Random(seed).randrange(len(content))] ^= 1 << seed % 8
    path.write_bytes(content)


def truncate(path: Path, seed: int) -> None:
    os.truncate(path, random.Random(seed).randrange(path.stat().st_size))


@pytest.mark.parametrize("name", [*COPIED_FILES, "CURRENT"])
@pytest.mark.parametrize("damage", [flip_bit, truncate])
def test_damage_is_an_error_or_changes_no_answer(shop_lake: Path, lake: Path, name: str, damage: object) -> None:
    expected = answers(shop_lake)
    path = snapshot_file(lake, name)
    whole = path.read_bytes()
    errors = 0
    for seed in range(PLACES):
        path.write_bytes(whole)
        assert callable(damage)
        damage(path, seed)
        try:
            assert answers(lake) == expected
        except LakeError as error:
            errors += 1
            assert "colline ingest" in str(error.hint)
    assert errors >= PLACES // 2


@pytest.mark.parametrize("name", [*COPIED_FILES, "LOCK"])
def test_missing_file_is_an_error(lake: Path, name: str) -> None:
    snapshot_file(lake, name).unlink()
    with pytest.raises(LakeError, match="is missing or incomplete"):
        open_lake(lake)


@pytest.mark.parametrize("name", [*COPIED_FILES, "LOCK"])
def test_unreadable_file_is_an_error(lake: Path, name: str) -> None:
    path = snapshot_file(lake, name)
    path.unlink()
    path.mkdir()
    with pytest.raises(LakeError, match="cannot read the snapshot") as caught:
        open_lake(lake)
    assert "colline ingest" in str(caught.value.hint)


def test_pointer_with_any_bytes_is_an_error(lake: Path) -> None:
    for content in (b"\xff\xfe", b"\0", b"", b"../../etc", b"x" * 5000):
        (lake / "snapshot" / "CURRENT").write_bytes(content)
        with pytest.raises(LakeError, match="does not hold the name of a snapshot"):
            open_lake(lake)


def test_command_line_reports_damage_in_one_sentence(lake: Path) -> None:
    flip_bit(snapshot_file(lake, "arrays"), 1)
    command = [sys.executable, "-m", "colline", "upstream", "kpi.revenue", "--lake", str(lake)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == LakeError.exit_code and "Traceback" not in done.stderr
    assert "is damaged" in done.stderr and "colline ingest" in done.stderr


def test_damage_after_a_verification_is_found(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("colline.graph.snapshot.array_file._SETTLED_SECONDS", -1)
    answers(lake)
    path = snapshot_file(lake, "arrays")
    assert (path.parent / "verified.json").exists()
    time.sleep(0.05)  # longer than the resolution of the file system's time stamps
    flip_bit(path, 3)
    with pytest.raises(LakeError, match="is damaged"):
        open_lake(lake)


def test_verified_snapshot_is_not_read_again(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("colline.graph.snapshot.array_file._SETTLED_SECONDS", -1)
    answers(lake)
    checked: list[Path] = []
    monkeypatch.setattr("colline.graph.snapshot.array_file._checksum", checked.append)
    with pytest.raises(LakeError, match=r"meta\.json"):  # `meta.json` is small and always verified
        open_lake(lake)
    assert [path.name for path in checked] == ["meta.json"]


def test_new_snapshot_is_not_yet_marked_as_verified(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("colline.graph.snapshot.array_file._SETTLED_SECONDS", 600)
    answers(lake)
    assert not (snapshot_file(lake, "arrays").parent / "verified.json").exists()


def totals(lineage: Lineage) -> object:
    return lineage.upstream("kpi.revenue").totals


def test_open_lake_keeps_the_last_good_snapshot(tmp_path: Path) -> None:
    lake = shop().write(tmp_path / "lake")
    first = publish(lake)
    lineage = open_lake(lake)
    expected = totals(lineage)
    second = publish(lake)
    flip_bit(second.path / "arrays", 5)
    answer = lineage.upstream("kpi.revenue")
    assert (answer.snapshot, answer.totals) == (first.version, expected)
    assert "is damaged" in answer.unknown[0]["why"]
    third = publish(lake)
    answer = lineage.upstream("kpi.revenue")
    assert (answer.snapshot, answer.totals, answer.unknown) == (third.version, expected, ())


def test_damaged_snapshot_counts_as_not_published(tmp_path: Path) -> None:
    lake = shop().write(tmp_path / "lake")
    info = publish(lake)
    assert is_published(lake)
    flip_bit(info.path / "arrays", 7)
    assert not is_published(lake)  # so that `colline ingest` publishes again


def test_damaged_copy_of_a_remote_lake_is_copied_again(
    shop_lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(lake_reader, "_REMOTE_POLL_SECONDS", 0)
    files = fsspec.filesystem("memory")
    for path in (shop_lake / "snapshot").rglob("*"):
        if path.is_file():
            files.pipe_file(f"/damaged/lake/{path.relative_to(shop_lake).as_posix()}", path.read_bytes())
    try:
        expected = totals(open_lake("memory://damaged/lake"))
        [copy] = (tmp_path / "cache").rglob("arrays")
        flip_bit(copy, 11)
        assert totals(open_lake("memory://damaged/lake")) == expected
    finally:
        files.rm("/damaged", recursive=True)
