"""Rows of a walk as JSON text, straight from what the arrays say of them: no row is made to be written.

What many rows share is written once and kept. The text is that of `msgspec` for the same rows, byte for byte.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterable
from typing import Any

import msgspec

from colline.graph.snapshot.array_file import SUBTYPES
from colline.graph.traversal.edge_selection import Told
from colline.graph.traversal.records import REMEMBERED, ColumnFacts, Memo, View
from colline.graph.traversal.times import time_or_none

_AT_ONCE = 50  # datasets and jobs read between two looks at the clock
_BOOLS = ("false", "true")
_UNTOLD = (-2, 0, "")  # no run has that place
_HOWS = [f'"{relation}","masked":{masked}}}' for relation in ("indirect", "direct") for masked in _BOOLS]


def written(value: Any) -> str:
    """A value as JSON."""
    return msgspec.json.encode(value).decode()


class Writing:
    """The pieces of JSON that the rows of one view are put together of."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._read = 0  # datasets and jobs read beforehand
        fields, types, runs, said = (view.words(name) for name in ("fields", "types", "runs", "descriptions"))
        self._fields = Memo(lambda place: written(fields[place])[1:-1])
        self._types = Memo(lambda place: f'","type":{written(types[place] or None)},"tags":')
        self._homes = Memo(self._home)
        self._claims = Memo(self._claim)
        self._told: dict[int, tuple[int, int, str]] = {}  # a job → run, time and JSON told last
        self._runs = Memo(lambda place: written(runs[place] or None))
        self._said = Memo(lambda place: f',"description":{written(said[place])}')
        self._times = Memo(lambda moment: written(time_or_none(moment)))

    def warm(self, seconds: float) -> bool:
        """Read what is said of datasets and jobs before it is asked for, for about so long; whether all was read."""
        deadline = time.process_time() + seconds
        meta = self._view.arrays.meta
        most: int = min(max(meta["datasets"], meta["jobs"]), REMEMBERED)
        while self._read < most and time.process_time() < deadline:
            end = min(self._read + _AT_ONCE, most)
            homes, jobs = (range(self._read, min(end, meta[kind])) for kind in ("datasets", "jobs"))
            for memo, places in ((self._homes, homes), (self._claims, jobs)):
                deque(map(memo.__getitem__, places), maxlen=0)
            self._view.jobs(list(jobs))
            self._read = end
        return self._read == most

    def _home(self, place: int) -> tuple[str, str, str, str]:
        """What stands before a column's name, before its label, for its tags and what follows, and what follows."""
        home = self._view.homes[place]
        named = f',"namespace":{written(home.namespace)},"name":{written(home.name)},"field":"'
        # one text for all datasets that say the same: it stays in the processor's memory then
        layer, tagged = (sys.intern(f'{tags},"layer":{written(home.layer)},"up":') for tags in ("", written(home.tags)))
        return named, f'","label":"{written(home.label)[1:-1]}.', tagged, layer

    def _claim(self, job: int) -> tuple[str, str]:
        """What stands before an edge's last run, and after it."""
        state = self._view.text("job.last_state", job)
        return f',"job":{written(self._view.job_ref(job))},"last_run":', f',"last_state":{written(state)},"last_seen":'

    def columns(self, facts: Iterable[ColumnFacts], reached: Iterable[tuple[int, bool, bool]]) -> list[str]:
        """Columns with how far they are, whether by direct steps only, and whether only through a mask."""
        homes, fields, types = self._homes, self._fields, self._types
        out = []
        for (key, place, field, kind, up, down, own), (far, direct, masked) in zip(facts, reached, strict=True):
            named, labelled, tags, layer = homes[place]
            name, tags = fields[field], tags if own is None else written(own) + layer
            out.append(
                f'{{"id":{key}{named}{name}{labelled}{name}{types[kind]}{tags}{up},"down":{down}'
                f',"distance":{far},"relation":{_HOWS[direct * 2 + masked]}'
            )
        return out

    def edges(self, told: Iterable[Told]) -> list[str]:
        """Edges of several sets, one after the other."""
        return [row for some in told for row in self._edges(some)]

    def _edges(self, told: Told) -> list[str]:
        said, times, known = self._said, self._times, self._told
        kind, masking = "INDIRECT" if told.edges.bits & 2 else "DIRECT", _BOOLS[told.edges.bits & 1]
        hows = [f',"type":"{kind}","subtype":"{name}","masking":{masking}' for name in SUBTYPES]
        ends = [f',"level":"{told.level}","implied":{implied}}}' for implied in _BOOLS]
        out = []
        for one, two, subtype, job, run, seen, since, until, text, implied in self._view.edge_facts(
            told.edges, told.rows, (told.source, told.target)
        ):
            last_run, last_seen, claim = known.get(job, _UNTOLD)
            if last_run != run or last_seen != seen:
                claim = self._tell_claim(job, run, seen)
            out.append(
                f'{{"from":{one},"to":{two}{hows[subtype]}{claim}{times[since]}'
                f',"retired_at":{times[until]}{said[text]}{ends[implied]}'
            )
        return out

    def _tell_claim(self, job: int, run: int, seen: int) -> str:
        """What stands between how an edge is and when it was first seen; the edges of a job mostly share it."""
        if len(self._told) >= REMEMBERED:
            self._told.clear()
        claim, state = self._claims[job]
        text = f'{claim}{self._runs[run]}{state}{self._times[seen]},"first_seen":'
        self._told[job] = run, seen, text
        return text


def writing(view: View) -> Writing:
    """The one of a view, made with its first answer."""
    found: Writing | None = view.arrays.derived.get(Writing)
    if found is None:
        found = view.arrays.derived[Writing] = Writing(view)
    return found
