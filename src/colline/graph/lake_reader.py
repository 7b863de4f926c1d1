"""A lake held open: the snapshot in hand, the newer one as soon as it was published, and what is not in either."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from colline.errors import CollineError, LakeError
from colline.graph.answer import Answer, Row
from colline.graph.snapshot import publish
from colline.graph.traversal.csr import Nodes
from colline.graph.traversal.name_index import parse
from colline.graph.traversal.records import View
from colline.lake.location import is_remote

if TYPE_CHECKING:
    from typing_extensions import Self

    from colline.graph.snapshot.remote_copy import Remote

_REFRESH = 60.0  # seconds between two looks at a lake elsewhere
_LOOK = 1.0  # seconds between two looks at whether the tables have more than the snapshot
_Lake = TypeVar("_Lake", bound="LakeReader")
_Asked = ParamSpec("_Asked")


def with_missing_commits(
    method: Callable[Concatenate[_Lake, _Asked], Answer],
) -> Callable[Concatenate[_Lake, _Asked], Answer]:
    """The method, its answer completed by what it could not know: commits that no snapshot has yet."""

    @functools.wraps(method)
    def asked(lake: _Lake, /, *given: _Asked.args, **named: _Asked.kwargs) -> Answer:
        answer = method(lake, *given, **named)
        missing = lake.missing
        return answer if missing is None else replace(answer, unknown=(missing, *answer.unknown))

    return asked


def _elsewhere(lake: str) -> Remote | None:
    if "://" not in lake:
        return None
    from colline.graph.snapshot.remote_copy import Remote

    return Remote(lake) if is_remote(lake) else None


def _unseen(error: LakeError) -> Row:
    return {"what": "newest events", "why": error.message, "count": 1}


class LakeReader:
    """One lake. `view()` is asked once an answer, so that none mixes two snapshots."""

    def __init__(self, lake: str | Path) -> None:
        self._remote = _elsewhere(str(lake))
        self.lake = publish.lake_path(lake) if self._remote is None else self._remote.home
        self._refreshed = 0.0
        self._behind: Row | None = None  # what the tables have and the view has not
        self._there: Row | None = None  # what the tables of a lake elsewhere have and the view has not
        self._looked_there = -1.0  # the refresh after which that was looked at
        self._cut_off: Row | None = None  # why nobody knows whether there is more
        self._stamp: tuple[int, int] | None = None
        self._looked: tuple[float, tuple[int, ...]] = (0.0, ())
        self._view = self._load()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the snapshot go, so that it may be cleaned."""
        self._view.arrays.close()

    def view(self) -> View:
        """The snapshot to answer from: the one in hand, or a newer one if it was published meanwhile."""
        if self._remote is not None and time.monotonic() - self._refreshed > _REFRESH:
            self._try_refresh()
        if self.has_newer:
            before, self._view = self._view, self._load()
            before.arrays.close()
            self._looked = (0.0, ())
        if time.monotonic() - self._looked[0] > _LOOK:
            self._look()
        if self._remote is not None and self._looked_there != self._refreshed:
            self._look_there(self._remote)
        return self._view

    @property
    def has_newer(self) -> bool:
        """Whether a newer snapshot was published than the one in hand."""
        return publish.stamp(self.lake) != self._stamp

    @property
    def current_view(self) -> View:
        """The snapshot of the answer before, without a look for a newer one."""
        return self._view

    def _look_there(self, remote: Remote) -> None:
        """See whether the tables of a lake elsewhere have more than the snapshot that was published there."""
        self._looked_there = self._refreshed
        try:
            found = remote.news(self._view.arrays.meta["tables"])
        except LakeError as error:
            self._cut_off = _unseen(error)
        else:
            self._there = None if found is None else found.row()

    def _look(self) -> None:
        """See whether the tables have more than the snapshot, and take it in where that is little."""
        from colline.graph.snapshot import staleness

        tables = self._view.arrays.meta["tables"]
        stamps = staleness.stamps(self.lake, tables)
        if stamps == self._looked[1] and self._behind is None and time.time_ns() - max(stamps) > _LOOK * 1e9:
            self._looked = (time.monotonic(), stamps)
            return
        found = staleness.news(self.lake, tables)
        if found is not None:
            try:
                newer = staleness.caught_up(self.lake, self._view.arrays, found)
            except CollineError:  # tables that cannot be read are no reason to give no answer
                newer = None
            if newer is not None:
                self._view.arrays.close()
                self._view, found = View(newer), None
        self._behind = None if found is None else found.row()
        self._looked = (time.monotonic(), stamps)

    @property
    def missing(self) -> Row | None:
        """What an answer lacks, as it is told among what is unknown."""
        return self._cut_off or self._behind or self._there

    def _try_refresh(self) -> None:
        """Look whether there is something newer elsewhere; where that fails, what is here still answers."""
        try:
            self._refresh()
            self._cut_off = None
        except LakeError as error:
            self._refreshed = time.monotonic()
            self._cut_off = _unseen(error)

    def _refresh(self) -> None:
        assert self._remote is not None
        self._remote.refresh()
        self._refreshed = time.monotonic()

    def _has(self, table: str) -> Path:
        """The lake, with a table in it that no snapshot has; of a lake elsewhere it is brought now."""
        if self._remote is not None:
            self._remote.bring(table)
        return self.lake

    def _load(self) -> View:
        if self._remote is not None and not self._refreshed:
            self._refresh()
        if not self.lake.is_dir():
            raise LakeError(f"no lake at {self.lake}", hint="check --lake or COLLINE_LAKE, or run `colline ingest`")
        stamp = publish.stamp(self.lake)
        arrays = publish.current(self.lake)
        if arrays is None:
            self._publish()
            stamp, arrays = publish.stamp(self.lake), publish.current(self.lake)
        assert arrays is not None
        self._stamp = stamp
        return View(arrays)

    def _publish(self) -> None:
        from colline.graph.snapshot import staleness
        from colline.lake.table_reader import has_table
        from colline.lake.tables import COLUMNS

        if not has_table(self.lake, COLUMNS):
            if publish.stamp(self.lake) is not None:
                raise LakeError(
                    f"the snapshot of {self.lake} is of an older colline, and its tables are not there",
                    hint="run `colline ingest` on the lake with this version, and copy the snapshot again",
                )
            raise LakeError(f"the lake {self.lake} is empty", hint="run `colline ingest` to fill it")
        if staleness.is_half_way(self.lake):
            raise LakeError(
                f"the events of {self.lake} are still being ingested, or that was interrupted",
                hint="ask again when `colline ingest` has ended, or run it",
            )
        try:
            publish.publish(self.lake)
        except OSError as error:
            raise LakeError(
                f"the lake {self.lake} has no snapshot and none can be written: {error.strerror}",
                hint="run `colline ingest` as a user who may write there",
            ) from error

    def _within(self, view: View, dataset: str | None, at: int | None) -> Nodes | None:
        if dataset is None:
            return None
        place = view.names.dataset(parse(dataset.removesuffix(".*")).parts, dataset)
        return view.names.dataset_columns(place, at)
