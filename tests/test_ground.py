"""The ground rules that every other test stands on."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("numpy", "pyarrow", "pyspark", "mcp", "starlette", "deltalake")


def test_importing_colline_and_its_cli_imports_nothing_heavy() -> None:
    code = f"import sys, colline, colline.cli; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_is_printed_without_heavy_imports() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "colline", "--help"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert not [m for m in HEAVY if f" {m}\n" in done.stderr]
