"""A lake that another version of colline wrote: brought up to this one, or refused when it is newer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from colline.errors import LakeError
from colline.lake import delta_log, layout
from colline.lake.tables import TABLES, Table, fields_of
from colline.pipeline.rebuild import REBUILT
from colline.pipeline.store import Store, empty

if TYPE_CHECKING:
    from colline.environment.hadoop_files import HadoopFiles

# Raised when a table changes in a way that new columns alone do not mend: the lake is then rebuilt from bronze.
LAKE_VERSION = 3
MARKER = layout.LAKE_VERSION


def upgraded(store: Store, files: HadoopFiles) -> bool:
    """Bring bronze to this version's columns; True when the lake must be rebuilt from it."""
    there = [table for table in TABLES if store.exists(table)]
    version = _version(store, files)
    if version is not None and version > LAKE_VERSION:
        raise LakeError(
            f"{store.lake} was written by a newer colline (lake version {version}, this is {LAKE_VERSION})",
            hint="upgrade colline",
        )
    older = bool(there) and version != LAKE_VERSION
    lacking = [table for table in there if _lacks(store, table)]
    for table in (table for table in lacking if table not in REBUILT):
        _add_columns(store, table)
    # a table that the rebuild makes again stays as it is: it may be split otherwise, and is lacking until that is done
    return older or any(table in REBUILT for table in lacking)


def mark(store: Store, files: HadoopFiles) -> None:
    """The lake is of this version; said when it is true, so that a rebuild that was killed is done again."""
    if _version(store, files) != LAKE_VERSION:
        files.write(f"{store.lake}/{MARKER}", json.dumps({"version": LAKE_VERSION}))


def _version(store: Store, files: HadoopFiles) -> int | None:
    text = files.read(f"{store.lake}/{MARKER}")
    if text is None:
        return None
    try:
        return int(json.loads(text)["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise LakeError(f"{store.lake}/{MARKER} cannot be read", hint="restore it, or delete it to rebuild") from error


def _lacks(store: Store, table: Table) -> bool:
    """Whether the table has not all of its columns."""
    there = delta_log.columns(store.lake, table)
    return not set(fields_of(table)) <= (set(store.read(table).columns) if there is None else there)


def _add_columns(store: Store, table: Table) -> None:
    """Let the table have all of its columns, empty in old rows."""
    rows = empty(store.spark, fields_of(table))
    rows.write.format("delta").mode("append").option("mergeSchema", "true").save(store.path(table))
