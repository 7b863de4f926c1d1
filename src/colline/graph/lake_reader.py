"""Keeps a lake open: loads its snapshot, switches to newer ones, and reports commits that no snapshot has yet."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from msgspec.structs import replace

from colline.environment.extras import report_missing_extras
from colline.errors import CollineError, LakeError
from colline.graph.answer import Answer
from colline.graph.rows import Unknown
from colline.graph.snapshot import publish, snapshot_versions
from colline.graph.traversal.records import View
from colline.lake.location import is_remote

if TYPE_CHECKING:
    from typing_extensions import Self

    from colline.graph.snapshot.remote_copy import RemoteLake
    from colline.graph.snapshot.staleness import UnpublishedCommits

_REMOTE_POLL_SECONDS = 60.0
_TABLES_POLL_SECONDS = 1.0
_Lake = TypeVar("_Lake", bound="LakeReader")
_Parameters = ParamSpec("_Parameters")
_Answer = TypeVar("_Answer", bound=Answer)


def with_missing_commits(
    method: Callable[Concatenate[_Lake, _Parameters], _Answer],
) -> Callable[Concatenate[_Lake, _Parameters], _Answer]:
    """Decorates a question: commits that are not in the snapshot are reported under `unknown`."""

    @functools.wraps(method)
    def with_missing(lake: _Lake, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Answer:
        with report_missing_extras():
            answer = method(lake, *args, **kwargs)
        missing = lake.missing_commits
        return answer if missing is None else replace(answer, unknown=(missing, *answer.unknown))

    return with_missing


class LakeReader:
    """One lake. Each answer calls `view()` once, so that it does not mix two snapshots."""

    def __init__(self, lake: str | Path) -> None:
        self._remote = _remote_lake(str(lake))
        self.lake = publish.lake_path(lake) if self._remote is None else self._remote.home
        self._refreshed_at = 0.0  # when the remote lake was last copied
        self._remote_checked_at = -1.0  # the refresh after which the remote tables were checked
        self._tables_checked: tuple[float, tuple[int, ...]] = (0.0, ())  # when, and the stamps of their logs
        self._stamp: tuple[int, int] | None = None
        # what answers lack, by cause, the most important first
        self._missing: dict[str, Unknown | None] = dict.fromkeys(("unreachable", "damaged", "tables", "remote tables"))
        self._view = self._load()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Releases the snapshot, so that it can be deleted."""
        self._view.arrays.close()

    def view(self) -> View:
        """The snapshot to answer from, after a check for newer ones."""
        if self._remote is not None and time.monotonic() - self._refreshed_at > _REMOTE_POLL_SECONDS:
            self._refresh_or_report(self._remote)
        if not self._view.arrays.is_unchanged:
            self._reload()
        elif self.has_newer:
            self._switch()
        if time.monotonic() - self._tables_checked[0] > _TABLES_POLL_SECONDS:
            self._check_tables()
        if self._remote is not None and self._remote_checked_at != self._refreshed_at:
            self._check_remote_tables(self._remote)
        return self._view

    @property
    def has_newer(self) -> bool:
        """Whether another snapshot was published since this one was loaded."""
        return snapshot_versions.publish_stamp(self.lake) != self._stamp

    @property
    def missing_commits(self) -> Unknown | None:
        """What answers lack, as a row for `unknown`."""
        return next(filter(None, self._missing.values()), None)

    @property
    def has_damaged_snapshot(self) -> bool:
        """Whether the newest snapshot is damaged, so that answers come from an older one."""
        return self._missing["damaged"] is not None

    def _reload(self) -> None:
        """Loads the snapshot again because its file was changed in place; an error if it is damaged."""
        changed = self._view
        self._view = self._load()
        changed.arrays.close()

    def _switch(self) -> None:
        """Loads the newest snapshot; if it is damaged, the current one stays in use."""
        previous, stamp = self._view, snapshot_versions.publish_stamp(self.lake)
        try:
            self._view = self._load()
        except LakeError as error:
            self._stamp, self._missing["damaged"] = stamp, _unknown_row(error)
            return
        previous.arrays.close()
        self._missing["damaged"] = None
        self._tables_checked = (0.0, ())

    def _check_tables(self) -> None:
        """Finds commits that the snapshot does not have, and loads them if they are few."""
        from colline.graph.snapshot import staleness

        tables = self._view.arrays.meta["tables"]
        stamps = staleness.log_stamps(self.lake, tables)
        is_unchanged = stamps == self._tables_checked[1] and self._missing["tables"] is None
        if not is_unchanged or time.time_ns() - max(stamps, default=0) <= _TABLES_POLL_SECONDS * 1e9:
            found = staleness.unpublished_commits(self.lake, tables)
            if found is not None and self._load_tables(found):
                found = None
            self._missing["tables"] = None if found is None else found.row()
        self._tables_checked = (time.monotonic(), stamps)

    def _load_tables(self, found: UnpublishedCommits) -> bool:
        """Builds a snapshot from the tables; returns whether it is in use."""
        from colline.graph.snapshot import staleness

        try:
            newer = staleness.build_from_tables(self.lake, self._view.arrays, found)
        except CollineError:  # unreadable tables: the published snapshot still gives answers
            return False
        if newer is None:
            return False
        self._view.arrays.close()
        self._view = View(newer)
        return True

    def _check_remote_tables(self, remote: RemoteLake) -> None:
        self._remote_checked_at = self._refreshed_at
        try:
            found = remote.unpublished_commits(self._view.arrays.meta["tables"])
        except LakeError as error:
            self._missing["unreachable"] = _unknown_row(error)
        else:
            self._missing["remote tables"] = None if found is None else found.row()

    def _refresh_or_report(self, remote: RemoteLake) -> None:
        """Copies what is newer; if that fails, the copy still gives answers."""
        try:
            remote.refresh()
            self._missing["unreachable"] = None
        except LakeError as error:
            self._missing["unreachable"] = _unknown_row(error)
        self._refreshed_at = time.monotonic()

    def _has(self, table: str) -> Path:
        """The lake, with a table that is not part of the snapshot; a remote table is copied now."""
        if self._remote is not None:
            self._remote.copy_table(table)
        return self.lake

    def _load(self) -> View:
        if self._remote is not None and not self._refreshed_at:
            self._remote.refresh()
            self._refreshed_at = time.monotonic()
        if not self.lake.is_dir():
            raise LakeError(f"no lake at {self.lake}", hint="check --lake or COLLINE_LAKE, or run `colline ingest`")
        stamp, arrays = snapshot_versions.publish_stamp(self.lake), snapshot_versions.open_current(self.lake)
        if arrays is None:
            _publish_first(self.lake)
            stamp, arrays = snapshot_versions.publish_stamp(self.lake), snapshot_versions.open_current(self.lake)
        assert arrays is not None
        self._stamp = stamp
        return View(arrays)


