"""The text files of lineage snapshots, in the folder `lineage_snapshots` next to the test."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

FOLDER = "lineage_snapshots"
_UNSAFE = re.compile(r"[^\w.-]+")


def snapshot_file(test_file: Path, test_name: str, name: str) -> Path:
    """The file of a snapshot: `lineage_snapshots/test_revenue/test_daily-name.txt`."""
    stem = "-".join(part for part in (test_name, name) if part)
    return test_file.parent / FOLDER / test_file.stem / f"{_UNSAFE.sub('_', stem)}.txt"


def compare_with_file(file: Path, lines: list[str], *, updates: bool) -> str:
    """What differs between the lines and the file, as text; empty if nothing does. `updates` writes the file."""
    text = "".join(f"{line}\n" for line in lines)
    known = file.read_text("utf-8") if file.exists() else None
    if known == text:
        return ""
    if updates:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        return ""
    hint = "hint: if this is intended, run `pytest --update-lineage` and commit the file"
    if known is None:
        return f"there is no lineage snapshot {file}\n{hint}"
    difference = difflib.unified_diff(known.splitlines(), text.splitlines(), "expected", "found", lineterm="", n=1)
    return "\n".join([f"the lineage differs from {file}", *difference, hint])
