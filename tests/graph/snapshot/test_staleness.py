"""Tables that are newer than the snapshot: answers include their commits, or report that they are missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deltalake import DeltaTable

from colline.errors import CollineError, LakeError
from colline.graph import lake_reader, open_lake
from colline.graph.render.text import to_text
from colline.graph.snapshot import staleness
from colline.graph.snapshot.publish import publish
from tests.graph.graph_lakes import LakeWriter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTICE = "not in this answer; `colline ingest` publishes them"


def chain(lake: Path, *names: str) -> Path:
    writer = LakeWriter()
    for source, target in pairwise(names):
        writer.edge(source, target, "copy")
    return writer.write(lake)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake whose tables have a column `c` that the snapshot does not have; the last commit is a minute old."""
    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    publish(lake)
    chain(lake, "a.t.x", "b.t.x", "c.t.x")
    make_commits_old(lake)
    return lake


def make_commits_old(lake: Path) -> None:
    """Sets the time of all commits to a minute ago."""
    before = time.time() - 60
    for path in lake.rglob("_delta_log/*.json"):
        os.utime(path, (before, before))


def test_unpublished_commits_are_read_from_the_tables(lake: Path) -> None:
    there = sorted((lake / "snapshot").iterdir())
    answer = open_lake(lake).upstream("c.t.x")
    assert [c["label"] for c in answer.columns] == ["b.t.x", "a.t.x"]
    assert answer.unknown == () and "+" in answer.snapshot
    assert sorted((lake / "snapshot").iterdir()) == there  # a reader does not write to the lake


def test_unfinished_batch_is_reported_and_not_read(lake: Path) -> None:
    (lake / "_colline").mkdir()
    (lake / "_colline" / "pending").write_text("landing")
    answer = open_lake(lake).downstream("a.t.x")
    assert [c["label"] for c in answer.columns] == ["b.t.x"]
    assert NOTICE in to_text(answer) and NOTICE in answer.to_dict()["unknown"][0]["why"]
    with pytest.raises(CollineError, match="no column is called"):
        open_lake(lake).upstream("c.t.x")


def test_first_batch_cannot_be_queried_before_it_is_finished(tmp_path: Path) -> None:
    lake = chain(tmp_path / "lake", "a.t.x", "b.t.x")
    (lake / "_colline").mkdir()
    (lake / "_colline" / "pending").write_text("landing")
    with pytest.raises(LakeError, match="is running or was killed") as error:
        open_lake(lake)
    assert error.value.hint and not (lake / "snapshot").exists()
    (lake / "_colline" / "pending").unlink()
    assert open_lake(lake).upstream("b.t.x").totals["columns"] == 1


def test_recent_commit_is_reported_and_not_read(lake: Path) -> None:
    chain(lake, "a.t.x", "b.t.x", "c.t.x", "d.t.x")
    assert NOTICE in to_text(open_lake(lake).columns(roots=True))


def test_large_lakes_report_unpublished_commits(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staleness, "_MAX_ROWS", 1)
    for answer in (open_lake(lake).find("x"), open_lake(lake).overview(), open_lake(lake).columns(top=9)):
        assert NOTICE in answer.unknown[0]["why"]
    publish(lake)
    assert open_lake(lake).find("x").unknown == ()


def test_unreadable_logs_and_missing_files_are_reported(lake: Path) -> None:
    newest = max((lake / "gold/edges/_delta_log").glob("*.json"))
    text = newest.read_text()
    newest.write_text("no json")
    assert NOTICE in to_text(open_lake(lake).columns(roots=True))
    newest.write_text(text)
    make_commits_old(lake)
    for path in (lake / "gold/edges").glob("*.parquet"):
        path.unlink()
    assert NOTICE in to_text(open_lake(lake).columns(roots=True))


