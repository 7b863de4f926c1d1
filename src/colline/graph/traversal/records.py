"""Builds the rows of answers from the arrays of one snapshot: columns, datasets, jobs and edges."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from colline.errors import NoLineageYetError
from colline.flat.integer_arrays import NEVER, distinct, row_ranges
from colline.graph.rows import ColumnIdentity, ColumnRow, DatasetIdentity, DatasetRow, EdgeRow, JobIdentity, JobRow
from colline.graph.snapshot.array_file import SUBTYPES, Arrays
from colline.graph.traversal.csr import NO_NODES, Adjacency, Nodes, adjacency, count_neighbours
from colline.graph.traversal.name_index import SEPARATOR, NameIndex
from colline.graph.traversal.times import When, parse_time, show_time, time_or_none

Level = Literal["column", "dataset"]
CACHED_TEXTS = 200_000  # of each kind
MAX_DESCRIBED_COLUMNS = 1000  # of the columns asked about; beyond that an answer only has their names
_JOB_TEXTS = ("integration", "owner", "last_run", "last_state", "last_error")
_JOB_TIMES = ("first_seen", "last_started", "last_ended", "last_success", "last_failure", "changed_at")
_DATASET_TIMES = ("first_seen", "last_seen", "last_written", "last_read")


class _SharedFacts(NamedTuple):
    """What the columns of a dataset have in common."""

    namespace: str
    name: str
    label: str
    layer: str | None
    tags: list[str]


class View:
    """One snapshot, as rows. It never changes, so an answer built from one view is consistent."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.names = NameIndex(arrays)
        self.version = arrays.version
        self._texts: dict[str, Callable[[int], str]] = {}
        self._dataset_facts = lru_cache(CACHED_TEXTS)(self._read_dataset_facts)
        self.job_ref = lru_cache(CACHED_TEXTS)(self._read_job_ref)
        self.job = lru_cache(CACHED_TEXTS)(self._read_job)

    def moment(self, when: When) -> int | None:
        """The time asked for, None for now. A time before the first event is an error, not an empty answer."""
        at = parse_time(when)
        first = self.arrays.meta["first"]
        if at is not None and first is not None and at < first:
            hint = f"the first event was recorded at {show_time(first)}"
            raise NoLineageYetError(f"no lineage recorded before {show_time(at)}", hint=hint)
        return at

    def as_of(self, at: int | None) -> str:
        """The time of an answer: the time asked for, otherwise when the snapshot was published."""
        return show_time(self.arrays.meta["published"] if at is None else at)

    def last_moment(self) -> int:
        """The time of the newest event in the lake."""
        return int(self.arrays.meta["last"] or self.arrays.meta["published"])

    def texts(self, name: str) -> Callable[[int], str]:
        """Reads the texts of an array by position. A negative position has an empty text."""
        found = self._texts.get(name)
        if found is None:
            strings = self.arrays.strings(name)
            found = self._texts[name] = lru_cache(CACHED_TEXTS)(lambda place: strings[place] if place >= 0 else "")
        return found

    def text(self, name: str, place: int) -> str | None:
        """The text at a position of an array, None if it is empty."""
        return self.texts(name)(place) or None

    def optional_text(self, name: str, place: int) -> str | None:
        """The same for an array that not every snapshot has."""
        return self.text(name, place) if f"{name}.offsets" in self.arrays else None

    def time_of(self, name: str, place: int) -> str | None:
        """The time at a position of an array."""
        return time_or_none(int(self.arrays[name][place])) if place >= 0 else None

    # columns

    def ref(self, node: int) -> ColumnIdentity:
        """A column's identity."""
        home = self._dataset_facts(int(self.arrays["node.dataset"][node]))
        field = self.texts("fields")(int(self.arrays["node.field"][node]))
        key = int(self.arrays["node.id"][node])
        return ColumnIdentity(key, home.namespace, home.name, field, f"{home.label}.{field}")

    def columns(self, nodes: Nodes, at: int | None = None) -> list[ColumnRow]:
        """Columns with type, tags, layer and the number of direct neighbours."""
        arrays, facts = self.arrays, self._dataset_facts
        field_name, type_name = self.texts("fields"), self.texts("types")
        ids, homes, fields, types = (
            arrays[f"node.{name}"].take(nodes).tolist() for name in ("id", "dataset", "field", "type")
        )
        ups, downs = (self.neighbours(nodes, forward=forward, at=at).tolist() for forward in (False, True))
        own_tags = self._own_tags(nodes)
        out = []
        for place, (key, home, field, kind) in enumerate(zip(ids, homes, fields, types, strict=True)):
            namespace, dataset, label, layer, shared = facts(home)
            name, tags = field_name(field), own_tags.get(place) or list(shared)
            out.append(
                ColumnRow(
                    key, namespace, dataset, name, f"{label}.{name}", type_name(kind) or None, tags, layer,
                    ups[place], downs[place],
                )
            )  # fmt: skip
        return out

    def origin_rows(self, nodes: Nodes, at: int | None) -> tuple[ColumnIdentity, ...]:
        """The columns that a question is about."""
        if len(nodes) <= MAX_DESCRIBED_COLUMNS:
            return tuple(self.columns(nodes, at))
        return tuple(self.ref(node) for node in nodes.tolist())

    def tags(self, node: int) -> list[str]:
        """The tags of a column and of its dataset."""
        own = self.texts("node.tags")(node).split(SEPARATOR)
        shared = self._dataset_facts(int(self.arrays["node.dataset"][node])).tags
        return sorted({tag for tag in (*own, *shared) if tag})

    def _own_tags(self, nodes: Nodes) -> dict[int, list[str]]:
        """The tags of the columns that have tags of their own, by position in `nodes`."""
        _, lengths = row_ranges(self.arrays["node.tags.offsets"], nodes)
        return {place: self.tags(int(nodes[place])) for place in lengths.nonzero()[0].tolist()}

    def neighbours(self, nodes: Nodes, *, forward: bool, at: int | None) -> NDArray[np.int64]:
        """The number of other columns one direct step away from each node."""
        if at is None:
            return self.arrays["node.down" if forward else "node.up"].take(nodes)
        sets = adjacency(self.arrays, forward=forward, indirect=False, past=True)
        return count_neighbours(self.arrays, sets, nodes, at)

    # datasets and jobs

    def _read_dataset_facts(self, place: int) -> _SharedFacts:
        namespace, name, label, layer, tags = (
            self.arrays.strings(f"dataset.{key}")[place] for key in ("namespace", "name", "label", "layer", "tags")
        )
        return _SharedFacts(namespace, name, label, layer or None, sorted({t for t in tags.split(SEPARATOR) if t}))

    def dataset(self, place: int) -> DatasetRow:
        """A dataset."""
        arrays, names = self.arrays, self.names
        kind, layer, owner, domain = (
            self.text(f"dataset.{key}", place) for key in ("kind", "layer", "owner", "domain")
        )
        tags, links = (
            [text for text in arrays.strings(f"dataset.{key}")[place].split(SEPARATOR) if text]
            for key in ("tags", "symlinks")
        )
        times = {key: time_or_none(arrays[f"dataset.{key}"][place]) for key in _DATASET_TIMES}
        return DatasetRow(
            id=int(arrays["dataset.id"][place]),
            namespace=names.spaces[place],
            name=names.paths[place],
            label=names.labels[place],
            kind=kind,
            layer=layer,
            owner=owner,
            domain=domain,
            tags=tags,
            symlinks=links,
            dropped_at=time_or_none(arrays["dataset.until"][place]),
            **times,
        )

    def dataset_ref(self, place: int) -> DatasetIdentity:
        """A dataset's identity."""
        found = self._dataset_facts(place)
        return DatasetIdentity(found.namespace, found.name, found.label, found.layer)

    def dataset_identity(self, namespace: str, name: str) -> DatasetIdentity:
        """The identity of a dataset that an event names; one that the snapshot does not have is called by its name."""
        place = self.names.find_exact_dataset(namespace, name)
        return DatasetIdentity(namespace, name, name, None) if place is None else self.dataset_ref(place)

    def writing_jobs(self, dataset: int, at: int | None) -> list[int]:
        """The jobs that write a dataset: those of the edges to it, and those whose events list it as an output."""
        arrays = self.arrays
        nodes = np.arange(*arrays["dataset.start"][[dataset, dataset + 1]], dtype=np.int64)
        jobs = [
            edges.job.take(edges.positions(nodes, at))
            for edges in adjacency(arrays, forward=False, indirect=True, past=at is not None)
        ]
        if "job.outputs" in arrays and at is None:
            written = np.flatnonzero(arrays["job.outputs"] == dataset)
            jobs.append((np.searchsorted(arrays["job.outputs.start"], written, "right") - 1).astype(np.int32))
        return [job for job in distinct(np.concatenate([NO_NODES, *jobs])).tolist() if job >= 0]

    def _read_job_ref(self, job: int) -> JobIdentity | None:
        """A job's identity, None for an edge without a job."""
        return JobIdentity(self.texts("job.namespace")(job), self.texts("job.name")(job)) if job >= 0 else None

    def _read_job(self, job: int) -> JobRow:
        """A job. The job of an edge without one is called `?`."""
        if job < 0:
            return JobRow(id=-1, namespace="", name="?", runs=0, **dict.fromkeys((*_JOB_TEXTS, *_JOB_TIMES)))
        namespace, name = (self.arrays.strings(f"job.{key}")[job] for key in ("namespace", "name"))
        texts = {key: self.arrays.strings(f"job.{key}")[job] or None for key in _JOB_TEXTS}
        times = {key: self.time_of(f"job.{key}", job) for key in _JOB_TIMES}
        runs = int(self.arrays["job.runs"][job])
        return JobRow(id=int(self.arrays["job.id"][job]), namespace=namespace, name=name, runs=runs, **texts, **times)

    # edges

    def edge(self, edges: Adjacency, row: int, ends: tuple[int, int], *, level: Level = "column") -> EdgeRow:
        """The edge at a row, between a source and a target column."""
        source, target = (np.array([end], dtype=np.int64) for end in ends)
        return self.edges(edges, np.array([row], dtype=np.int64), (source, target), level=level)[0]

    def edges(
        self, edges: Adjacency, rows: Nodes, ends: tuple[Nodes, Nodes], *, level: Level = "column"
    ) -> list[EdgeRow]:
        """The edges at some rows, between source and target columns."""
        arrays, place = self.arrays, edges.edges(rows)
        subtypes, runs, seen, descriptions, implied = (
            arrays[f"{edges.group}.{name}"].take(place).tolist()
            for name in ("subtype", "run", "seen", "description", "implied")
        )
        sources, targets = (arrays["node.id"].take(side).tolist() for side in ends)
        jobs, since = edges.job.take(rows).tolist(), edges.since.take(rows).tolist()
        until = [NEVER] * len(rows) if edges.until is None else edges.until.take(rows).tolist()
        job_ref, state, run_id, description = (
            self.job_ref, self.texts("job.last_state"), self.texts("runs"), self.texts("descriptions")
        )  # fmt: skip
        kind: Literal["DIRECT", "INDIRECT"] = "INDIRECT" if edges.bits & 2 else "DIRECT"
        masking = bool(edges.bits & 1)
        facts = zip(sources, targets, subtypes, jobs, runs, seen, since, until, descriptions, implied, strict=True)
        return [
            EdgeRow(
                source, target, kind, SUBTYPES[subtype], masking, job_ref(job), run_id(run) or None, state(job) or None,
                time_or_none(last), time_or_none(first), time_or_none(end), description(text), level, is_implied,
            )
            for source, target, subtype, job, run, last, first, end, text, is_implied in facts
        ]  # fmt: skip
