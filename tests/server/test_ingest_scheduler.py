"""When the server starts its ingester."""

from __future__ import annotations

from pathlib import Path

import pytest

from colline.server.ingest_scheduler import has_landed


@pytest.mark.parametrize("name", ["dt=2026-11-15/1-x-1events.ndjson", "events.json.gz", "team/a/b.jsonl"])
def test_a_landing_file_of_any_name_and_depth_starts_the_ingester(tmp_path: Path, name: str) -> None:
    assert not has_landed(tmp_path / "landing")
    file = tmp_path / "landing" / name
    file.parent.mkdir(parents=True)
    file.with_name(f".{file.name}").touch()
    assert not has_landed(tmp_path / "landing")
    file.touch()
    assert has_landed(tmp_path / "landing")
