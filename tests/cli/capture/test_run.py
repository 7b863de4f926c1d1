"""`colline run script.py` captures lineage; exit code, output and errors equal those of `python script.py`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


def run_script(path: Path, text: str, *arguments: str, with_colline: bool = True) -> subprocess.CompletedProcess[str]:
    """Run the script with colline, or with Python alone."""
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    program = [sys.executable, "-m", "colline", "run"] if with_colline else [sys.executable]
    return subprocess.run([*program, str(path), *arguments], capture_output=True, text=True, check=False, timeout=120)


SCRIPTS = {
    "prints and exits": "import sys\nprint('out')\nprint('err', file=sys.stderr)",
    "exits with a code": "import sys\nsys.exit(3)",
    "exits with a message": "import sys\nsys.exit('no input')",
    "exits with os._exit": "import os, sys\nsys.stdout.write('text')\nsys.stdout.flush()\nos._exit(7)",
    "raises": "def f(x):\n    return 1 / x\n\nf(0)",
    "raises while handling": "try:\n    {}['a']\nexcept KeyError:\n    raise ValueError('b')",
    "has a syntax error": "print('never')\nif True print(1)",
    "reads its arguments": "import sys\nprint(sys.argv[1:], __name__, __file__ == sys.argv[0])",
    "sets excepthook": "import sys\nsys.excepthook = lambda k, e, t: print('hook', k.__name__)\nraise OSError(1)",
    "registers an atexit function": "import atexit\natexit.register(print, 'bye')\nprint('hi')",
    "is __main__": "import pickle, __main__\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is __main__.A)",
    "breaks a pipe": "raise BrokenPipeError(32, 'pipe')",
    "reads the end of stdin": "input()",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_ends_as_with_python_alone(name: str, tmp_path: Path) -> None:
    path, arguments = tmp_path / "a job.py", ("--date", "2026-01-31", "-x", "--lake", "its own")
    alone = run_script(path, SCRIPTS[name], *arguments, with_colline=False)
    captured = run_script(path, SCRIPTS[name], *arguments)
    assert (captured.returncode, captured.stdout, captured.stderr) == (alone.returncode, alone.stdout, alone.stderr)


def test_script_imports_modules_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("WORD = 'found'", encoding="utf-8")
    assert run_script(tmp_path / "job.py", "from neighbour import WORD\nprint(WORD)").stdout == "found\n"


def test_script_with_windows_line_ends_and_declared_encoding_runs(tmp_path: Path) -> None:
    path = tmp_path / "job.py"
    path.write_bytes("# -*- coding: latin-1 -*-\r\nprint(len('caf\xe9'))\r\n".encode("latin-1"))
    done = subprocess.run(
        [sys.executable, "-m", "colline", "run", str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "4\n"


def test_ctrl_c_ends_the_script_as_with_python_alone(tmp_path: Path) -> None:
    path = tmp_path / "job.py"
    path.write_text("import time\nprint('ready', flush=True)\ntime.sleep(60)", encoding="utf-8")
    command = [sys.executable, "-m", "colline", "run", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert "colline" not in errors


def test_missing_script_is_a_usage_error(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "colline", "run", str(tmp_path / "none.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "does not exist" in done.stderr


def test_transport_that_is_not_json_is_an_error_with_a_hint(tmp_path: Path) -> None:
    path = tmp_path / "job.py"
    path.write_text("print('never')", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "colline", "run", "--transport", "kafka", str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --transport is not JSON")
    assert "\nhint: " in done.stderr


TWO_SESSIONS = """
    import sys
    from pyspark.sql import SparkSession

    def start(name):
        builder = SparkSession.builder.master("local[1]").appName(name).config("spark.ui.enabled", "false")
        return builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()

    spark = start("first")
    spark.range(5).selectExpr("id", "id * 2 as twice").write.parquet(sys.argv[1] + "/a")
    spark.stop()
    spark = start("second")
    spark.read.parquet(sys.argv[1] + "/a").selectExpr("twice + 1 as odd").write.parquet(sys.argv[1] + "/b")
    print("rows", spark.read.parquet(sys.argv[1] + "/b").count())
    sys.exit(3)
"""


@pytest.mark.spark
def test_every_session_of_a_script_is_captured_and_its_exit_code_kept(tmp_path: Path) -> None:
    path = tmp_path / "job.py"
    path.write_text(textwrap.dedent(TWO_SESSIONS), encoding="utf-8")
    command = [sys.executable, "-m", "colline", "run", "--lake", str(tmp_path / "lake"), str(path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert (done.returncode, done.stdout) == (3, "rows 5\n"), done.stderr

    lines = [line for file in (tmp_path / "lake").rglob("*.ndjson") for line in file.read_text("utf-8").splitlines()]
    events = sorted((json.loads(line) for line in lines), key=lambda event: event["eventTime"])
    ends = {event["job"]["name"]: event["eventType"] for event in events}
    assert (ends["first"], ends["second"]) == ("COMPLETE", "FAIL")
    odd = [
        output["facets"]["columnLineage"]["fields"]["odd"]["inputFields"]
        for event in events
        for output in event.get("outputs", [])
        if output["name"] == str(tmp_path / "b")
    ]
    assert {(field["name"], field["field"]) for fields in odd for field in fields} == {(str(tmp_path / "a"), "twice")}
