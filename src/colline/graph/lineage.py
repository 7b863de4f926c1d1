"""`colline.open(lake)`: one object with one method for each question.

The parameters and defaults of the methods are those of `colline.graph.queries.registry`. The module of a question is
imported when the question is first asked, so that a CLI command loads only what it needs.
"""
# ruff: noqa: PLR0913  # one keyword for each parameter of a question

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from colline.environment.extras import report_missing_extras
from colline.errors import ColumnError, LakeError, SettingError
from colline.graph.answer import page_at
from colline.graph.lake_reader import LakeReader, with_missing_commits
from colline.graph.queries.registry import DEFAULT_IDLE_DAYS, DEFAULT_LIMIT
from colline.graph.traversal.bfs import TraversalOptions
from colline.graph.traversal.csr import Nodes
from colline.graph.traversal.job_lookup import job_named
from colline.graph.traversal.records import View
from colline.graph.traversal.times import When, parse_time
from colline.graph.traversal.typed_name import parse

if TYPE_CHECKING:
    from colline.contracts.data_contract import DataContract
    from colline.graph import results
    from colline.graph.render.diagram_layout import Picture

Columns = str | Iterable[str]


def open_lake(lake: str | Path) -> Lineage:
    """The lineage of a lake. Publishes a snapshot if the lake has tables but no snapshot."""
    with report_missing_extras():
        return Lineage(lake)


