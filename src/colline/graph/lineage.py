"""`colline.open(lake)`: one object, one method a question, every answer from one snapshot.

The methods take the flags of the command line by keyword, hence their number of arguments. A question's module is
imported when it is first asked: a fresh process pays for the one it needs.
"""
# ruff: noqa: PLR0913

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from colline.errors import ColumnError, LakeError, SettingError
from colline.graph import snapshot
from colline.graph.adjacency import Nodes
from colline.graph.answer import Answer, Page, Row, page_of
from colline.graph.names import parse
from colline.graph.times import When, parse_time
from colline.graph.view import View
from colline.graph.walk import Question

if TYPE_CHECKING:
    from colline.graph.layout import Picture

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
            if snapshot.stamp(self.lake) is not None:
                raise LakeError(
                    f"the snapshot of {self.lake} is of an older colline, and its tables are not there",
                    hint="run `colline ingest` on the lake with this version, and copy the snapshot again",
                )
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
        from colline.graph import search

        names = self.view().names
        found, _ = search.ranked_matches(self.view(), text, None) if text.strip(".") else ([], False)
        return [names.label(node) for kind, node in found if kind in ("exact", "prefix", "dataset")][:most]

    def find(
        self,
        text: str,
        *,
        layer: str | None = None,
        tag: str | None = None,
        as_of: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """Columns called like this, best match first."""
        from colline.graph import search

        view = self.view()
        return search.answer(view, text, page_of(limit, cursor, view.version), view.at(as_of), search.Only(layer, tag))

    def upstream(
        self,
        columns: Columns,
        *,
        indirect: bool = False,
        depth: int | None = None,
        as_of: When = None,
        since: When = None,
        grain: str = "column",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """What feeds the columns, nearest first; which job on the way failed, changed, or has not run since a time."""
        view = self.view()
        question = Question(True, indirect=indirect, depth=_depth(depth), at=view.at(as_of))
        return self._walk(view, columns, question, since, grain, page_of(limit, cursor, view.version))

    def downstream(
        self,
        columns: Columns,
        *,
        indirect: bool = False,
        depth: int | None = None,
        as_of: When = None,
        since: When = None,
        grain: str = "column",
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """What is built on the columns, nearest first."""
        view = self.view()
        question = Question(False, indirect=indirect, depth=_depth(depth), at=view.at(as_of))
        return self._walk(view, columns, question, since, grain, page_of(limit, cursor, view.version))

    def _walk(self, view: View, columns: Columns, question: Question, since: When, grain: str, page: Page) -> Answer:
        from colline.graph import walks

        origin = resolve(view, columns, question.at)
        if grain == "column":
            return walks.answer(view, origin, question, page, parse_time(since))
        if grain not in ("table", "dataset", "job"):
            raise SettingError(f"{grain!r} is no grain", hint="column, table or job")
        from colline.graph import grains

        return grains.answer(view, origin, question, page, "job" if grain == "job" else "table")

    def picture(
        self,
        columns: Columns,
        *,
        up: bool = True,
        down: bool = True,
        indirect: bool = False,
        depth: int | None = None,
        as_of: When = None,
    ) -> Picture:
        """Tables and arrows around the columns, for `colline.graph.draw`."""
        from colline.graph.layout import picture

        names = [columns] if isinstance(columns, str) else list(columns)
        how: dict[str, Any] = {"indirect": indirect, "depth": depth, "as_of": as_of}
        answers = [self.upstream(names, **how)] if up else []
        return picture([*answers, self.downstream(names, **how)] if down else answers)

    def paths(
        self,
        a: str,
        b: str,
        *,
        k: int = 5,
        indirect: bool = False,
        depth: int | None = None,
        as_of: When = None,
    ) -> Answer:
        """The k shortest ways from one column to another, and how many more there are."""
        from colline.graph import paths

        view = self.view()
        question = Question(False, indirect=indirect, depth=_depth(depth), at=view.at(as_of))
        if k < 1:
            raise SettingError(f"{k} paths", hint="ask for at least one")
        ends = [resolve(view, name, question.at) for name in (a, b)]
        return paths.answer(view, ends[0], ends[1], question, k)

    def impact(
        self,
        columns: Columns = (),
        *,
        change: str = "drop",
        diff: Sequence[str] = (),
        indirect: bool = True,
        depth: int | None = None,
        as_of: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """What breaks if the columns change; `diff` is SQL: two schemas, or ALTER statements, or a git diff."""
        from colline.graph import impact

        view = self.view()
        question = Question(False, indirect=indirect, depth=_depth(depth), at=view.at(as_of))
        if change not in impact.DOING:
            raise SettingError(f"{change!r} is no change", hint=", ".join(impact.DOING))
        page = page_of(limit, cursor, view.version)
        if not diff:
            return impact.answer(view, resolve(view, columns, question.at), question, page, impact.Change(change))
        rows = schema_changes(view, diff, question.at)
        origin, missed = impact.changed_columns(view, rows, question.at)
        kinds = {row["change"] for row in rows}
        told = impact.Change(kinds.pop() if len(kinds) == 1 else "change", tuple(rows), missed)
        return impact.answer(view, origin, question, page, told)

    def pii(
        self,
        columns: Columns = (),
        *,
        tag: str | None = None,
        allowed_zones: Sequence[str] = (),
        indirect: bool = True,
        depth: int | None = None,
        as_of: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """Where a personal datum ends up: clear, masked, by influence only; exits; violations of the allowed zones."""
        from colline.graph import pii

        view = self.view()
        question = Question(False, indirect=indirect, depth=_depth(depth), at=view.at(as_of))
        names = [columns] if isinstance(columns, str) else list(columns)
        if names and tag:
            raise SettingError("columns and a tag at once", hint="give one of them")
        origin = pii.tagged(view, tag, question.at) if tag else resolve(view, names, question.at)
        return pii.answer(view, origin, question, page_of(limit, cursor, view.version), allowed_zones)

    def droppable(
        self,
        columns: Columns,
        *,
        idle_days: int = 90,
        as_of: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """May the columns be dropped? yes, no or unknown, with readers and what could hide one."""
        from colline.graph import usage

        view = self.view()
        at = view.at(as_of)
        names = [columns] if isinstance(columns, str) else list(columns)
        nodes = view.names.resolve(names, at, members=False) if names else resolve(view, names, at)
        return usage.droppable(view, nodes, page_of(limit, cursor, view.version), usage.since(view, idle_days, at))

    def unused(
        self,
        dataset: str | None = None,
        *,
        layer: str | None = None,
        idle_days: int = 90,
        as_of: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """Columns that nobody reads."""
        from colline.graph import search, usage

        view = self.view()
        at = view.at(as_of)
        nodes = self._within(view, dataset, at)
        nodes = usage.all_columns(view, at) if nodes is None else nodes
        if layer is not None:
            nodes = nodes[search.in_layer(view, nodes, layer)]
        return usage.unused(view, nodes, page_of(limit, cursor, view.version), usage.since(view, idle_days, at))

    def _within(self, view: View, dataset: str | None, at: int | None) -> Nodes | None:
        if dataset is None:
            return None
        place = view.names.dataset(parse(dataset.removesuffix(".*")).parts, dataset)
        return view.names.dataset_columns(place, at)

    def writers(
        self, columns: Columns, *, as_of: When = None, limit: int | None = None, cursor: str | None = None
    ) -> Answer:
        """Who writes the columns, how each job derives them, and whether they agree."""
        from colline.graph import definitions

        view = self.view()
        at = view.at(as_of)
        return definitions.writers(view, resolve(view, columns, at), page_of(limit, cursor, view.version), at)

    def compare(
        self,
        a: str,
        b: str,
        *,
        indirect: bool = False,
        as_of: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """What two columns share and where they part."""
        from colline.graph import definitions

        view = self.view()
        question = Question(True, indirect=indirect, at=view.at(as_of))
        ends = [resolve(view, name, question.at) for name in (a, b)]
        return definitions.compare(view, ends[0], ends[1], question, page_of(limit, cursor, view.version))

    def diff(
        self,
        from_: When = None,
        to: When = None,
        *,
        jobs: tuple[str, str] | None = None,
        other: str | Path | None = None,
        dataset: str | None = None,
        as_of: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """What changed between two times, two jobs, or this lake and another."""
        from colline.graph import changes

        view = self.view()
        page = page_of(limit, cursor, view.version)
        if jobs is not None:
            one, two = (changes.job_named(view, name) for name in jobs)
            return changes.between_jobs(view, one, two, page, view.at(as_of))
        if other is not None:
            with Lineage(other) as second:
                return changes.between_lakes(view, second.view(), page, parse_time(as_of))
        first, last = parse_time(from_), parse_time(to)
        if first is None:
            raise SettingError("no time to compare with", hint="give --from T, two jobs, or another lake")
        last = time.time_ns() // 1000 if last is None else last
        if last < first:
            raise SettingError("the second time is before the first", hint="swap --from and --to")
        place = None if dataset is None else view.names.dataset(parse(dataset.removesuffix(".*")).parts, dataset)
        return changes.between_times(view, first, last, page, place)

    def coverage(
        self,
        *,
        kind: str | None = None,
        job: str | None = None,
        as_of: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """Where lineage is missing."""
        from colline.graph import catalog, changes

        view = self.view()
        place = None if job is None else changes.job_named(view, job)
        return catalog.coverage(view, page_of(limit, cursor, view.version), view.at(as_of), kind, place)

    def roots(self, dataset: str | None = None, **how: Any) -> Answer:
        """Columns that nothing feeds. Takes as_of, limit and cursor."""
        return self._ends("roots", dataset, **how)

    def leaves(self, dataset: str | None = None, **how: Any) -> Answer:
        """Columns that nothing is built on. Takes as_of, limit and cursor."""
        return self._ends("leaves", dataset, **how)

    def hubs(self, dataset: str | None = None, **how: Any) -> Answer:
        """Columns with the most neighbours first. Takes as_of, limit and cursor."""
        return self._ends("hubs", dataset, **how)

    def _ends(
        self,
        question: str,
        dataset: str | None,
        *,
        as_of: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        from colline.graph import catalog

        view = self.view()
        at = view.at(as_of)
        return catalog.ends(view, question, page_of(limit, cursor, view.version), at, self._within(view, dataset, at))

    def overview(self) -> Answer:
        """Layers and flows, recent changes, columns to try, and the state of the lake."""
        from colline.graph import catalog

        return catalog.overview(self.view(), self.lake)

    def dataset(self, namespace: str, name: str | None = None, *, as_of: When = None) -> Answer:
        """One dataset with its columns; by namespace and name, or by any unique suffix of its name."""
        from colline.graph import catalog

        view = self.view()
        if name is None:
            place = view.names.dataset(parse(namespace).parts, namespace)
        else:
            place = view.names.exact_dataset(namespace, name)
        return catalog.dataset(view, place, view.at(as_of))

    def datasets(
        self, text: str | None = None, *, layer: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Answer:
        """All datasets, or those whose name holds a text."""
        from colline.graph import catalog

        view = self.view()
        return catalog.datasets(view, page_of(limit, cursor, view.version), text, layer)

    def jobs(
        self, text: str | None = None, *, state: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Answer:
        """Jobs with their last state and times, the one that ran last first."""
        from colline.graph import catalog

        view = self.view()
        return catalog.jobs(view, page_of(limit, cursor, view.version), text, state)

    def runs(
        self,
        *,
        job: str | None = None,
        job_namespace: str | None = None,
        state: str | None = None,
        since: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """Runs with state and times, newest first; read from the lake's table of runs."""
        from colline.graph import journal

        view = self.view()
        wanted = journal.Runs(job, job_namespace, state, parse_time(since))
        return journal.runs(view, self.lake, page_of(limit, cursor, view.version), wanted)

    def quarantine(self, *, reason: str | None = None, limit: int | None = None, cursor: str | None = None) -> Answer:
        """Lines that were set aside, with the reason, newest first."""
        from colline.graph import journal

        view = self.view()
        return journal.quarantine(view, self.lake, page_of(limit, cursor, view.version), reason)


def _depth(depth: int | None) -> int | None:
    if depth is not None and depth < 1:
        raise SettingError(f"a depth of {depth}", hint="at least 1")
    return depth


def schema_changes(view: View, diff: Sequence[str], at: int | None) -> list[Row]:
    """The changes told by two schemas, by ALTER statements, by a git diff, or by a schema compared with the lake."""
    from colline.graph import ddl

    if len(diff) > 2:
        raise SettingError(f"{len(diff)} schemas", hint="give one text, or the old and the new one")
    if len(diff) == 2:
        return ddl.changes(diff[0], diff[1])
    rows = ddl.changes(diff[0])
    if rows or ddl.is_diff(diff[0]):
        return rows
    known = {}
    for table in ddl.creates(diff[0]):
        nodes = view.names.dataset_columns(view.names.dataset(table.split("."), table), at)
        types = view.arrays.strings("types")
        known[table] = {view.names.field(n): types[int(view.arrays["node.type"][n])] for n in nodes.tolist()}
    return ddl.against(diff[0], known)


def resolve(view: View, columns: Columns, at: int | None) -> Nodes:
    """The columns meant, at least one."""
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise ColumnError("no column was given", hint="write dataset.column")
    return view.names.resolve(names, at)
