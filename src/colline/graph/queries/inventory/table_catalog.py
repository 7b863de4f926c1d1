"""`tables` and `show TABLE`: tables by name, and one table with its columns, neighbours, writers and readers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import msgspec
import numpy as np

from colline.graph.answer import Page, count_of
from colline.graph.inventory_rows import DescribedDataset, ListedDataset, NeighbourDataset, SchemaColumn, SchemaVersion
from colline.graph.queries.inventory.column_degrees import counted_columns
from colline.graph.queries.inventory.coverage_gaps import open_gaps, unknown_rows
from colline.graph.queries.usage.readers import DEFAULT_IDLE_DAYS, ColumnUse, column_uses, read_window
from colline.graph.results import TableCard, TablesAnswer
from colline.graph.traversal.bfs import INDIRECT
from colline.graph.traversal.csr import Nodes, adjacency
from colline.graph.traversal.records import View
from colline.graph.traversal.times import time_or_none
from colline.graph.usage_rows import ReadingJob

MAX_NEIGHBOURS = 200


class _Neighbour(NamedTuple):
    """What edges lead to another dataset: their nodes there, their jobs, and whether a value flows."""

    nodes: set[int]
    jobs: set[int]
    is_direct: bool


def tables(view: View, page: Page, text: str | None, layer: str | None = None) -> TablesAnswer:
    """All datasets, or those with a name that contains the text."""
    found = matching_datasets(view, text or "")
    found = [place for place in found if layer is None or view.text("dataset.layer", place) == layer]
    return TablesAnswer(
        verdict=count_of(len(found), "table") if found else "no table has such a name" if text else "no known table",
        totals={"rows": len(found)},
        rows=listed_datasets(view, found[page.rows]),
        **page.answer_fields(len(found), view.as_of(None)),
    )


def matching_datasets(view: View, text: str) -> list[int]:
    """The datasets whose name contains the text."""
    names, wanted = view.names, text.lower()
    places = range(view.arrays.meta["datasets"])
    return [place for place in places if wanted in names.labels[place].lower() or wanted in names.paths[place].lower()]


def listed_datasets(view: View, places: Iterable[int]) -> list[ListedDataset]:
    """Datasets with the numbers of their columns and neighbours."""
    return [
        ListedDataset.extend(
            view.dataset(place),
            columns=len(view.names.dataset_columns(place)),
            upstream=len(_neighbours(view, place, None, forward=False)),
            downstream=len(_neighbours(view, place, None, forward=True)),
        )
        for place in places
    ]


def table_card(view: View, place: int, at: int | None) -> TableCard:
    """A dataset with its columns in the order of its schema, its neighbours, its writers and readers."""
    nodes = view.names.dataset_columns(place, at)
    row = view.dataset(place)
    up, down = (_neighbour_rows(view, place, at, forward=forward) for forward in (False, True))
    writers = [view.job(job) for job in view.writing_jobs(place, at)]
    readers = _readers(view, nodes, at)
    live = sum(reader.live for reader in readers)
    names = [job.name for job in writers]
    written = f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}" or "no known job"
    read = count_of(live, "job") if live else "no known job"
    verdict = f"{row.label} has {count_of(len(nodes), 'column')}; written by {written}; read by {read}"
    return TableCard(
        verdict=verdict,
        as_of=view.as_of(at),
        totals={
            "columns": len(nodes), "upstream": len(up), "downstream": len(down), "writers": len(writers),
            "readers": live,
        },
        table=DescribedDataset.extend(row, description=view.optional_text("dataset.description", place)),
        columns=_columns(view, nodes, at),
        upstream=up[:MAX_NEIGHBOURS],
        downstream=down[:MAX_NEIGHBOURS],
        writers=writers,
        readers=readers,
        schemas=_schema_versions(view, place),
        unknown=unknown_rows(view, open_gaps(view, datasets=np.array([place]), at=at)),
        snapshot=view.version,
    )  # fmt: skip


def _columns(view: View, nodes: Nodes, at: int | None) -> list[SchemaColumn]:
    ordinals = view.arrays["node.ordinal"].take(nodes).tolist()
    facts = zip(counted_columns(view, nodes, at), nodes.tolist(), ordinals, strict=True)
    return [
        SchemaColumn.extend(row, ordinal=ordinal, description=view.optional_text("node.description", node))
        for row, node, ordinal in facts
    ]


def _schema_versions(view: View, place: int) -> list[SchemaVersion]:
    stored = view.optional_text("dataset.schemas", place)
    return msgspec.json.decode(stored, type=list[SchemaVersion]) if stored else []


def _neighbour_rows(view: View, place: int, at: int | None, *, forward: bool) -> list[NeighbourDataset]:
    """The datasets one step away, those with values first."""
    rows = [
        NeighbourDataset.extend(
            view.dataset(other),
            columns=len(found.nodes),
            relation="direct" if found.is_direct else "indirect",
            jobs=[ref for job in sorted(found.jobs) if (ref := view.job_ref(job))],
        )
        for other, found in _neighbours(view, place, at, forward=forward).items()
    ]
    return sorted(rows, key=lambda row: (row.relation, row.label))


def _neighbours(view: View, place: int, at: int | None, *, forward: bool) -> dict[int, _Neighbour]:
    """The datasets one step away from a dataset."""
    arrays = view.arrays
    nodes = np.arange(*arrays["dataset.start"][[place, place + 1]], dtype=np.int64)
    out: dict[int, _Neighbour] = {}
    for edges in adjacency(arrays, forward=forward, indirect=True, past=at is not None):
        rows = edges.positions(nodes, at)
        other = edges.other.take(rows)
        homes, is_rows = arrays["node.dataset"].take(other), arrays["node.rows"].take(other)
        facts = zip(other.tolist(), homes.tolist(), is_rows.tolist(), edges.job.take(rows).tolist(), strict=True)
        for node, home, is_rows_node, job in facts:
            if home != place:
                found = out.get(home) or _Neighbour(set(), set(), False)
                out[home] = found._replace(is_direct=found.is_direct or not edges.bits & INDIRECT)
                found.jobs.add(job)
                found.nodes.update(() if is_rows_node else (node,))
    return out


def _readers(view: View, nodes: Nodes, at: int | None) -> list[ReadingJob]:
    """The jobs and queries that read columns of a table: live ones first, jobs that write other tables first."""
    by_job: dict[int, list[ColumnUse]] = defaultdict(list)
    for use in column_uses(view, nodes, read_window(view, DEFAULT_IDLE_DAYS, at)):
        by_job[use.job].append(use)
    rows = [_reading_job(view, job, uses) for job, uses in by_job.items()]
    return sorted(rows, key=lambda row: (not row.live, row.kind == "query", row.name))


def _reading_job(view: View, job: int, uses: list[ColumnUse]) -> ReadingJob:
    return ReadingJob.extend(
        view.job(job),
        kind="write" if any(use.kind == "write" for use in uses) else "query",
        uses=sorted({use.use for use in uses}),
        columns=len({use.column for use in uses}),
        last_read=time_or_none(max(use.last_read for use in uses)),
        live=any(use.is_live for use in uses),
    )
