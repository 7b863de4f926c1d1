"""The questions that list: where lineage is missing, the ends of the graph, datasets, jobs, runs, what was set aside.

The methods take the flags of the command line by keyword, hence their number of arguments.
"""

from __future__ import annotations

from typing import Any

from colline.errors import SettingError
from colline.graph.answer import Answer, page_of
from colline.graph.lake_reader import LakeReader, with_missing_commits
from colline.graph.traversal.name_index import parse
from colline.graph.traversal.times import When, parse_time


class Listing(LakeReader):
    """Lists of an open lake."""

    @with_missing_commits
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
        from colline.graph.queries import catalog, diff

        view = self.view()
        kind = None if kind is None else catalog.gap_kind(kind)
        place = None if job is None else diff.job_named(view, job)
        return catalog.coverage(view, page_of(limit, cursor, view.version), view.at(as_of), kind, place)

    def columns(  # noqa: PLR0913  # one keyword per parameter of the question
        self,
        dataset: str | None = None,
        *,
        roots: bool = False,
        leaves: bool = False,
        top: int | None = None,
        as_of: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        """Columns that nothing feeds, that feed nothing, or with the most direct neighbours."""
        if roots + leaves + (top is not None) != 1:
            raise SettingError("columns needs one of roots, leaves and top", hint="use --roots, --leaves or --top N")
        question = "roots" if roots else "leaves" if leaves else "hubs"
        page = limit if top is None or cursor else min(top, limit or top)
        return self._ends(question, dataset, as_of=as_of, limit=page, cursor=cursor)

    def roots(self, dataset: str | None = None, **how: Any) -> Answer:
        """Columns that nothing feeds. Takes as_of, limit and cursor."""
        return self._ends("roots", dataset, **how)

    def leaves(self, dataset: str | None = None, **how: Any) -> Answer:
        """Columns that nothing is built on. Takes as_of, limit and cursor."""
        return self._ends("leaves", dataset, **how)

    def hubs(self, dataset: str | None = None, **how: Any) -> Answer:
        """Columns with the most neighbours first. Takes as_of, limit and cursor."""
        return self._ends("hubs", dataset, **how)

    @with_missing_commits
    def _ends(
        self,
        question: str,
        dataset: str | None,
        *,
        as_of: When = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Answer:
        from colline.graph.queries import catalog

        view = self.view()
        at = view.at(as_of)
        return catalog.ends(
            view, question, page_of(limit, cursor, view.version), at, self._columns_in(view, dataset, at)
        )

    @with_missing_commits
    def overview(self) -> Answer:
        """Layers and flows, recent changes, columns to try, and the state of the lake."""
        from colline.graph.queries import catalog

        return catalog.overview(self.view(), self._has("bronze/quarantine"))

    @with_missing_commits
    def dataset(self, namespace: str, name: str | None = None, *, as_of: When = None) -> Answer:
        """One dataset with its columns; by namespace and name, or by any unique suffix of its name."""
        from colline.graph.queries import catalog

        view = self.view()
        if name is None:
            place = view.names.dataset(parse(namespace).parts, namespace)
        else:
            place = view.names.exact_dataset(namespace, name)
        return catalog.dataset(view, place, view.at(as_of))

    @with_missing_commits
    def datasets(
        self, text: str | None = None, *, layer: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Answer:
        """All datasets, or those whose name holds a text."""
        from colline.graph.queries import catalog

        view = self.view()
        return catalog.datasets(view, page_of(limit, cursor, view.version), text, layer)

    @with_missing_commits
    def jobs(
        self, text: str | None = None, *, state: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Answer:
        """Jobs with their last state and times, the one that ran last first."""
        from colline.graph.queries import catalog

        view = self.view()
        return catalog.jobs(view, page_of(limit, cursor, view.version), text, state)

    @with_missing_commits
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
        from colline.graph.queries import run_history

        view = self.view()
        wanted = run_history.Runs(job, job_namespace, state, parse_time(since))
        return run_history.runs(view, self._has("silver/runs"), page_of(limit, cursor, view.version), wanted)

    @with_missing_commits
    def quarantine(self, *, reason: str | None = None, limit: int | None = None, cursor: str | None = None) -> Answer:
        """Lines that were set aside, with the reason, newest first."""
        from colline.graph.queries import run_history

        view = self.view()
        return run_history.quarantine(
            view, self._has("bronze/quarantine"), page_of(limit, cursor, view.version), reason
        )
