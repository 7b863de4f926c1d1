"""A look at a table without Spark: what a JVM that has begun takes seconds for, where the lake is on this machine.

None means that Spark must be asked: the lake is elsewhere, or what is there cannot be read this way.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from colline.pipeline.files import local_path
from colline.pipeline.tables import RUNS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from colline.pipeline.store import Store
    from colline.pipeline.tables import Table

_Seen = TypeVar("_Seen")


def exists(store: Store, table: Table) -> bool | None:
    """Whether the table has been made."""
    where = _where(store, table)
    if where is None or find_spec("deltalake") is None:
        return None
    from deltalake import DeltaTable

    return bool(DeltaTable.is_deltatable(where))


def columns(store: Store, table: Table) -> set[str] | None:
    """The names of the table's columns."""
    return _seen(store, table, lambda rows: {field.name for field in rows.schema().fields})


def has_open_runs(store: Store, before: datetime) -> bool | None:
    """Whether there are runs without an end that nobody has spoken of since then."""

    def found(rows: Any) -> bool:
        import pyarrow.dataset as ds

        silent = ds.field("open") & (ds.field("last_event") < before)
        return bool(rows.to_pyarrow_dataset().scanner(filter=silent, columns=["last_event"]).head(1).num_rows)

    return _seen(store, RUNS, found)


def _seen(store: Store, table: Table, look: Callable[[Any], _Seen]) -> _Seen | None:
    where = _where(store, table)
    if where is None:
        return None
    try:
        from deltalake import DeltaTable

        return look(DeltaTable(where))
    except Exception:  # noqa: BLE001 (delta-rs may not be there, or not know what this table has: Spark does)
        return None


def _where(store: Store, table: Table) -> str | None:
    lake = local_path(store.lake)
    return None if lake is None else str(Path(lake, table.path))
