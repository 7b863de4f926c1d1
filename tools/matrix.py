"""Runs the lineage cases, and the tests of a watch, on other Sparks: `matrix.py 3.5 4.2`.

The suite `connect` runs the cases with Spark Connect clients of these versions, on a server of the default Spark.

`matrix.py --record 3.5` records the plans of the cases that apply to that Spark and not to the home version.

Each has a uv environment of its own under .venvs/. What differs between versions is the table
below; the pinned packages are in requirements/spark-<version>.txt.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME_PYTHON = ROOT / ".venv" / "bin" / "python"
SUITES = {
    "trace": ("tests/trace/test_cases.py",),
    "capture": ("tests/capture/test_watch.py", "tests/capture/test_watch_reads.py"),
    "connect": ("tests/capture/connect/client/test_case_parity.py",),
}
# the Spark of `make setup`: the other tests run on it in `make test`, and it is the server of Connect clients
HOME = "4.1"
HOME_SUITES = ("connect",)


@dataclass(frozen=True)
class Version:
    """One Spark of the matrix: the Pythons it runs on, and a word on its Delta."""

    pythons: str
    delta: str


VERSIONS = {
    "3.5": Version(">=3.10,<3.13", "3.3.3, Scala 2.12"),
    "4.0": Version(">=3.10,<3.15", "4.4.0"),
    HOME: Version("", "4.4.0"),
    "4.2": Version(">=3.10,<3.15", "4.4.0, which caps pyspark at 4.2.0: installed without its cap"),
    "4.3": Version(">=3.11,<3.15", "none is published for this Spark: cases on Delta are skipped"),
}


def environment(version: str) -> Path:
    """The Python of that Spark's environment, brought up to its locked requirements."""
    if version == HOME:
        return HOME_PYTHON
    folder = ROOT / ".venvs" / f"spark-{version}"
    python = folder / "bin" / "python"
    uv = os.environ.get("UV", "uv")
    if not python.exists():
        uv_run(uv, "venv", "--quiet", "--python", VERSIONS[version].pythons, str(folder))
    # sync installs the lock file without resolving, so delta-spark's cap does not refuse pyspark 4.2.1
    locked = [
        f"requirements/spark-{version}.txt",
        *subprocess.check_output(["tools/lacks"], cwd=ROOT, text=True).split(),
    ]
    locked = [name for name in locked if name != "requirements/node.txt"]
    uv_run(uv, "pip", "sync", "--quiet", "--python", str(python), "--require-hashes", *locked)
    uv_run(uv, "pip", "install", "--quiet", "--python", str(python), "--no-deps", "--editable", ".")
    return python


def uv_run(*command: str) -> None:
    """Run uv at the root; its own message is the error."""
    subprocess.run(command, cwd=ROOT, check=True)


def run(version: str, *, is_recording: bool = False) -> int:
    """The exit code of the tests, or of the recording, on that Spark."""
    python = environment(version)
    if is_recording:
        return subprocess.run([str(python), "-m", "tests.trace.recorded"], cwd=ROOT, check=False).returncode
    suites = [name for name in os.environ.get("SUITES", "").split() or SUITES if version != HOME or name in HOME_SUITES]
    if not suites:
        return 0
    print(f"== Spark {version}; Delta: {VERSIONS[version].delta}", flush=True)
    command = [
        str(python),
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        *(path for suite in suites for path in SUITES[suite]),
    ]
    environ = {**os.environ, "COLLINE_MATRIX": version}
    if version != HOME:
        environ["COLLINE_HOME_PYTHON"] = str(HOME_PYTHON)
    return subprocess.run(command, cwd=ROOT, check=False, env=environ).returncode


def main(arguments: list[str]) -> int:
    """0 if every version passed; the last lines list the result of each version."""
    wanted = [argument for argument in arguments if argument != "--record"]
    unknown = [version for version in wanted if version not in VERSIONS]
    if unknown:
        print(
            f"error: no such Spark in the matrix: {', '.join(unknown)}\nhint: it has {', '.join(VERSIONS)}",
            file=sys.stderr,
        )
        return 2
    codes = {version: run(version, is_recording="--record" in arguments) for version in wanted or VERSIONS}
    for version, code in codes.items():
        print(f"Spark {version}: {'passed' if code == 0 else f'FAILED (exit code {code})'}")
    return int(any(codes.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
