"""The partition columns of a Delta table, read from its log without Spark."""

from __future__ import annotations

from pathlib import Path


def partition_columns(namespace: str, name: str) -> tuple[str, ...]:
    """The partition columns of a dataset that is a Delta table on this machine; none for any other dataset."""
    if namespace != "file" or not (Path(name) / "_delta_log").is_dir():
        return ()
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        return tuple(DeltaTable(name).metadata().partition_columns)
    except (DeltaError, OSError):  # a table that delta-rs cannot read: its contract has no partitioning
        return ()