class Lineage(LakeReader):
    """The questions about a lake. Each question uses the newest snapshot, and only that one."""

    def complete(self, text: str, limit: int = 50) -> list[str]:
        """Names of columns that begin with the text, for shell completion."""
        from colline.graph.queries import find

        return find.column_completions(self.view(), text, limit)

    def complete_table(self, text: str, limit: int = 50) -> list[str]:
        """Names of tables and jobs that begin with the text, for shell completion."""
        from colline.graph.queries import find

        return find.table_completions(self.view(), text, limit)

    @with_missing_commits
    def find(
        self, text: str, *, layer: str | None = None, tag: str | None = None, as_of: When = None,
        limit: int = DEFAULT_LIMIT, cursor: str | None = None,
    ) -> results.FindAnswer:  # fmt: skip
        """Columns by name, best match first."""
        from colline.graph.queries import find

        view = self.view()
        page = page_at(limit, cursor, view.version)
        return find.answer(view, text, page, view.moment(as_of), only=find.Filter(layer, tag))

    @with_missing_commits
    def upstream(
        self, columns: Columns, *, indirect: bool = False, depth: int | None = None, as_of: When = None,
        since: When = None, grain: str = "column", limit: int = DEFAULT_LIMIT, cursor: str | None = None,
    ) -> results.WalkAnswer | results.TableWalkAnswer | results.JobWalkAnswer:  # fmt: skip
        """What feeds the columns, nearest first, and which jobs failed, changed or are stale since a time."""
        view = self.view()
        options = TraversalOptions(True, indirect=indirect, depth=_depth(depth), at=view.moment(as_of))
        return _walk(view, columns, options, (limit, cursor), since=since, grain=grain)

    @with_missing_commits
    def downstream(
        self, columns: Columns, *, indirect: bool = False, depth: int | None = None, as_of: When = None,
        since: When = None, grain: str = "column", limit: int = DEFAULT_LIMIT, cursor: str | None = None,
    ) -> results.WalkAnswer | results.TableWalkAnswer | results.JobWalkAnswer:  # fmt: skip
        """What is built on the columns, nearest first."""
        view = self.view()
        options = TraversalOptions(False, indirect=indirect, depth=_depth(depth), at=view.moment(as_of))
        return _walk(view, columns, options, (limit, cursor), since=since, grain=grain)

    def picture(
        self, columns: Columns, *, up: bool = True, down: bool = True, indirect: bool = False,
        depth: int | None = None, as_of: When = None,
    ) -> Picture:  # fmt: skip
        """The tables and edges around columns, laid out for `colline.graph.render.diagram`."""
        from colline.graph.queries import upstream_downstream
        from colline.graph.render.diagram_layout import picture

        view = self.view()
        at, page = view.moment(as_of), page_at(DIAGRAM_LIMIT, None, view.version)
        origin, answers = _resolve(view, columns, at), []
        for upstream in [True] * up + [False] * down:
            options = TraversalOptions(upstream, indirect=indirect, depth=_depth(depth), at=at)
            answers.append(upstream_downstream.answer(view, origin, options, page))
        return picture(answers)

    @with_missing_commits
    def paths(
        self, a: str, b: str, *, k: int = 5, indirect: bool = False, depth: int | None = None, as_of: When = None,
    ) -> results.PathsAnswer:  # fmt: skip
        """The k shortest paths from one column to another, and how many more there are."""
        from colline.graph.queries import paths

        view = self.view()
        options = TraversalOptions(False, indirect=indirect, depth=_depth(depth), at=view.moment(as_of))
        if k < 1:
            raise SettingError(f"k is {k}", hint="use at least 1")
        return paths.answer(view, _resolve(view, a, options.at), _resolve(view, b, options.at), options, k=k)

    @with_missing_commits
    def impact(
        self, columns: Columns = (), *, change: str = "drop", diff: Sequence[str] = (), indirect: bool = True,
        depth: int | None = None, as_of: When = None, grain: str = "column", limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> results.ImpactAnswer:  # fmt: skip
        """What breaks if columns change. `diff` is SQL: ALTER statements, a git diff, one schema, or two schemas."""
        from colline.graph.queries import impact
        from colline.graph.queries.differences import schema_diff

        view = self.view()
        options = TraversalOptions(False, indirect=indirect, depth=_depth(depth), at=view.moment(as_of))
        if change not in impact.VERBS:
            raise SettingError(f"{change!r} is not a kind of change", hint=f"use {', '.join(impact.VERBS)}")
        page = page_at(limit, cursor, view.version)
        if not diff:
            origin = _resolve(view, columns, options.at)
            found = impact.answer(view, origin, options, page, change=impact.Change(change))
            return impact.by_grain(found, _grain(grain), page)
        changes = tuple(schema_diff.schema_changes(view, diff, options.at))
        origin, unknown = impact.changed_columns(view, changes, options.at)
        kinds = {row.change for row in changes}
        kind = kinds.pop() if len(kinds) == 1 else "change"
        found = impact.answer(view, origin, options, page, change=impact.Change(kind, changes, unknown))
        return impact.by_grain(found, _grain(grain), page)

    @with_missing_commits
    def pii(
        self, columns: Columns = (), *, tag: str | None = None, allowed_zones: Sequence[str] = (),
        indirect: bool = True, depth: int | None = None, as_of: When = None, grain: str = "column",
        limit: int = DEFAULT_LIMIT, cursor: str | None = None,
    ) -> results.PiiAnswer:  # fmt: skip
        """Where personal data ends up: in clear, masked, or indirect only. With exits and violations of zones."""
        from colline.graph.queries import pii

        view = self.view()
        options = TraversalOptions(False, indirect=indirect, depth=_depth(depth), at=view.moment(as_of))
        if columns and tag:
            raise SettingError("columns and a tag were given", hint="give one of them")
        origin = pii.columns_with_tag(view, tag, options.at) if tag else _resolve(view, columns, options.at)
        answer = pii.by_table if _grain(grain, "column", "table") == "table" else pii.answer
        return answer(view, origin, options, page_at(limit, cursor, view.version), zones=allowed_zones)

    @with_missing_commits
    def droppable(
        self, columns: Columns, *, idle_days: int = DEFAULT_IDLE_DAYS, as_of: When = None, grain: str = "column",
        limit: int = DEFAULT_LIMIT, cursor: str | None = None,
    ) -> results.DroppableAnswer | results.DroppableTablesAnswer:  # fmt: skip
        """Whether columns can be dropped: yes, no or unknown, with their readers."""
        from colline.graph.queries.usage import readers, unused, whole_tables

        view = self.view()
        at = view.moment(as_of)
        nodes = _resolve(view, columns, at, nested_fields=False)
        window = readers.read_window(view, idle_days, at)
        is_by_table = _grain(grain, "column", "table") == "table"
        answer = whole_tables.droppable_tables if is_by_table else unused.droppable
        return answer(view, nodes, page_at(limit, cursor, view.version), window)

    @with_missing_commits
    def unused(
        self, dataset: str | None = None, *, layer: str | None = None, idle_days: int = DEFAULT_IDLE_DAYS,
        as_of: When = None, grain: str = "column", limit: int = DEFAULT_LIMIT, cursor: str | None = None,
    ) -> results.UnusedAnswer | results.UnusedTablesAnswer:  # fmt: skip
        """Columns that nobody reads."""
        from colline.graph.queries import find
        from colline.graph.queries.inventory import column_degrees
        from colline.graph.queries.usage import readers, unused, whole_tables

        view = self.view()
        at = view.moment(as_of)
        nodes = column_degrees.all_columns(view, at) if dataset is None else _columns_of(view, dataset, at)
        if layer is not None:
            nodes = nodes[find.is_in_layer(view, nodes, layer)]
        window = readers.read_window(view, idle_days, at)
        is_by_table = _grain(grain, "column", "table") == "table"
        answer = whole_tables.unused_tables if is_by_table else unused.unused
        return answer(view, nodes, page_at(limit, cursor, view.version), window)

    @with_missing_commits
    def writers(
        self, columns: Columns, *, as_of: When = None, limit: int = DEFAULT_LIMIT, cursor: str | None = None
    ) -> results.WritersAnswer:
        """The jobs that write the columns, how each defines them, and whether the definitions agree."""
        from colline.graph.queries import writers

        view = self.view()
        at = view.moment(as_of)
        return writers.answer(view, _resolve(view, columns, at), page_at(limit, cursor, view.version), at)

    @with_missing_commits
    def compare(
        self, a: str, b: str, *, indirect: bool = False, as_of: When = None, limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> results.CompareAnswer:  # fmt: skip
        """What two columns share, and where their lineage diverges."""
        from colline.graph.queries.differences import compare

        view = self.view()
        options = TraversalOptions(True, indirect=indirect, at=view.moment(as_of))
        page = page_at(limit, cursor, view.version)
        return compare.answer(view, _resolve(view, a, options.at), _resolve(view, b, options.at), options, page=page)

    @with_missing_commits
    def diff(
        self, from_: When = None, to: When = None, *, jobs: tuple[str, str] | None = None,
        other: str | Path | None = None, dataset: str | None = None, as_of: When = None, limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> results.DiffAnswer:  # fmt: skip
        """What changed last, or between two times, two jobs, or this lake and another."""
        from colline.graph.queries.differences import diff

        view = self.view()
        page = page_at(limit, cursor, view.version)
        if jobs:
            one, two = (job_named(view, name) for name in jobs)
            return diff.between_jobs(view, one, two, page, at=view.moment(as_of))
        if other is not None:
            with Lineage(other) as second:
                return diff.between_lakes(view, second.view(), page, parse_time(as_of))
        first, last = parse_time(from_), parse_time(to)
        last = time.time_ns() // 1000 if last is None else last
        place = None if dataset is None else view.names.dataset(parse(dataset.removesuffix(".*")).parts, dataset)
        if first is None:
            return diff.last_change(view, last, page, place)
        if last < first:
            raise SettingError("the second time is before the first", hint="swap --from and --to")
        return diff.between_times(view, first, last, page, dataset=place)

    @with_missing_commits
    def coverage(
        self, *, kind: str | None = None, job: str | None = None, as_of: When = None, limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> results.CoverageAnswer:  # fmt: skip
        """Where lineage is missing."""
        from colline.graph.queries.inventory import coverage_gaps

        view = self.view()
        kind = None if kind is None else coverage_gaps.gap_kind(kind)
        place = None if job is None else job_named(view, job)
        return coverage_gaps.coverage(view, page_at(limit, cursor, view.version), view.moment(as_of), kind, job=place)

    @with_missing_commits
    def columns(
        self, dataset: str | None = None, *, roots: bool = False, leaves: bool = False, top: int | None = None,
        as_of: When = None, limit: int = DEFAULT_LIMIT, cursor: str | None = None,
    ) -> results.ColumnsAnswer:  # fmt: skip
        """Columns that nothing feeds (`roots`), that feed nothing (`leaves`), or with the most neighbours (`top`)."""
        from colline.graph.queries.inventory import column_degrees

        view = self.view()
        at = view.moment(as_of)
        within = None if dataset is None else _columns_of(view, dataset, at)
        which = column_degrees.selection(roots=roots, leaves=leaves, top=top)
        return column_degrees.answer(view, page_at(limit, cursor, view.version), at, within, which=which, top=top or 0)

    @with_missing_commits
    def overview(self) -> results.OverviewAnswer:
        """Layers and flows, recent changes, example columns, and the health of the lake."""
        from colline.graph.queries.inventory import overview

        return overview.overview(self.view(), self._has("bronze/quarantine"))

    @with_missing_commits
    def tables(
        self, text: str | None = None, *, layer: str | None = None, limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> results.TablesAnswer:  # fmt: skip
        """All tables, files, topics and other datasets, or those with a name that contains the text."""
        from colline.graph.queries.inventory import table_catalog

        view = self.view()
        return table_catalog.tables(view, page_at(limit, cursor, view.version), text, layer)

    @with_missing_commits
    def jobs(
        self, text: str | None = None, *, state: str | None = None, limit: int = DEFAULT_LIMIT,
        cursor: str | None = None,
    ) -> results.JobsAnswer:  # fmt: skip
        """Jobs with the state and times of their runs, last started first."""
        from colline.graph.queries.inventory import job_catalog

        view = self.view()
        return job_catalog.jobs(view, page_at(limit, cursor, view.version), text, state)

    @with_missing_commits
    def show(
        self, name: str, *, kind: str | None = None, namespace: str | None = None, as_of: When = None
    ) -> results.TableCard | results.JobCard:
        """One table or job, by any unique suffix of its name; with a namespace, by its whole name."""
        from colline.graph.queries.inventory import job_catalog, named_object, table_catalog

        view = self.view()
        at = view.moment(as_of)
        found = named_object.resolve(view, name, kind, namespace)
        if found.kind == "table":
            return table_catalog.table_card(view, found.place, at)
        return job_catalog.job_card(view, found.place, self._lake_with_runs(), at)

    def _lake_with_runs(self) -> Path:
        """The lake with the history of runs; events in memory have none, and the rest of a job's card is known."""
        with suppress(LakeError):
            return self._has("silver/runs")
        return self.lake

    def contract(self, table: str, *, as_of: str | None = None) -> DataContract:
        """The data contract of a table: schema, sources of each column, consumers, personal data."""
        # a method of the public API that needs an upper layer: only contracts knows the standard
        from colline.contracts.data_contract import contract_of

        return contract_of(self, table, as_of)

    @with_missing_commits
    def runs(
        self, *, run: str | None = None, job: str | None = None, job_namespace: str | None = None,
        state: str | None = None, since: When = None, limit: int = DEFAULT_LIMIT, cursor: str | None = None,
    ) -> results.RunsAnswer:  # fmt: skip
        """Runs with state and times, last started first."""
        from colline.graph.queries.inventory import run_history

        view = self.view()
        wanted = run_history.RunFilter(run, job, job_namespace, state, parse_time(since))
        return run_history.runs(view, self._has("silver/runs"), page_at(limit, cursor, view.version), wanted)

    @with_missing_commits
    def quarantine(
        self, *, reason: str | None = None, limit: int = DEFAULT_LIMIT, cursor: str | None = None
    ) -> results.QuarantineAnswer:
        """Lines that could not be ingested, with the reason, newest first."""
        from colline.graph.queries.inventory import run_history

        view = self.view()
        page = page_at(limit, cursor, view.version)
        return run_history.quarantine(view, self._has("bronze/quarantine"), page, reason)


DIAGRAM_LIMIT = 500  # columns upstream and downstream of a diagram


def _walk(
    view: View,
    columns: Columns,
    options: TraversalOptions,
    rows: tuple[int, str | None],
    *,
    since: When,
    grain: str,
) -> results.WalkAnswer | results.TableWalkAnswer | results.JobWalkAnswer:
    from colline.graph.queries import upstream_downstream

    origin, page = _resolve(view, columns, options.at), page_at(*rows, view.version)
    if _grain(grain) == "column":
        return upstream_downstream.answer(view, origin, options, page, since=parse_time(since))
    from colline.graph.queries import rollup

    return (rollup.by_job if grain == "job" else rollup.by_table)(view, origin, options, page)


def _grain(grain: str, *known: str) -> str:
    """One of the known grains."""
    choices = known or ("column", "table", "job")
    if grain not in choices:
        raise SettingError(f"{grain!r} is not a grain", hint=f"use {', '.join(choices)}")
    return grain


def _depth(depth: int | None) -> int | None:
    if depth is not None and depth < 1:
        raise SettingError(f"the depth is {depth}", hint="use at least 1")
    return depth


def _resolve(view: View, columns: Columns, at: int | None, *, nested_fields: bool = True) -> Nodes:
    """The columns with these names, at least one."""
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise ColumnError("no column was given", hint="write dataset.column")
    return view.names.resolve(names, at, members=nested_fields)


def _columns_of(view: View, dataset: str, at: int | None) -> Nodes:
    place = view.names.dataset(parse(dataset.removesuffix(".*")).parts, dataset)
    return view.names.dataset_columns(place, at)
