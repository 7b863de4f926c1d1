"""What importing colline and printing its help must not import."""

from __future__ import annotations

import subprocess
import sys

import colline

HEAVY = ("numpy", "pyarrow", "pyspark", "mcp", "starlette", "deltalake")


def test_importing_colline_and_its_cli_imports_nothing_heavy() -> None:
    code = f"import sys, colline, colline.cli; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_listed_and_has_a_home() -> None:
    assert set(colline.__all__) == {"CollineError", *colline._HOMES}
    assert {name for name in colline.__all__ if not callable(getattr(colline, name))} == set()


def test_help_is_printed_without_heavy_imports() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "colline", "--help"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert not [m for m in HEAVY if f" {m}\n" in done.stderr]
