"""What a lake knows about one table: columns, where each comes from, who writes and who uses it, personal data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import Literal

from colline.errors import ColumnError
from colline.graph.lineage import Lineage
from colline.graph.results import TableCard, WalkAnswer
from colline.graph.rows import ColumnRow, EdgeRow

Personal = Literal["clear", "masked"]
PersonalData = tuple[Personal, tuple[str, ...]]  # and the columns on the way
ALL_ROWS = "*"  # in the place of a column: the edge decides which rows the table has
MIN_RUNS_FOR_INTERVAL = 3
DEFAULT_TAGS = ("PII",)
# the time between writes is rounded, so that a contract does not change with every run
_INTERVALS = (("hour", timedelta(hours=1)), ("day", timedelta(days=1)), ("week", timedelta(days=7)))


@dataclass(frozen=True, slots=True, order=True)
class ContractEdge:
    """One dependency of a table: the column that depends, its source, how, and the job that defines it."""

    column: str
    source: str
    type: str
    subtype: str
    masking: bool
    expression: str
    job: str

    @property
    def key(self) -> tuple[str, str]:
        """What a change of the definition leaves as it is."""
        return self.column, self.source


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column: its type and tags, the columns it begins with, and whether it has personal data."""

    name: str
    type: str | None
    description: str | None = None
    tags: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    personal: Personal | None = None
    personal_path: tuple[str, ...] = ()  # from the tagged column to this one


@dataclass(frozen=True, slots=True)
class Consumer:
    """A job that reads the table, and the tables it writes from it; none for a query."""

    job: str
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableFacts:
    """Everything that a contract states about a table and that a lake can know."""

    namespace: str
    name: str
    label: str
    kind: str | None
    layer: str | None
    owner: str | None
    domain: str | None
    description: str | None
    tags: tuple[str, ...]
    columns: tuple[ColumnFacts, ...]
    edges: tuple[ContractEdge, ...]
    sources: tuple[tuple[str, str, str], ...]  # label, namespace and name of each table it is derived from
    writers: tuple[str, ...]
    consumers: tuple[Consumer, ...]
    last_written: str | None = None
    written_every: str | None = None
    partitions: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    def column_edges(self, column: str) -> list[ContractEdge]:
        """The edges into one column, or into its rows for `*`."""
        return [edge for edge in self.edges if edge.column == column]


