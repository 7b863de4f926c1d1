"""Lakes that are not on this machine, by real fsspec file systems: one in memory, one by an address of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import fsspec
import pytest
from deltalake import write_deltalake

from colline.errors import LakeError
from colline.graph import lake_reader, open_lake
from colline.graph.snapshot.publish import publish
from tests.graph.graph_lakes import LakeWriter, shop


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(lake_reader, "_REMOTE_POLL_SECONDS", 0)
    return tmp_path / "cache"


@pytest.fixture
def there() -> Iterator[str]:
    """An empty address in memory."""
    files = fsspec.filesystem("memory")
    yield "memory://far/lake"
    files.rm("/far", recursive=True)


def chain(lake: Path, *names: str) -> Path:
    writer = LakeWriter()
    for source, target in pairwise(names):
        writer.edge(source, target, "copy")
    return writer.write(lake)


def put(lake: Path, address: str, folder: str = "") -> None:
    """Make the address hold what the lake holds."""
    files = fsspec.filesystem("memory")
    root = "/" + address.partition("://")[2]
    for path in sorted((lake / folder).rglob("*")):
        if path.is_file():
            files.pipe_file(f"{root}/{path.relative_to(lake).as_posix()}", path.read_bytes())


def test_a_published_snapshot_is_copied_once_and_a_newer_one_taken_up(tmp_path: Path, there: str, cache: Path) -> None:
    lake = shop().write(tmp_path / "lake")
    first = publish(lake)
    put(lake, there, "snapshot")
    lineage = open_lake(there)
    with open_lake(lake) as at_home:
        assert lineage.upstream("kpi.revenue").to_dict() == at_home.upstream("kpi.revenue").to_dict()
    copied = list(cache.rglob("arrays"))
    before = copied[0].stat().st_ino
    assert open_lake(there).find("email").snapshot == first.version
    assert [path.stat().st_ino for path in cache.rglob("arrays")] == [before]
    chain(lake, "a.t.x", "b.t.x")
    second = publish(lake)
    put(lake, there, "snapshot")
    assert lineage.upstream("b.t.x").snapshot == second.version


def test_tables_without_a_snapshot_are_copied_and_published_here(tmp_path: Path, there: str, cache: Path) -> None:
    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    chain(lake, "a.t.x", "b.t.x", "c.t.x")  # overwritten: the files of the first commit do not count any more
    put(lake, there)
    lineage = open_lake(there)
    assert [c["label"] for c in lineage.upstream("c.t.x").columns] == ["b.t.x", "a.t.x"]
    assert not fsspec.filesystem("memory").exists("/far/lake/snapshot")  # a reader writes nothing
    here, all_files = (len(list(place.rglob("*.parquet"))) for place in (cache, lake))
    assert here < all_files
    chain(lake, "a.t.x", "b.t.x", "c.t.x", "d.t.x")
    put(lake, there)
    assert lineage.upstream("d.t.x").totals["columns"] == 3


def test_runs_and_quarantine_are_brought_when_asked_for(tmp_path: Path, there: str) -> None:
    import pyarrow as pa

    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    publish(lake)
    line = pa.table({"reason": ["no json"], "line": ["{"], "file": ["f"], "position": [1]})
    write_deltalake(str(lake / "bronze/quarantine"), line)
    put(lake, there)
    lineage = open_lake(there)
    assert lineage.quarantine().totals["rows"] == lineage.overview().health["quarantined"] == 1


def test_tables_over_there_that_are_newer_than_their_snapshot_are_told(tmp_path: Path, there: str) -> None:
    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    publish(lake)
    put(lake, there)
    lineage = open_lake(there)
    assert lineage.upstream("b.t.x").unknown == ()
    chain(lake, "a.t.x", "b.t.x", "c.t.x")
    put(lake, there)
    for asked in (lineage, open_lake(there)):
        told = asked.upstream("b.t.x").unknown
        assert [row["what"] for row in told] == ["newest events"]
        assert "newer commits of the lake's tables are not in this answer" in told[0]["why"]
    publish(lake)
    put(lake, there, "snapshot")
    assert lineage.upstream("c.t.x").unknown == ()


def test_a_lake_that_cannot_be_reached_any_more_is_answered_from_what_is_here(tmp_path: Path, there: str) -> None:
    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    publish(lake)
    put(lake, there, "snapshot")
    lineage = open_lake(there)
    files = fsspec.filesystem("memory")
    files.mv("/far/lake", "/far/moved", recursive=True)
    answer = lineage.upstream("b.t.x")
    assert answer.totals["columns"] == 1 and "no lake at memory://far/lake" in answer.unknown[0]["why"]
    files.mv("/far/moved", "/far/lake", recursive=True)
    assert lineage.upstream("b.t.x").unknown == ()


def test_the_command_line_takes_an_address(tmp_path: Path, cache: Path) -> None:
    lake = shop().write(tmp_path / "lake")
    publish(lake)
    shutil.rmtree(lake / "gold")  # the snapshot is all that is needed
    done = subprocess.run(
        [sys.executable, "-m", "colline", "upstream", "kpi.revenue", "--json", "--lake", f"local://{lake}"],
        capture_output=True, text=True, check=True, env=os.environ | {"COLLINE_CACHE": str(cache)},
    )  # fmt: skip
    assert json.loads(done.stdout)["totals"]["columns"] == 3


def test_an_agent_asks_a_lake_elsewhere(tmp_path: Path, there: str) -> None:
    from colline.mcp.tools import Answers

    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    publish(lake)
    put(lake, there, "snapshot")
    assert Answers(there).call("upstream", {"column": "b.t.x"})["totals"]["columns"] == 1


@pytest.mark.parametrize(
    ("address", "said"),
    [("memory://far/nowhere", "no lake at memory://far/nowhere"), ("nope://x/y", "cannot open nope://x/y")],
)
def test_an_address_without_a_lake_is_one_sentence_with_a_hint(there: str, address: str, said: str) -> None:
    fsspec.filesystem("memory").pipe_file("/far/else", b"")
    with pytest.raises(LakeError, match=said) as error:
        open_lake(address)
    assert error.value.hint and error.value.exit_code == 3


def test_a_snapshots_name_from_over_there_reaches_no_other_folder(there: str, cache: Path) -> None:
    fsspec.filesystem("memory").pipe_file("/far/lake/snapshot/CURRENT", b"../../../etc")
    with pytest.raises(LakeError, match="does not hold the name of a snapshot"):
        open_lake(there)


@pytest.mark.parametrize("up", ["../../../../", "..%2F..%2F..%2F..%2F", "/", "file:///", "memory://"])
def test_a_files_name_from_over_there_reaches_no_other_folder(tmp_path: Path, there: str, cache: Path, up: str) -> None:
    files = fsspec.filesystem("memory")
    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    log = lake / "gold/edges/_delta_log/00000000000000000000.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            line["add"]["path"] = f"{up}outside.parquet"
    log.write_text("\n".join(map(json.dumps, lines)))
    put(lake, there)
    files.pipe_file("/outside.parquet", b"x")
    with pytest.raises(LakeError, match=r"cannot read memory://far/lake: .*/gold/edges/.*outside.parquet"):
        open_lake(there)
    assert not list(tmp_path.rglob("outside.parquet"))
