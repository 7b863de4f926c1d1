"""`colline.open(lake)`: one object, one method a question, every answer from one snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from colline.errors import ColumnError, LakeError
from colline.graph import search, snapshot, walks
from colline.graph.adjacency import Nodes
from colline.graph.answer import Answer, page_of
from colline.graph.times import When, parse_time
from colline.graph.view import View
from colline.graph.walk import Question

Columns = str | Iterable[str]


def open_lake(lake: str | Path) -> Lineage:
    """The lineage of a lake. A lake with tables and no snapshot gets one first."""
    return Lineage(lake)


class Lineage:
    """The questions. Each looks whether a newer snapshot was published, and then answers from one only."""

    def __init__(self, lake: str | Path) -> None:
        self.lake = snapshot.lake_path(lake)
        self._stamp: tuple[int, int] | None = None
        self._view = self._load()

    def __enter__(self) -> Lineage:
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
        if snapshot.stamp(self.lake) != self._stamp:
            before, self._view = self._view, self._load()
            before.arrays.close()
        return self._view

    def _load(self) -> View:
        if not self.lake.is_dir():
            raise LakeError(f"no lake at {self.lake}", hint="check --lake or COLLINE_LAKE, or run `colline ingest`")
        stamp = snapshot.stamp(self.lake)
        arrays = snapshot.current(self.lake)
        if arrays is None:
            self._publish()
            stamp, arrays = snapshot.stamp(self.lake), snapshot.current(self.lake)
        assert arrays is not None
        self._stamp = stamp
        return View(arrays)

    def _publish(self) -> None:
        from colline.graph.tables import has_table

        if not has_table(self.lake, "gold/columns"):
            raise LakeError(f"the lake {self.lake} is empty", hint="run `colline ingest` to fill it")
        try:
            snapshot.publish(self.lake)
        except OSError as error:
            raise LakeError(
                f"the lake {self.lake} has no snapshot and none can be written: {error.strerror}",
                hint="run `colline ingest` as a user who may write there",
            ) from error

    def complete(self, text: str, most: int = 50) -> list[str]:
        """Names of columns that begin like what was typed, for a shell that completes them."""
        names = self.view().names
        found, _ = search.ranked_matches(self.view(), text, None) if text.strip(".") else ([], False)
        return [names.label(node) for kind, node in found if kind in ("exact", "prefix", "dataset")][:most]

    def find(self, text: str, *, limit: int | None = None, as_of: When = None, cursor: str | None = None) -> Answer:
        """Columns called like this, best match first."""
        view = self.view()
        return search.answer(view, text, page_of(limit, cursor, view.version), view.at(as_of))

    def upstream(  # noqa: PLR0913  # keyword-only flags, the same as the command line's
        self,
        columns: Columns,
        *,
        indirect: bool = False,
        depth: int | None = None,
        as_of: When = None,
        since: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """What feeds the columns, nearest first; which job on the way failed, changed, or has not run since a time."""
        view = self.view()
        at = view.at(as_of)
        question = Question(upstream=True, indirect=indirect, depth=depth, at=at)
        page = page_of(limit, cursor, view.version)
        return walks.answer(view, resolve(view, columns, at), question, page, parse_time(since))

    def downstream(  # noqa: PLR0913  # as above
        self,
        columns: Columns,
        *,
        indirect: bool = False,
        depth: int | None = None,
        as_of: When = None,
        since: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """What is built on the columns, nearest first."""
        view = self.view()
        at = view.at(as_of)
        question = Question(upstream=False, indirect=indirect, depth=depth, at=at)
        page = page_of(limit, cursor, view.version)
        return walks.answer(view, resolve(view, columns, at), question, page, parse_time(since))


def resolve(view: View, columns: Columns, at: int | None) -> Nodes:
    """The columns meant, at least one."""
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise ColumnError("no column was given", hint="write dataset.column")
    return view.names.resolve(names, at)
