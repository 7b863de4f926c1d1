"""A lake in an S3-compatible store: its snapshot is published there and opened elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from colline.errors import LakeError
from colline.graph import lake_reader, open_lake
from colline.graph.snapshot import remote_publish
from colline.graph.snapshot.remote_publish import is_published_remotely, publish_remote
from colline.lake.location import fsspec_filesystem
from tests.graph.graph_lakes import LakeWriter, shop
from tests.object_store import object_store, upload

_numbers = count()


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    with object_store("lakes") as endpoint:
        yield endpoint


@pytest.fixture
def address(store: str) -> str:
    """The address of an empty folder, as Spark spells it."""
    return f"s3a://lakes/a team/{next(_numbers)}"


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lake_reader, "_REMOTE_POLL_SECONDS", 0)
    move_to(tmp_path / "writer", monkeypatch)


def move_to(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine: nothing was copied to it yet."""
    monkeypatch.setenv("COLLINE_CACHE", str(home))


def names(address: str, folder: str) -> list[str]:
    files, root = fsspec_filesystem(address)
    return sorted(path.rpartition("/")[2] for path in files.ls(f"{root}/{folder}", detail=False))


def grow(lake: Path, length: int) -> None:
    """A lake with one chain of columns of this length."""
    writer = LakeWriter()
    for number in range(length):
        writer.edge(f"a.t{number}.x", f"a.t{number + 1}.x", "copy")
    writer.write(lake)


def test_snapshot_is_published_in_the_store_and_opened_on_another_machine(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = shop().write(tmp_path / "lake")
    upload(lake, address)
    assert not is_published_remotely(address)
    published = publish_remote(address)
    assert names(address, "snapshot") == [published.version, "CURRENT"]
    assert is_published_remotely(address)
    move_to(tmp_path / "reader", monkeypatch)
    with open_lake(address) as remote, open_lake(lake) as local:
        assert remote.upstream("kpi.revenue").snapshot == published.version
        assert remote.upstream("kpi.revenue").columns == local.upstream("kpi.revenue").columns
    assert not list((tmp_path / "reader").rglob("*.parquet"))  # only the published version was copied
    assert len(list((tmp_path / "reader").rglob("arrays"))) == 1


def test_open_lake_switches_to_the_next_published_version(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(tmp_path / "lake", 1)
    upload(tmp_path / "lake", address)
    publish_remote(address)
    lineage = open_lake(address)
    grow(tmp_path / "lake", 2)
    upload(tmp_path / "lake", address)
    assert "not in this answer" in lineage.upstream("a.t1.x").unknown[0]["why"]
    assert not is_published_remotely(address)
    second = publish_remote(address)
    answer = lineage.upstream("a.t2.x")
    assert (answer.snapshot, answer.totals["columns"], answer.unknown) == (second.version, 2, ())


def test_replaced_versions_stay_until_readers_have_copied_them(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(tmp_path / "lake", 1)
    upload(tmp_path / "lake", address)
    versions = [publish_remote(address).version for _ in range(4)]
    assert names(address, "snapshot") == [*versions, "CURRENT"]
    monkeypatch.setattr(remote_publish, "KEPT_MINUTES", 0)
    versions.append(publish_remote(address).version)
    assert names(address, "snapshot") == [*versions[-2:], "CURRENT"]


def test_upload_that_is_interrupted_leaves_the_previous_version(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from colline.lake.remote_files import FsspecFiles

    grow(tmp_path / "lake", 1)
    upload(tmp_path / "lake", address)
    first = publish_remote(address)
    grow(tmp_path / "lake", 2)
    upload(tmp_path / "lake", address)

    class LostConnection(FsspecFiles):
        def upload(self, source: Path, path: str) -> None:
            if path.endswith("meta.json"):
                raise ConnectionError("the store does not respond")
            super().upload(source, path)

    with pytest.raises(LakeError, match=r"cannot publish s3a://.*: the store does not respond"):
        publish_remote(address, LostConnection(address))
    assert open_lake(address).upstream("a.t1.x").snapshot == first.version
    move_to(tmp_path / "reader", monkeypatch)
    assert open_lake(address).upstream("a.t1.x").snapshot == first.version


def test_damaged_upload_is_an_error_and_is_not_opened(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(tmp_path / "lake", 1)
    upload(tmp_path / "lake", address)
    version = publish_remote(address).version
    files, root = fsspec_filesystem(address)
    path = f"{root}/snapshot/{version}/arrays"
    files.pipe_file(path, files.cat_file(path)[:-100] + bytes(100 * [7]))
    move_to(tmp_path / "reader", monkeypatch)
    with pytest.raises(LakeError, match="arrays was truncated or changed"):
        open_lake(address)


def test_table_that_was_created_again_replaces_its_copy(tmp_path: Path, address: str) -> None:
    grow(tmp_path / "one", 3)
    upload(tmp_path / "one", address)
    publish_remote(address)
    files, root = fsspec_filesystem(address)
    files.rm(root, recursive=True)
    grow(tmp_path / "two", 1)
    upload(tmp_path / "two", address)
    assert publish_remote(address).columns == 2


def test_commands_read_a_lake_in_the_store(tmp_path: Path, address: str) -> None:
    upload(shop().write(tmp_path / "lake"), address)
    publish_remote(address)
    done = subprocess.run(
        [sys.executable, "-m", "colline", "upstream", "kpi.revenue", "--json", "--lake", address],
        capture_output=True, text=True, check=True, env=os.environ | {"COLLINE_CACHE": str(tmp_path / "reader")},
    )  # fmt: skip
    assert json.loads(done.stdout)["totals"]["columns"] == 3


def test_bucket_that_cannot_be_read_is_an_error_with_a_hint(store: str) -> None:
    with pytest.raises(LakeError, match="s3a://nobodys/lake") as error:
        open_lake("s3a://nobodys/lake")
    assert error.value.hint
