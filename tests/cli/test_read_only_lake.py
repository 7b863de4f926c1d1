"""Commands that write, on a lake that cannot be written: an error with a hint, and nothing is changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.lakes import land


@pytest.mark.parametrize("command", ["ingest", "rebuild", "maintain", "quarantine replay"])
@pytest.mark.parametrize("was_ingested", [False, True])
def test_read_only_lake_is_an_error_with_a_hint(tmp_path: Path, command: str, was_ingested: bool) -> None:
    """A real read-only file system, in a mount namespace of its own."""
    lake = tmp_path / "lake"
    land(lake, ["{}"])
    (lake / "bronze" / "events").mkdir(parents=True)
    if was_ingested:
        (lake / "_colline").mkdir()
        (lake / "_colline" / "ingest.lock").touch()
    before = sorted(lake.rglob("*"))
    script = f'mount --bind "{lake}" "{lake}" && mount -o remount,ro,bind "{lake}" && exec "$0" "$@"'
    prefix = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script)
    words = [*prefix, sys.executable, "-m", "colline", *command.split(), "--lake", str(lake)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"error: cannot write to the lake {lake}: Read-only file system\nhint: ")
    assert len(done.stderr.splitlines()) == 2
    assert sorted(lake.rglob("*")) == before
