"""`colline.open(lake)`: one object, one method a question, every answer from one snapshot.

The methods take the flags of the command line by keyword, hence their number of arguments. A question's module is
imported when it is first asked: a fresh process pays for the one it needs.
"""
# ruff: noqa: PLR0913  one keyword a flag

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colline.errors import SettingError
from colline.graph.answer import Answer, Page, page_of
from colline.graph.asked import Columns, resolve, schema_changes, steps
from colline.graph.lake_reader import with_missing_commits
from colline.graph.listing import Listing
from colline.graph.traversal.bfs import TraversalOptions
from colline.graph.traversal.name_index import parse
from colline.graph.traversal.records import View
from colline.graph.traversal.times import When, parse_time

if TYPE_CHECKING:
    from colline.graph.render.diagram_layout import Picture


def open_lake(lake: str | Path) -> Lineage:
    """The lineage of a lake. A lake with tables and no snapshot gets one first."""
    return Lineage(lake)


class Lineage(Listing):
    """The questions. Each looks whether a newer snapshot was published, and then answers from one only."""

    def complete(self, text: str, most: int = 50) -> list[str]:
        """Names of columns that begin like what was typed, for a shell that completes them."""
        from colline.graph.queries import find

        view = self.view()
        found, _ = find.ranked_matches(view, text, None) if text.strip(".") else ([], False)
        return [view.names.label(node) for kind, node in found if kind in ("exact", "prefix", "dataset")][:most]

    @with_missing_commits
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
        from colline.graph.queries import find

        view = self.view()
        return find.answer(view, text, page_of(limit, cursor, view.version), view.at(as_of), find.Only(layer, tag))

    @with_missing_commits
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
        question = TraversalOptions(True, indirect=indirect, depth=steps(depth), at=view.at(as_of))
        return self._walk(view, columns, question, since, grain, page_of(limit, cursor, view.version))

    @with_missing_commits
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
        question = TraversalOptions(False, indirect=indirect, depth=steps(depth), at=view.at(as_of))
        return self._walk(view, columns, question, since, grain, page_of(limit, cursor, view.version))

    def _walk(
        self, view: View, columns: Columns, question: TraversalOptions, since: When, grain: str, page: Page
    ) -> Answer:
        from colline.graph.queries import upstream_downstream

        origin = resolve(view, columns, question.at)
        if grain == "column":
            return upstream_downstream.answer(view, origin, question, page, parse_time(since))
        if grain not in ("table", "dataset", "job"):
            raise SettingError(f"{grain!r} is no grain", hint="column, table or job")
        from colline.graph.queries import rollup

        return rollup.answer(view, origin, question, page, "job" if grain == "job" else "table")

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
        """Tables and arrows around the columns, for `colline.graph.render.diagram`."""
        from colline.graph.render.diagram_layout import picture

        names = [columns] if isinstance(columns, str) else list(columns)
        how: dict[str, Any] = {"indirect": indirect, "depth": depth, "as_of": as_of}
        answers = [self.upstream(names, **how)] if up else []
        return picture([*answers, self.downstream(names, **how)] if down else answers)

    @with_missing_commits
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
        from colline.graph.queries import paths

        view = self.view()
        question = TraversalOptions(False, indirect=indirect, depth=steps(depth), at=view.at(as_of))
        if k < 1:
            raise SettingError(f"{k} paths", hint="ask for at least one")
        ends = [resolve(view, name, question.at) for name in (a, b)]
        return paths.answer(view, ends[0], ends[1], question, k)

    @with_missing_commits
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
        from colline.graph.queries import impact

        view = self.view()
        question = TraversalOptions(False, indirect=indirect, depth=steps(depth), at=view.at(as_of))
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

    @with_missing_commits
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
        from colline.graph.queries import pii

        view = self.view()
        question = TraversalOptions(False, indirect=indirect, depth=steps(depth), at=view.at(as_of))
        names = [columns] if isinstance(columns, str) else list(columns)
        if names and tag:
            raise SettingError("columns and a tag at once", hint="give one of them")
        origin = pii.tagged(view, tag, question.at) if tag else resolve(view, names, question.at)
        return pii.answer(view, origin, question, page_of(limit, cursor, view.version), allowed_zones)

    @with_missing_commits
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
        from colline.graph.queries import unused

        view = self.view()
        at = view.at(as_of)
        names = [columns] if isinstance(columns, str) else list(columns)
        nodes = view.names.resolve(names, at, members=False) if names else resolve(view, names, at)
        return unused.droppable(view, nodes, page_of(limit, cursor, view.version), unused.since(view, idle_days, at))

    @with_missing_commits
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
        from colline.graph.queries import find, unused

        view = self.view()
        at = view.at(as_of)
        nodes = self._columns_in(view, dataset, at)
        nodes = unused.all_columns(view, at) if nodes is None else nodes
        if layer is not None:
            nodes = nodes[find.in_layer(view, nodes, layer)]
        return unused.unused(view, nodes, page_of(limit, cursor, view.version), unused.since(view, idle_days, at))

    @with_missing_commits
    def writers(
        self, columns: Columns, *, as_of: When = None, limit: int | None = None, cursor: str | None = None
    ) -> Answer:
        """Who writes the columns, how each job derives them, and whether they agree."""
        from colline.graph.queries import writers

        view = self.view()
        at = view.at(as_of)
        return writers.writers(view, resolve(view, columns, at), page_of(limit, cursor, view.version), at)

    @with_missing_commits
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
        from colline.graph.queries import writers

        view = self.view()
        question = TraversalOptions(True, indirect=indirect, at=view.at(as_of))
        ends = [resolve(view, name, question.at) for name in (a, b)]
        return writers.compare(view, ends[0], ends[1], question, page_of(limit, cursor, view.version))

    @with_missing_commits
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
        from colline.graph.queries import diff

        view = self.view()
        page = page_of(limit, cursor, view.version)
        if jobs is not None:
            one, two = (diff.job_named(view, name) for name in jobs)
            return diff.between_jobs(view, one, two, page, view.at(as_of))
        if other is not None:
            with Lineage(other) as second:
                return diff.between_lakes(view, second.view(), page, parse_time(as_of))
        first, last = parse_time(from_), parse_time(to)
        if first is None:
            raise SettingError("no time to compare with", hint="give --from T, two jobs, or another lake")
        last = time.time_ns() // 1000 if last is None else last
        if last < first:
            raise SettingError("the second time is before the first", hint="swap --from and --to")
        place = None if dataset is None else view.names.dataset(parse(dataset.removesuffix(".*")).parts, dataset)
        return diff.between_times(view, first, last, page, place)
