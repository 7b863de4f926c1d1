"""Delta metadata read without Spark: a table's newest version, its columns, and what a commit added.

Where a function returns None, Spark must be asked: the lake is remote, or delta-rs cannot read the table.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from colline.errors import LakeError
from colline.lake.lake_folders import has_table
from colline.lake.location import hadoop_glob, local_path
from colline.lake.tables import RUNS, Table

if TYPE_CHECKING:
    from colline.environment.hadoop_files import HadoopFiles

MAX_COMMITS_SEARCHED = 10
_COMMIT_NAME = re.compile(r"\d{20}\.json")

_Result = TypeVar("_Result")


def exists(lake: str, table: Table) -> bool | None:
    """Whether the table exists."""
    path = _local_table(lake, table)
    if path is None or find_spec("deltalake") is None:
        return None
    from deltalake import DeltaTable

    return bool(DeltaTable.is_deltatable(path))


def has_open_runs(lake: str, before: datetime) -> bool | None:
    """Whether there are runs without a final event whose last event is older than `before`."""
    root = local_path(lake)
    if root is None or not has_table(Path(root), RUNS):
        return None
    try:
        from colline.lake.table_reader import EPOCH, count_rows, sql_time

        micros = (before - EPOCH) // timedelta(microseconds=1)
        return count_rows(Path(root), RUNS, ['"open"', f'"last_event" < {sql_time(micros)}']) > 0
    except Exception:  # noqa: BLE001 (delta-rs is missing, or does not support a feature of this table: Spark does)
        return None


def data_files(lake: str, table: Table, version: int | None = None) -> list[str] | None:
    """The paths of the files of a version (the newest one for None), if their rows are those of the table.

    A table whose log hides rows or renames columns has none.
    """

    def plain_files(delta: Any) -> list[str] | None:
        if version is not None:
            delta.load_as_version(version)
        # later readers support deleted rows and renamed columns
        is_plain = delta.protocol().min_reader_version == 1
        return [unquote(uri).removeprefix("file://") for uri in delta.file_uris()] if is_plain else None

    return _inspect(lake, table, plain_files)


def newest_commit(files: HadoopFiles, table: str) -> tuple[int, float]:
    """The newest version of the Delta table at this path, and its age in seconds.

    `DESCRIBE HISTORY` reads the log as a table, which costs a third of a second of CPU.
    """
    found = _newest_local_commit(table) or _newest_hadoop_commit(files, table)
    if found is None:
        raise LakeError(f"{table} is not a Delta table", hint="check that the lake is complete and readable")
    return found


def _newest_local_commit(table: str) -> tuple[int, float] | None:
    """As `newest_commit`, for a table on this machine: a Hadoop glob cannot match a path with a colon."""
    root = local_path(table)
    log = None if root is None else Path(root, "_delta_log")
    if log is None or not log.is_dir():
        return None
    newest = max((file for file in log.iterdir() if _COMMIT_NAME.fullmatch(file.name)), default=None)
    return None if newest is None else (int(newest.stem), time.time() - newest.stat().st_mtime)


def _newest_hadoop_commit(files: HadoopFiles, table: str) -> tuple[int, float] | None:
    found = files.last_match(f"{hadoop_glob(table) or table}/_delta_log/[0-9]*.json", _COMMIT_NAME.fullmatch)
    return None if found is None else (int(found[0][:20]), found[1])


def files_added_by(files: HadoopFiles, table: str, app_id: str, version: int) -> dict[str, dict[str, str]] | None:
    """The data files that the write stamped (`txnAppId`, `txnVersion`) added to a table, with their partition values.

    None if none of the newest commits has that stamp, or if a file is outside of the table.
    """
    newest = newest_commit(files, table)[0]
    for commit in range(newest, max(-1, newest - MAX_COMMITS_SEARCHED), -1):
        actions = list(_actions(files.read(f"{table}/_delta_log/{commit:020d}.json") or ""))
        stamps = [action["txn"] for action in actions if "txn" in action]
        if not any((stamp["appId"], stamp["version"]) == (app_id, version) for stamp in stamps):
            continue
        added = [action["add"] for action in actions if "add" in action]
        if any(":" in file["path"] for file in added):
            return None
        return {f"{table}/{unquote(file['path'])}": file["partitionValues"] for file in added}
    return None


def _actions(commit: str) -> Iterator[dict[str, Any]]:
    """The actions of a commit file, one JSON object per line."""
    return (json.loads(line) for line in commit.splitlines() if line)


def _inspect(lake: str, table: Table, read: Callable[[Any], _Result]) -> _Result | None:
    path = _local_table(lake, table)
    if path is None:
        return None
    try:
        from deltalake import DeltaTable

        return read(DeltaTable(path))
    except Exception:  # noqa: BLE001 (delta-rs is missing, or does not support a feature of this table: Spark does)
        return None


def _local_table(lake: str, table: Table) -> str | None:
    root = local_path(lake)
    return None if root is None else str(Path(root, table.path))