def _remote_lake(lake: str) -> RemoteLake | None:
    if not is_remote(lake):
        return None
    from colline.graph.snapshot.remote_copy import RemoteLake

    return RemoteLake(lake)


def _unknown_row(error: LakeError) -> Unknown:
    return Unknown("newest events", error.message)


def _publish_first(lake: Path) -> None:
    """Publishes a snapshot of a lake that has tables and no snapshot."""
    from colline.graph.snapshot.staleness import is_inconsistent
    from colline.lake.lake_folders import has_table
    from colline.lake.tables import COLUMNS

    if not has_table(lake, COLUMNS):
        if snapshot_versions.publish_stamp(lake) is not None:
            raise LakeError(
                f"the snapshot of {lake} was published by an older colline, and its tables are missing",
                hint="run `colline ingest` on the lake with this version, and copy the snapshot again",
            )
        raise LakeError(f"the lake {lake} is empty", hint="run `colline ingest` to fill it")
    if is_inconsistent(lake):
        raise LakeError(
            f"an ingest of {lake} is running or was killed",
            hint="repeat the question when `colline ingest` has finished, or run it",
        )
    try:
        publish.publish(lake)
    except OSError as error:
        raise LakeError(
            f"the lake {lake} has no snapshot and none can be written: {error.strerror}",
            hint="run `colline ingest` as a user who may write there",
        ) from error