class FactsReader:
    """Reads the facts of tables. `partitions_of` finds the partition columns of a dataset, where they are known."""

    def __init__(
        self,
        lineage: Lineage,
        as_of: str | None = None,
        tags: Sequence[str] = DEFAULT_TAGS,
        partitions_of: Callable[[str, str], Sequence[str]] = lambda _namespace, _name: (),
    ) -> None:
        self.lineage = lineage
        self.as_of = as_of
        self.tags = tags
        self.partitions_of = partitions_of

    def table(self, name: str, namespace: str | None = None) -> TableFacts:
        """The facts of a table, by a unique suffix of its name, or by namespace and name."""
        found = self.lineage.show(name, kind="table", namespace=namespace, as_of=self.as_of)
        assert isinstance(found, TableCard)
        columns = [f"{found.table.namespace}/{found.table.name}.{row.field}" for row in found.columns]
        into = self._walk(self.lineage.upstream, columns, depth=1, indirect=True)
        whole = self._walk(self.lineage.upstream, columns)
        out = self._walk(self.lineage.downstream, columns, depth=1, indirect=True)
        edges = _edges(found, into)
        writers = tuple(sorted({edge.job for edge in edges if edge.job} | {job.name for job in found.writers}))
        dataset = found.table
        return TableFacts(
            namespace=dataset.namespace,
            name=dataset.name,
            label=dataset.label,
            kind=dataset.kind,
            layer=dataset.layer,
            owner=dataset.owner,
            domain=dataset.domain,
            description=dataset.description,
            tags=tuple(dataset.tags),
            columns=self._columns(found, whole),
            edges=edges,
            sources=_sources(found, into),
            writers=writers,
            consumers=self._consumers(found, out),
            last_written=dataset.last_written,
            written_every=self._interval(writers),
            partitions=tuple(self.partitions_of(dataset.namespace, dataset.name)),
            gaps=tuple(f"{gap.what}: {gap.why}" for gap in whole.unknown) if whole else (),
        )

    def _walk(
        self, question: Callable[..., object], columns: list[str], *, depth: int | None = None, indirect: bool = False
    ) -> WalkAnswer | None:
        if not columns:
            return None
        answer = question(columns, depth=depth, indirect=indirect, as_of=self.as_of, limit=0)
        assert isinstance(answer, WalkAnswer)
        return answer

    @cached_property
    def personal(self) -> dict[int, PersonalData]:
        """Which columns have personal data, in clear or masked, and how it gets there; by the id of the column."""
        found: dict[int, PersonalData] = {}
        for tag in self.tags:
            try:
                answer = self.lineage.pii(tag=tag, as_of=self.as_of, limit=0)
            except ColumnError:  # nothing has this tag
                continue
            found |= {origin.id: ("clear", (origin.label,)) for origin in answer.of}
            for row in answer.landings:
                if row.verdict == "clear" or (row.verdict == "masked" and row.id not in found):
                    found[row.id] = (row.verdict, (row.source.label, *row.through, row.label))
        return found

    def _columns(self, found: TableCard, whole: WalkAnswer | None) -> tuple[ColumnFacts, ...]:
        origins = {} if whole is None else _origins(whole)
        nothing: tuple[None, tuple[str, ...]] = (None, ())
        rows = sorted(found.columns, key=lambda row: row.ordinal)
        return tuple(
            ColumnFacts(
                row.field,
                row.type,
                row.description,
                tuple(row.tags),
                tuple(sorted(origins.get(row.id, ()))),
                *self.personal.get(row.id, nothing),
            )
            for row in rows
        )

    def _consumers(self, found: TableCard, out: WalkAnswer | None) -> tuple[Consumer, ...]:
        if out is None:
            return ()
        tables: dict[str, set[str]] = defaultdict(set)
        of_column = {row.id: _table_label(row) for row in out.columns}
        for edge in out.edges:
            if edge.job and edge.to in of_column and of_column[edge.to] != found.table.label:
                tables[edge.job.name].add(of_column[edge.to])
        for reader in found.readers:
            tables.setdefault(reader.name, set())
        return tuple(Consumer(job, tuple(sorted(written))) for job, written in sorted(tables.items()))

    def _interval(self, writers: Iterable[str]) -> str | None:
        """How often the jobs write: `hour`, `day` or `week`; None if it is not known or not regular."""
        for job in writers:
            rows = self.lineage.runs(job=job, state="COMPLETE", limit=100).rows
            times = sorted(datetime.fromisoformat(row.started.replace("Z", "+00:00")) for row in rows if row.started)
            gaps = [later - earlier for earlier, later in pairwise(times)]
            if len(times) >= MIN_RUNS_FOR_INTERVAL:
                usual = median(gap.total_seconds() for gap in gaps)
                for name, interval in _INTERVALS:
                    if 0.5 < usual / interval.total_seconds() < 2:
                        return name
        return None


def _edges(found: TableCard, into: WalkAnswer | None) -> tuple[ContractEdge, ...]:
    if into is None:
        return ()
    fields = {row.id: row.field for row in found.columns}
    labels = {row.id: row.label for row in (*found.columns, *into.columns)}
    return tuple(sorted({_contract_edge(edge, fields[edge.to], labels[edge.from_])
                         for edge in into.edges if edge.to in fields and not edge.implied}))  # fmt: skip


def _contract_edge(edge: EdgeRow, column: str, source: str) -> ContractEdge:
    decides_rows = edge.level == "dataset"
    job = edge.job.name if edge.job else ""
    return ContractEdge(
        ALL_ROWS if decides_rows else column, source, edge.type, edge.subtype, edge.masking, edge.description, job
    )


def _sources(found: TableCard, into: WalkAnswer | None) -> tuple[tuple[str, str, str], ...]:
    rows = [] if into is None else into.columns
    return tuple(sorted({(_table_label(row), row.namespace, row.name) for row in rows
                         if (row.namespace, row.name) != (found.table.namespace, found.table.name)}))  # fmt: skip


def _table_label(row: ColumnRow) -> str:
    return row.label.removesuffix(f".{row.field}")


def _origins(whole: WalkAnswer) -> dict[int, set[str]]:
    """For each column of the walk, the columns without sources that its value comes from."""
    labels = {row.id: row.label for row in whole.columns}
    sources: dict[int, set[int]] = defaultdict(set)
    for edge in whole.edges:
        if edge.type == "DIRECT" and edge.from_ != edge.to:
            sources[edge.to].add(edge.from_)
    return {column: _roots(column, sources, labels) for column in list(sources)}


def _roots(column: int, sources: Mapping[int, set[int]], labels: Mapping[int, str]) -> set[str]:
    seen, waiting, roots = {column}, [column], set()
    while waiting:
        node = waiting.pop()
        before = sources.get(node, set())
        if not before and node in labels:
            roots.add(labels[node])
        waiting += before - seen
        seen |= before
    return roots
