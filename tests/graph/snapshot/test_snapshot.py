"""Publishing snapshots, reading them while they are replaced, and deleting old ones."""

from __future__ import annotations

import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import pytest

from colline.errors import CollineError, LakeError
from colline.flat.flat_tables import SNAPSHOT_TABLES
from colline.graph import open_lake
from colline.graph.snapshot import array_file
from colline.graph.snapshot.publish import compose, publish
from tests.graph.graph_lakes import LakeWriter, shop


def chain(*names: str) -> LakeWriter:
    lake = LakeWriter()
    for source, target in pairwise(names):
        lake.edge(source, target, "copy")
    return lake


def test_snapshot_records_its_table_versions(tmp_path: Path) -> None:
    lake = shop().write(tmp_path / "lake")
    info = publish(lake)
    assert (info.columns, info.edges) == (23, 20)
    assert info.tables == {table.path: 0 for table in SNAPSHOT_TABLES}
    assert open_lake(lake).overview().health["tables"] == info.tables


def test_open_lake_switches_to_a_newer_snapshot(tmp_path: Path) -> None:
    lake = chain("a.t.x", "b.t.x").write(tmp_path / "lake")
    lineage = open_lake(lake)
    first = lineage.upstream("b.t.x")
    chain("a.t.x", "b.t.x", "c.t.x").write(lake)
    publish(lake)
    second = lineage.upstream("c.t.x")
    assert [c["label"] for c in second.columns] == ["b.t.x", "a.t.x"]
    assert first.snapshot != second.snapshot


def test_cursor_of_an_older_snapshot_is_refused(tmp_path: Path) -> None:
    lake = chain("a.t.x", "b.t.x", "c.t.x", "d.t.x").write(tmp_path / "lake")
    lineage = open_lake(lake)
    cursor = lineage.upstream("d.t.x", limit=1).cursor
    assert [c["label"] for c in lineage.upstream("d.t.x", limit=1, cursor=cursor).columns] == ["b.t.x"]
    publish(lake)
    with pytest.raises(CollineError, match="newer snapshot was published"):
        lineage.upstream("d.t.x", limit=1, cursor=cursor)
    with pytest.raises(CollineError, match="is not a cursor"):
        lineage.upstream("d.t.x", cursor="nonsense")


def test_old_snapshots_are_deleted_unless_in_use(tmp_path: Path) -> None:
    lake = chain("a.t.x", "b.t.x").write(tmp_path / "lake")
    held = publish(lake).version
    code = (
        "import sys, colline; lineage = colline.open(sys.argv[1]); print('ready', flush=True); sys.stdin.readline(); "
        "print(lineage._view.columns(lineage._view.names.resolve(['b.t.x']))[0]['label'])"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", code, str(lake)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert reader.stdout is not None and reader.stdin is not None
    assert reader.stdout.readline() == "ready\n"
    later = [publish(lake).version for _ in range(4)]
    kept = sorted(p.name for p in (lake / "snapshot").iterdir() if p.is_dir())
    assert kept == sorted([held, *later[-2:]])
    reader.stdin.write("\n")
    reader.stdin.close()
    assert reader.stdout.read() == "b.t.x\n" and reader.wait() == 0
    publish(lake)
    assert held not in {p.name for p in (lake / "snapshot").iterdir()}


def test_no_answer_mixes_two_snapshots(tmp_path: Path) -> None:
    """The columns of a snapshot have the same number in their names, so an answer with two numbers mixed two."""
    lake = tmp_path / "lake"
    writers = [chain(*(f"t{place}.n{number}.x" for place in range(5))) for number in range(2)]
    writers[0].write(lake)
    lineage = open_lake(lake)
    stop = threading.Event()

    def replace() -> None:
        for turn in range(6):
            writers[(turn + 1) % 2].write(lake)
            publish(lake)
        stop.set()

    thread = threading.Thread(target=replace)
    thread.start()
    seen = set()
    while not stop.is_set():
        answer = lineage.columns(leaves=True)
        numbers = {row["label"].split(".")[1] for row in answer.rows}
        assert len(numbers) == 1
        seen |= numbers
    thread.join()
    assert seen == {"n0", "n1"}


def test_missing_lake_empty_lake_and_newer_format_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LakeError, match="no lake at"):
        open_lake(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(LakeError, match="is empty") as error:
        open_lake(tmp_path / "empty")
    assert error.value.exit_code == 3 and "colline ingest" in str(error.value.hint)
    lake = chain("a.t.x", "b.t.x").write(tmp_path / "lake")
    monkeypatch.setattr(array_file, "FORMAT", 99)
    publish(lake)
    monkeypatch.undo()
    with pytest.raises(LakeError, match="has format 99") as error:
        open_lake(lake)
    assert "upgrade colline" in str(error.value.hint)


def test_lake_with_empty_tables_gives_answers(tmp_path: Path) -> None:
    lineage = open_lake(LakeWriter().write(tmp_path / "lake"))
    assert lineage.find("x").rows == []
    assert lineage.overview().totals == {"columns": 0, "datasets": 0, "jobs": 0, "edges": 0}
    assert lineage.unused().rows == lineage.columns(top=9).rows == lineage.coverage().rows == []
    assert lineage.diff("2026-01-01").verdict == "nothing changed"
    with pytest.raises(CollineError, match="no column is called"):
        lineage.upstream("x")


def test_lake_without_a_snapshot_is_published_on_opening(tmp_path: Path) -> None:
    lake = chain("a.t.x", "b.t.x").write(tmp_path / "lake")
    assert not (lake / "snapshot").exists()
    assert open_lake(f"file:{lake}").upstream("b.t.x").totals["columns"] == 1
    assert (lake / "snapshot" / "CURRENT").exists()


def test_edges_to_unknown_columns_are_counted() -> None:
    writer = chain("a.t.x", "b.t.x")
    writer.edges.append(writer.edges[0] | {"target_id": 999})
    assert compose(writer.flat_tables())[1]["dangling"] == 1


def test_lake_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    lake = chain("a.t.x", "b.t.x").write(tmp_path / "lake")
    (lake / "snapshot").symlink_to(tmp_path / "nowhere")  # even root cannot create a folder there
    with pytest.raises(LakeError, match="none can be written"):
        open_lake(lake)


def test_merged_dataset_is_found_by_both_names(tmp_path: Path) -> None:
    writer = chain("a.t.x", "b.t.x")
    home = writer.dataset("b.t")
    writer.dataset("sales.orders", namespace="hive", name="sales.orders", merged_into=home)
    writer.columns["b.t", "y"] = writer.columns["b.t", "x"] | {"id": 900, "field": "y", "dataset_id": 2}
    lineage = open_lake(writer.write(tmp_path / "lake"))
    assert lineage.overview().totals["datasets"] == 2
    assert [c["label"] for c in lineage.upstream("sales.orders.x").columns] == ["a.t.x"]
    assert [c["field"] for c in lineage.show("/lake/b/t", namespace="file").columns] == ["x", "y"]


def test_missing_layer_is_read_from_the_name(tmp_path: Path) -> None:
    writer = chain("gold.orders.x", "misc.silver_orders.x")
    writer.dataset("gold.orders", layer=None)
    writer.dataset("misc.silver_orders", layer=None)
    rows = open_lake(writer.write(tmp_path / "lake")).tables().rows
    assert [(row["label"], row["layer"]) for row in rows] == [("gold.orders", "gold"), ("misc.silver_orders", None)]
