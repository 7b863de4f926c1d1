"""One snapshot with words: how its columns, datasets, jobs, edges and gaps are written in an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from colline.errors import NoLineageYetError
from colline.graph.answer import KeptRow, Row
from colline.graph.snapshot.array_file import NEVER, SUBTYPES, UNKNOWN, Arrays
from colline.graph.traversal.csr import Adjacency, Nodes, adjacency, count_neighbours, is_among, row_ranges
from colline.graph.traversal.name_index import SEPARATOR, NameIndex
from colline.graph.traversal.times import When, parse_time, show_time, time_or_none

REMEMBERED = 200_000  # texts of a kind kept in memory once they were read
FEW_ASKED = 1000  # columns asked about that are told in full
_JOB_TEXTS = ("namespace", "name", "integration", "owner", "last_run", "last_state", "last_error")
_JOB_TIMES = ("first_seen", "last_started", "last_ended", "last_success", "last_failure", "changed_at")


_Value = TypeVar("_Value")


class Memo(dict[int, _Value]):
    """What was read once, by its place: the same words stand in many answers, and a look is cheaper than a call."""

    def __init__(self, read: Callable[[int], _Value]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, place: int) -> _Value:
        if len(self) >= REMEMBERED:
            self.clear()
        found = self[place] = self._read(place)
        return found


class Home(NamedTuple):
    """What the columns of a dataset have in common."""

    namespace: str
    name: str
    label: str
    layer: str | None
    tags: tuple[str, ...]


# id, dataset, field, type, direct neighbours upstream and downstream, own tags
ColumnFacts = tuple[int, int, int, int, int, int, list[str] | None]
# id of the source and of the target, subtype, job, run, last seen, first seen, retired, description, implied
EdgeFacts = tuple[int, int, int, int, int, int, int, int, int, bool]


class View:
    """What answers are written from. It never changes: one answer, one view."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.names = NameIndex(arrays)
        self.version = arrays.version
        self._texts: dict[str, Memo[str]] = {}
        self._jobs: dict[int, KeptRow] = {}
        self.homes = Memo(self._read_home)
        self._claims = Memo(self.job_ref)
        self._states = Memo(lambda job: self.text("job.last_state", job))
        self._times = Memo(time_or_none)

    def at(self, when: When) -> int | None:
        """The moment asked for; one before everything the lake knows is an error, not an empty answer."""
        moment = parse_time(when)
        first = self.arrays.meta["first"]
        if moment is not None and first is not None and moment < first:
            hint = f"the first event was recorded at {show_time(first)}"
            raise NoLineageYetError(f"no lineage recorded before {show_time(moment)}", hint=hint)
        return moment

    def as_of(self, at: int | None) -> str:
        """When the answer was true: the moment asked for, else when the snapshot was published."""
        return show_time(self.arrays.meta["published"] if at is None else at)

    def text(self, name: str, place: int) -> str | None:
        """A text of a table of texts, None where it is empty or the place is not there."""
        return self.words(name)[place] or None

    def words(self, name: str) -> Mapping[int, str]:
        """The texts of a table by their place; a place below 0 has an empty one."""
        found = self._texts.get(name)
        if found is None:
            texts = self.arrays.strings(name)
            found = self._texts[name] = Memo(lambda place: texts[place] if place >= 0 else "")
        return found

    def tags(self, node: int) -> list[str]:
        """The tags of a column and of its dataset."""
        own = self.text("node.tags", node) or ""
        shared = self.text("dataset.tags", int(self.arrays["node.dataset"][node])) or ""
        return sorted({tag for text in (own, shared) for tag in text.split(SEPARATOR) if tag})

    def ref(self, node: int) -> Row:
        """A column's identity."""
        arrays = self.arrays
        place, field = int(arrays["node.dataset"][node]), int(arrays["node.field"][node])
        name = self.text("fields", field) or ""
        return {
            "id": int(arrays["node.id"][node]),
            "namespace": self.text("dataset.namespace", place) or "",
            "name": self.text("dataset.name", place) or "",
            "field": name,
            "label": f"{self.text('dataset.label', place)}.{name}",
        }

    def columns(self, nodes: Nodes, at: int | None = None) -> list[Row]:
        """Identity, type, tags, layer and number of direct neighbours of each column."""
        return self.column_rows(self.column_facts(nodes, at))

    def column_facts(self, nodes: Nodes, at: int | None = None) -> list[ColumnFacts]:
        """What is told of each column, as the arrays have it."""
        arrays = self.arrays
        facts = [arrays[name].take(nodes).tolist() for name in ("node.id", "node.dataset", "node.field", "node.type")]
        facts += [self.neighbours(nodes, forward=way, at=at).tolist() for way in (False, True)]
        return list(zip(*facts, self._tags_of(nodes), strict=True))

    def _tags_of(self, nodes: Nodes) -> list[list[str] | None]:
        """The tags of columns that have some of their own; None where they are those of the dataset."""
        out: list[list[str] | None] = [None] * len(nodes)
        _, length = row_ranges(self.arrays["node.tags.offsets"], nodes)
        for place in length.nonzero()[0].tolist():
            out[place] = self.tags(int(nodes[place]))
        return out

    def column_rows(self, facts: Iterable[ColumnFacts]) -> list[Row]:
        """The columns as an answer tells them."""
        fields, types, homes = self.words("fields"), self.words("types"), self.homes
        out = []
        for key, place, field, kind, up, down, tags in facts:
            namespace, dataset, label, layer, shared = homes[place]
            name = fields[field]
            out.append(
                {
                    "id": key,
                    "namespace": namespace,
                    "name": dataset,
                    "field": name,
                    "label": f"{label}.{name}",
                    "type": types[kind] or None,
                    "tags": list(shared) if tags is None else tags,
                    "layer": layer,
                    "up": up,
                    "down": down,
                }
            )
        return out

    def _read_home(self, place: int) -> Home:
        # its texts are kept here only, not each in a memo of its own
        read = (self.arrays.strings(f"dataset.{key}")[place] for key in ("namespace", "name", "label", "layer", "tags"))
        namespace, name, label, layer, tags = read
        shared = tuple(sorted({tag for tag in tags.split(SEPARATOR) if tag})) if tags else ()
        return Home(namespace, name, label, layer or None, shared)

    def of(self, nodes: Nodes, at: int | None) -> tuple[Row, ...]:
        """The columns a question is about; of very many only who they are."""
        return tuple(self.columns(nodes, at) if len(nodes) <= FEW_ASKED else [self.ref(n) for n in nodes.tolist()])

    def neighbours(self, nodes: Nodes, *, forward: bool, at: int | None) -> NDArray[np.int64]:
        """How many other columns lie one direct step away from each node."""
        if at is None:
            return self.arrays["node.down" if forward else "node.up"].take(nodes)
        sets = adjacency(self.arrays, forward=forward, indirect=False, past=True)
        return count_neighbours(self.arrays, sets, nodes, at)

    def dataset(self, place: int) -> Row:
        """A dataset's identity and what is known of it."""
        names = self.names
        out: Row = {"id": int(self.arrays["dataset.id"][place]), "namespace": names.spaces[place]}
        out |= {"name": names.paths[place], "label": names.labels[place]}
        out |= {key: self.text(f"dataset.{key}", place) for key in ("kind", "layer", "owner", "domain")}
        out["tags"] = [tag for tag in self.arrays.strings("dataset.tags")[place].split(SEPARATOR) if tag]
        out["symlinks"] = [link for link in self.arrays.strings("dataset.symlinks")[place].split(SEPARATOR) if link]
        for key in ("first_seen", "last_seen", "last_written", "last_read"):
            out[key] = time_or_none(self.arrays[f"dataset.{key}"][place])
        return out | {"dropped_at": time_or_none(self.arrays["dataset.until"][place])}

    def job_ref(self, job: int) -> Row | None:
        """A job's identity, None for an edge that no job claims."""
        if job < 0:
            return None
        return {"namespace": self.text("job.namespace", job) or "", "name": self.text("job.name", job) or ""}

    def job(self, job: int, /, **more: Any) -> Row:
        """A job's identity and what its runs did, and what else is to be told of it."""
        return {**{key: fact for key, fact in self.jobs([job])[0].items() if key != "flags"}, **more}

    def jobs(self, places: list[int]) -> list[KeptRow]:
        """Jobs that nothing is wrong with, in the order of their places; not to be changed."""
        known = self._jobs
        try:
            return [known[place] for place in places]
        except KeyError:
            if len(known) >= REMEMBERED:
                known.clear()
            missing = [place for place in places if place not in known]
            known.update(zip(missing, self._read_jobs(missing), strict=True))
            return [known[place] for place in places]

    def _read_jobs(self, places: list[int]) -> Iterator[KeptRow]:
        at, arrays = np.array(places, dtype=np.int64), self.arrays
        columns: dict[str, Iterable[Any]] = {"id": arrays["job.id"].take(at).tolist()}
        for key in _JOB_TEXTS:
            texts, none = arrays.strings(f"job.{key}"), "" if key in ("namespace", "name") else None
            columns[key] = [texts[place] or none for place in places]
        for key in _JOB_TIMES:
            columns[key] = [time_or_none(moment) for moment in arrays[f"job.{key}"].take(at).tolist()]
        columns["runs"] = arrays["job.runs"].take(at).tolist()
        columns["flags"] = [[] for _ in places]
        return (KeptRow.of(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True))

    def edge(self, edges: Adjacency, row: int, ends: tuple[int, int], *, level: str = "column") -> Row:
        """An edge between two columns (source first), with how, by which job, and when it was last seen."""
        one, two = (np.array([end], dtype=np.int64) for end in ends)
        return self.edges(edges, np.array([row], dtype=np.int64), (one, two), level=level)[0]

    def edges(self, edges: Adjacency, rows: Nodes, ends: tuple[Nodes, Nodes], *, level: str = "column") -> list[Row]:
        """Edges of one set, each between two columns (source first)."""
        runs, said, times = self.words("runs"), self.words("descriptions"), self._times
        jobs, states = self._claims, self._states
        kind, masking = "INDIRECT" if edges.bits & 2 else "DIRECT", bool(edges.bits & 1)
        return [
            {
                "from": one,
                "to": two,
                "type": kind,
                "subtype": SUBTYPES[subtype],
                "masking": masking,
                "job": jobs[job],
                "last_run": runs[run] or None,
                "last_state": states[job],
                "last_seen": times[seen],
                "first_seen": times[since],
                "retired_at": times[until],
                "description": said[description],
                "level": level,
                "implied": implied,
            }
            for one, two, subtype, job, run, seen, since, until, description, implied in self.edge_facts(
                edges, rows, ends
            )
        ]

    def edge_facts(self, edges: Adjacency, rows: Nodes, ends: tuple[Nodes, Nodes]) -> Iterator[EdgeFacts]:
        """What is told of each edge, as the arrays have it."""
        arrays, group = self.arrays, edges.group
        place = edges.edges(rows)
        subtype, run, seen, description, implied = (
            arrays[f"{group}.{name}"].take(place).tolist()
            for name in ("subtype", "run", "seen", "description", "implied")
        )
        one, two = (arrays["node.id"].take(side).tolist() for side in ends)
        job, since = edges.job.take(rows).tolist(), edges.since.take(rows).tolist()
        until = [NEVER] * len(rows) if edges.until is None else edges.until.take(rows).tolist()
        return zip(one, two, subtype, job, run, seen, since, until, description, implied, strict=True)

    def gaps(self, *, datasets: Any = None, jobs: Any = None, at: int | None = None) -> list[int]:
        """Open gaps in coverage that touch the datasets or the jobs; all open ones where neither is given."""
        since, until = self.arrays["gap.since"], self.arrays["gap.until"]
        open_ = until == NEVER if at is None else (since <= at) & (at < until)
        if datasets is not None or jobs is not None:
            touched = np.zeros(len(since), dtype=np.bool_)
            if datasets is not None:
                touched |= is_among(self.arrays["gap.dataset"], np.sort(datasets))
            if jobs is not None:
                touched |= is_among(self.arrays["gap.job"], np.sort(jobs)) & (self.arrays["gap.dataset"] < 0)
            open_ &= touched
        return [int(i) for i in np.flatnonzero(open_)]

    def gap(self, place: int) -> Row:
        """A gap in coverage: what, where, since when."""
        dataset, job = int(self.arrays["gap.dataset"][place]), int(self.arrays["gap.job"][place])
        known = (
            {"label": self.names.labels[dataset], "layer": self.text("dataset.layer", dataset)} if dataset >= 0 else {}
        )
        home = {"namespace": self.names.spaces[dataset], "name": self.names.paths[dataset], **known} if known else None
        owner = self.text("job.owner", job) or self.text("dataset.owner", dataset)
        out: Row = {"kind": self.text("gap.kind", place), "job": self.job_ref(job), "dataset": home}
        out |= {"run_id": self.text("gap.run_id", place), "detail": self.text("gap.detail", place)}
        out |= {"layer": known.get("layer"), "owner": owner}
        out |= {"first_seen": time_or_none(self.arrays["gap.since"][place])}
        return out | {"last_seen": time_or_none(self.arrays["gap.seen"][place])}

    def unknown(self, gaps: Iterable[int], most: int = 20) -> tuple[Row, ...]:
        """Gaps as an answer tells them: what cannot be known, and why. The rest is counted in a last line."""
        told: dict[tuple[str, str], int] = {}
        for place in gaps:
            row = self.gap(place)
            job, home = row["job"], row["dataset"]
            what = home["label"] if home else (job or {}).get("name", "the lake")
            why = WHY.get(row["kind"] or "", row["kind"] or "?")
            by = f" by {job['name']}" if job and home else ""
            key = (what, f"{why}{by}" + (f": {row['detail']}" if row["detail"] else ""))
            told[key] = told.get(key, 0) + 1
        rows: list[Row] = [{"what": what, "why": why, "count": n} for (what, why), n in told.items()]
        rest = sum(told.values()) - sum(list(told.values())[:most])
        last: list[Row] = [{"what": "more", "why": "further gaps, see `colline coverage`", "count": rest}]
        return tuple(rows[:most] + (last if rest else []))

    def last_moment(self) -> int:
        """The newest moment the lake knows of, which is what `lately` is measured from."""
        return int(self.arrays.meta["last"] or self.arrays.meta["published"])

    def time_of(self, name: str, place: int) -> str | None:
        """A time of an array of times."""
        return time_or_none(int(self.arrays[name][place])) if place >= 0 else None


WHY = {
    "no_column_lineage": "a run without column lineage",
    "opaque_step": "a step that cannot be seen into",
    "unknown_source": "a source that could not be named",
    "unfinished_run": "a run that never told its end",
    "dropped_events": "events that were dropped",
}
__all__ = ["UNKNOWN", "WHY", "View"]