def test_open_lake_follows_commits_and_snapshots(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lake_reader, "_TABLES_POLL_SECONDS", 0)
    lineage = open_lake(lake)
    first = lineage.columns(roots=True)
    cursor = lineage.find("x", limit=1).cursor
    chain(lake, "a.t.x", "b.t.x", "c.t.x", "d.t.x")
    assert NOTICE in lineage.columns(roots=True).unknown[0]["why"]
    make_commits_old(lake)
    second = lineage.upstream("d.t.x")
    assert second.totals["columns"] == 3 and second.snapshot != first.snapshot
    with pytest.raises(CollineError, match="newer snapshot was published"):
        lineage.find("x", limit=1, cursor=cursor)
    third = publish(lake).version
    assert (lineage.upstream("d.t.x").snapshot, lineage.missing_commits) == (third, None)


def test_compaction_does_not_count(lake: Path) -> None:
    publish(lake)
    table = DeltaTable(str(lake / "gold/edges"))
    chain(lake / "other", "p.t.x", "q.t.x")
    before = table.version()
    table.optimize.z_order(["source_id"])
    assert table.version() > before
    assert staleness.is_published(lake) and open_lake(lake).columns(roots=True).unknown == ()


def test_copied_snapshot_needs_no_tables(lake: Path, tmp_path: Path) -> None:
    shutil.copytree(lake / "snapshot", tmp_path / "copy" / "snapshot")
    assert open_lake(tmp_path / "copy").upstream("b.t.x").unknown == ()


def test_commits_of_a_running_rebuild_do_not_count(lake: Path) -> None:
    publish(lake)
    edges = DeltaTable(str(lake / "gold/edges"))
    (lake / "_colline").mkdir(exist_ok=True)
    (lake / "_colline/rebuild.json").write_text(json.dumps({"gold/edges": edges.version()}))
    edges.delete()
    assert (
        staleness.versions_before_rebuild('{"gold/jobs": null}')("gold/jobs") == -1
    )  # its first commit is the rebuild's
    assert open_lake(lake).upstream("b.t.x").unknown == () and staleness.is_inconsistent(lake)
    (lake / "_colline/rebuild.json").unlink()
    assert not staleness.is_published(lake)


@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.skipif(os.environ.get("COLLINE_FAULTS") != "all", reason="takes a minute: make pipeline-faults")
def test_next_ingest_publishes_after_a_killed_one_and_after_damage(spark: SparkSession, tmp_path: Path) -> None:
    from colline.pipeline.ingest import ingest
    from tests.lakes import dataset, event, lake_of, lineage, source

    def copy(run: str, here: str, there: str) -> dict[str, object]:
        facet = lineage(x=[source(here, "x")])
        ends = {"inputs": [dataset(here, "x int")], "outputs": [dataset(there, "x int", columnLineage=facet)]}
        return event("COMPLETE", "2026-11-15T10:00:00Z", run=run, job=f"jobs/{run}", **ends)

    lake = lake_of(spark, tmp_path / "lake", [copy("one", "shop/a", "shop/b")], [copy("two", "shop/b", "shop/c")])
    older, newer = sorted(path.name for path in (lake / "snapshot").iterdir() if path.is_dir())
    (lake / "snapshot" / "CURRENT").write_text(older)
    shutil.rmtree(lake / "snapshot" / newer)
    make_commits_old(lake)
    command = [sys.executable, "-m", "colline", "upstream", "c.x", "--lake", str(lake), "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert [c["label"] for c in found["columns"]] == ["b.x", "a.x"] and found["snapshot"].startswith(f"{older}+")
    again = ingest(str(lake), spark=spark)
    assert again.batches == 0 and again.snapshot is not None
    assert open_lake(lake).upstream("c.x").snapshot == again.snapshot
    (lake / "snapshot" / again.snapshot / "arrays").write_bytes(b"damaged")
    repaired = ingest(str(lake), spark=spark)
    assert repaired.snapshot not in (None, again.snapshot)
    assert open_lake(lake).upstream("c.x").snapshot == repaired.snapshot
