"""What a folder of this machine contains: whether it is a lake, and which Delta tables. Needs no package."""

from __future__ import annotations

from pathlib import Path

from colline.lake.layout import LANDING, SNAPSHOT, STATE
from colline.lake.tables import Table

_MARKS = (LANDING, SNAPSHOT, STATE, "_server", "bronze", "silver", "gold")


def is_lake(folder: Path) -> bool:
    """Whether something of colline has ever written to the folder."""
    return any((folder / name).is_dir() for name in _MARKS)


def has_table(lake: Path, table: Table) -> bool:
    """Whether the lake holds that Delta table."""
    return (lake / table.path / "_delta_log").is_dir()
