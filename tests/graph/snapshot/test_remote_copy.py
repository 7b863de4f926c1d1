"""Remote lakes, read through fsspec file systems: in memory and local."""

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
def address() -> Iterator[str]:
    """The address of an empty folder in memory."""
    files = fsspec.filesystem("memory")
    yield "memory://far/lake"
    files.rm("/far", recursive=True)


def chain(lake: Path, *names: str) -> Path:
    writer = LakeWriter()
    for source, target in pairwise(names):
        writer.edge(source, target, "copy")
    return writer.write(lake)


def put(lake: Path, address: str, folder: str = "") -> None:
    """Uploads the files of a lake."""
    files = fsspec.filesystem("memory")
    root = "/" + address.partition("://")[2]
    for path in sorted((lake / folder).rglob("*")):
        if path.is_file():
            files.pipe_file(f"{root}/{path.relative_to(lake).as_posix()}", path.read_bytes())


def test_snapshot_is_copied_once_per_version(tmp_path: Path, address: str, cache: Path) -> None:
    lake = shop().write(tmp_path / "lake")
    first = publish(lake)
    put(lake, address, "snapshot")
    lineage = open_lake(address)
    with open_lake(lake) as local:
        assert lineage.upstream("kpi.revenue").to_dict() == local.upstream("kpi.revenue").to_dict()
    copied = list(cache.rglob("arrays"))
    before = copied[0].stat().st_ino
    assert open_lake(address).find("email").snapshot == first.version
    assert [path.stat().st_ino for path in cache.rglob("arrays")] == [before]
    chain(lake, "a.t.x", "b.t.x")
    second = publish(lake)
    put(lake, address, "snapshot")
    assert lineage.upstream("b.t.x").snapshot == second.version


def test_tables_without_a_snapshot_are_copied_and_published_locally(tmp_path: Path, address: str, cache: Path) -> None:
    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    chain(lake, "a.t.x", "b.t.x", "c.t.x")  # the files of the first commit are no longer current
    put(lake, address)
    lineage = open_lake(address)
    assert [c["label"] for c in lineage.upstream("c.t.x").columns] == ["b.t.x", "a.t.x"]
    assert not fsspec.filesystem("memory").exists("/far/lake/snapshot")  # a reader writes nothing
    here, all_files = (len(list(place.rglob("*.parquet"))) for place in (cache, lake))
    assert here < all_files
    chain(lake, "a.t.x", "b.t.x", "c.t.x", "d.t.x")
    put(lake, address)
    assert lineage.upstream("d.t.x").totals["columns"] == 3


def test_runs_and_quarantine_are_copied_on_demand(tmp_path: Path, address: str) -> None:
    import pyarrow as pa

    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    publish(lake)
    line = pa.table({"reason": ["no json"], "line": ["{"], "file": ["f"], "position": [1]})
    write_deltalake(str(lake / "bronze/quarantine"), line)
    put(lake, address)
    lineage = open_lake(address)
    assert lineage.quarantine().totals["rows"] == lineage.overview().health["quarantined"] == 1


def test_remote_commits_without_a_snapshot_are_reported(tmp_path: Path, address: str) -> None:
    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    publish(lake)
    put(lake, address)
    lineage = open_lake(address)
    assert lineage.upstream("b.t.x").unknown == ()
    chain(lake, "a.t.x", "b.t.x", "c.t.x")
    put(lake, address)
    for reader in (lineage, open_lake(address)):
        unknown = reader.upstream("b.t.x").unknown
        assert [row["what"] for row in unknown] == ["newest events"]
        assert "newer commits of the lake's tables are not in this answer" in unknown[0]["why"]
    publish(lake)
    put(lake, address, "snapshot")
    assert lineage.upstream("c.t.x").unknown == ()


def test_unreachable_lake_is_answered_from_the_copy(tmp_path: Path, address: str) -> None:
    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    publish(lake)
    put(lake, address, "snapshot")
    lineage = open_lake(address)
    files = fsspec.filesystem("memory")
    files.mv("/far/lake", "/far/moved", recursive=True)
    answer = lineage.upstream("b.t.x")
    assert answer.totals["columns"] == 1 and "no lake at memory://far/lake" in answer.unknown[0]["why"]
    files.mv("/far/moved", "/far/lake", recursive=True)
    assert lineage.upstream("b.t.x").unknown == ()


def test_command_line_accepts_an_address(tmp_path: Path, cache: Path) -> None:
    lake = shop().write(tmp_path / "lake")
    publish(lake)
    shutil.rmtree(lake / "gold")  # only the snapshot is needed
    done = subprocess.run(
        [sys.executable, "-m", "colline", "upstream", "kpi.revenue", "--json", "--lake", f"local://{lake}"],
        capture_output=True, text=True, check=True, env=os.environ | {"COLLINE_CACHE": str(cache)},
    )  # fmt: skip
    assert json.loads(done.stdout)["totals"]["columns"] == 3


def test_mcp_tools_read_a_remote_lake(tmp_path: Path, address: str) -> None:
    from colline.mcp.tools import LakeTools

    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    publish(lake)
    put(lake, address, "snapshot")
    assert LakeTools(address).reply("trace", {"column": ["b.t.x"]}).content["totals"]["columns"] == 1


@pytest.mark.parametrize(
    ("other", "message"),
    [("memory://far/nowhere", "no lake at memory://far/nowhere"), ("nope://x/y", "cannot open nope://x/y")],
)
def test_address_without_a_lake_is_an_error_with_a_hint(address: str, other: str, message: str) -> None:
    fsspec.filesystem("memory").pipe_file("/far/else", b"")
    with pytest.raises(LakeError, match=message) as error:
        open_lake(other)
    assert error.value.hint and error.value.exit_code == 3


def test_remote_snapshot_name_cannot_leave_the_cache(address: str, cache: Path) -> None:
    fsspec.filesystem("memory").pipe_file("/far/lake/snapshot/CURRENT", b"../../../etc")
    with pytest.raises(LakeError, match="does not hold the name of a snapshot"):
        open_lake(address)


@pytest.mark.parametrize("up", ["../../../../", "..%2F..%2F..%2F..%2F", "/", "file:///", "memory://"])
def test_remote_file_name_cannot_leave_the_cache(tmp_path: Path, address: str, cache: Path, up: str) -> None:
    files = fsspec.filesystem("memory")
    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    log = lake / "gold/edges/_delta_log/00000000000000000000.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            line["add"]["path"] = f"{up}outside.parquet"
    log.write_text("\n".join(map(json.dumps, lines)))
    put(lake, address)
    files.pipe_file("/outside.parquet", b"x")
    with pytest.raises(LakeError, match=r"cannot read memory://far/lake: .*/gold/edges/.*outside.parquet"):
        open_lake(address)
    assert not list(tmp_path.rglob("outside.parquet"))
