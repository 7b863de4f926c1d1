"""A look at a table without Spark: what a JVM that has begun takes seconds for, where the lake is on this machine.

None means that Spark must be asked: the lake is elsewhere, or what is there cannot be read this way.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from colline.environment.hadoop_files import local_path
from colline.lake.tables import RUNS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from colline.lake.tables import Table

_Seen = TypeVar("_Seen")


def exists(lake: str, table: Table) -> bool | None:
    """Whether the table has been made."""
    where = _where(lake, table)
    if where is None or find_spec("deltalake") is None:
        return None
    from deltalake import DeltaTable

    return bool(DeltaTable.is_deltatable(where))


def columns(lake: str, table: Table) -> set[str] | None:
    """The names of the table's columns."""
    return _seen(lake, table, lambda rows: {field.name for field in rows.schema().fields})


def has_open_runs(lake: str, before: datetime) -> bool | None:
    """Whether there are runs without an end that nobody has spoken of since then."""

    def found(rows: Any) -> bool:
        import pyarrow.dataset as ds

        silent = ds.field("open") & (ds.field("last_event") < before)
        return bool(rows.to_pyarrow_dataset().scanner(filter=silent, columns=["last_event"]).head(1).num_rows)

    return _seen(lake, RUNS, found)


def _seen(lake: str, table: Table, look: Callable[[Any], _Seen]) -> _Seen | None:
    where = _where(lake, table)
    if where is None:
        return None
    try:
        from deltalake import DeltaTable

        return look(DeltaTable(where))
    except Exception:  # noqa: BLE001 (delta-rs may not be there, or not know what this table has: Spark does)
        return None


def _where(lake: str, table: Table) -> str | None:
    root = local_path(lake)
    return None if root is None else str(Path(root, table.path))
