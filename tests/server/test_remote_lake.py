"""`colline serve` on a lake in an S3-compatible store answers questions from its published snapshot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from colline.graph import open_lake
from colline.graph.snapshot.remote_publish import publish_remote
from tests.graph.graph_lakes import shop
from tests.object_store import object_store, upload
from tests.server.serving import event, serving

ADDRESS = "s3a://served/lake"


def test_a_remote_lake_is_served_on_another_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = shop().write(tmp_path / "lake")
    with object_store("served"):
        upload(lake, ADDRESS)
        monkeypatch.setenv("COLLINE_CACHE", str(tmp_path / "writer"))
        version = publish_remote(ADDRESS).version
        monkeypatch.setenv("COLLINE_CACHE", str(tmp_path / "reader"))
        create = [sys.executable, "-m", "colline", "token", "create", "--lake", ADDRESS, "--scope", "read"]
        token = subprocess.run(create, check=True, capture_output=True, text=True).stdout.strip()
        with serving(tmp_path / "served", "--require-token", address=ADDRESS) as server:
            assert f"colline serves {ADDRESS} at" in server.log_text()
            server.client.headers["Authorization"] = f"Bearer {token}"
            answer = server.client.get("/api/v1/upstream", params={"column": "kpi.revenue"})
            page = server.client.get("/api/v1/status").json()
            assert server.client.get("/readyz").json() == {"ready": True, "receiver": True, "lineage": True}
        with serving(tmp_path / "served", address=ADDRESS) as server:
            refused = server.client.post("/api/v1/lineage", json=event())
            assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    assert answer.headers["x-colline-snapshot"] == page["snapshot"] == version
    with open_lake(lake) as local:
        assert answer.json()["columns"] == local.upstream("kpi.revenue").to_dict()["columns"]
    assert not list((tmp_path / "reader").rglob("*.ndjson"))


@pytest.mark.parametrize("option", [("--create",), ("--ingest", "2s"), ("--forward", "kafka://b/t")])
def test_a_server_does_not_write_to_a_remote_lake(option: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "colline", "serve", "--lake", ADDRESS, *option]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ})
    assert done.returncode == 2
    assert f"{option[0]} needs a lake on a local or mounted disk\nhint: " in done.stderr
