"""Capture that starts with the interpreter: no line of colline in the script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PTH = Path(__file__).parents[2] / "src" / "colline_attach.pth"
SCRIPT = """
from pathlib import Path
from tests.sessions import session
spark = session(Path.cwd())
spark.sql("create table numbers as select id, id * 2 as doubled from range(3)")
spark.stop()
"""


def _run(code: str, folder: Path, **environ: str) -> str:
    """Run code in an interpreter whose site-packages contain the .pth file, as the wheel installs it."""
    (folder / "site").mkdir(exist_ok=True)
    (folder / "site" / PTH.name).write_text(PTH.read_text())
    start = f"import site; site.addsitedir({str(folder / 'site')!r})\n"
    clean = {name: value for name, value in os.environ.items() if name != "COLLINE_ATTACH"}
    root = str(PTH.parents[1])
    done = subprocess.run(
        [sys.executable, "-c", start + code], capture_output=True, text=True, cwd=folder, check=False,
        env={**clean, "PYTHONPATH": root, **environ}, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("value", "expected"), [(None, False), ("", False), ("0", False), ("1", True), ("true", True)])
def test_interpreter_imports_colline_only_with_the_variable(tmp_path: Path, value: str | None, expected: bool) -> None:
    environ = {} if value is None else {"COLLINE_ATTACH": value}
    printed = _run("import sys; print('colline' in sys.modules, 'pyspark' in sys.modules)", tmp_path, **environ)
    assert printed.split() == [str(expected), "False"]


@pytest.mark.spark
def test_script_without_colline_is_captured(tmp_path: Path) -> None:
    _run(SCRIPT, tmp_path, COLLINE_ATTACH="1", COLLINE_LAKE=str(tmp_path / "lake"))
    lines = [line for file in (tmp_path / "lake").glob("landing/dt=*/*.ndjson") for line in file.open()]
    outputs = [output["name"] for line in lines for output in json.loads(line)["outputs"]]
    assert [name.rpartition("/")[2] for name in outputs] == ["numbers"] * 2
