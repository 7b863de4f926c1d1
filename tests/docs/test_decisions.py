"""The decision records: one page each, in the same form, all listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "decisions"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
SECTIONS = ["Context", "Options", "Choice", "Consequences"]
MAX_WORDS = 800  # about a page


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.stem)
def test_a_record_is_one_page_with_one_table(record: Path) -> None:
    text = record.read_text(encoding="utf-8")
    number = record.name[:4]
    assert text.startswith(f"# {number} ")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS
    assert len(re.findall(r"^\|[-:| ]+\|$", text, re.MULTILINE)) == 1
    assert len(text.split()) <= MAX_WORDS


def test_all_records_are_listed() -> None:
    listed = re.findall(r"^\| \[(\d+)\]\((.*?)\)", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [(record.name[:4], record.name) for record in RECORDS]
