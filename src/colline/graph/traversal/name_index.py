"""Finds columns and datasets by the names people type.

Any suffix of a name is enough if only one column has it. Case is ignored except in quotes. An unknown name is an error
with similar names, an ambiguous one is an error with the candidates.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from colline.errors import AmbiguousNameError, ColumnError, ColumnNotFoundError
from colline.flat.integer_arrays import NEVER, distinct, expand, is_among
from colline.graph.snapshot.array_file import Arrays
from colline.graph.traversal.bfs import exist_at
from colline.graph.traversal.csr import NO_NODES, Nodes
from colline.graph.traversal.times import show_time
from colline.graph.traversal.typed_name import TypedName, parse, parse_exact, segments

SEPARATOR = "\x1f"  # joins the segments of a name, and the tags of a column, in one string
_MAX_CANDIDATES = 10  # names in an error message
_MAX_FIELD_SEGMENTS = 100  # of a nested field


class NameIndex:
    """The names of one snapshot."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.fields = arrays.strings("fields")
        self.folds = arrays.strings("folds")  # the field names in lower case
        self.labels = arrays.strings("dataset.label")
        self.spaces = arrays.strings("dataset.namespace")
        self.paths = arrays.strings("dataset.name")
        self._aliases = arrays.strings("alias.keys")

    def field(self, node: int) -> str:
        """The name of a column within its dataset."""
        return self.fields[int(self.arrays["node.field"][node])]

    def label(self, node: int) -> str:
        """The short name to show: `gold.orders.total`."""
        return f"{self.labels[int(self.arrays['node.dataset'][node])]}.{self.field(node)}"

    def full_name(self, node: int) -> str:
        """The unique name: namespace, dataset name and field."""
        place = int(self.arrays["node.dataset"][node])
        space, path = self.spaces[place], self.paths[place]
        return f"{space}{'' if path.startswith('/') else '/'}{path}.{self.field(node)}"

    def resolve(self, names: Iterable[str], at: int | None = None, *, members: bool = True) -> Nodes:
        """The columns with these names, each one column, or all of a dataset for its name; with nested members."""
        nodes = [node for text in names for node in self._resolve(text, at)]
        found = np.array(list(dict.fromkeys(nodes)), dtype=np.int64)
        return self.with_members(found) if members else found

    def with_members(self, nodes: Nodes) -> Nodes:
        """The columns and their nested members."""
        if not self.arrays.meta["nested"]:
            return nodes
        at, _ = expand(self.arrays["nested.members.start"], nodes)
        members = distinct(self.arrays["nested.members.node"][at])
        return np.concatenate([nodes, members[~is_among(members, np.sort(nodes))]])

    def _resolve(self, text: str, at: int | None) -> list[int]:
        exact = parse_exact(text)
        if exact is not None:
            namespace, dataset, *field = exact
            place = self.exact_dataset(namespace, dataset)
            return [self._exact_column(place, *field, at=at)] if field else self.dataset_columns(place, at).tolist()
        typed = parse(text)
        if typed.parts[-1] == "*" and not typed.quoted[-1]:
            return list(map(int, self.dataset_columns(self.dataset(typed.parts[:-1], text), at)))
        found = self.matches(typed)
        existing = found[exist_at(self.arrays, found, at)]
        if len(existing):
            return [self._choose_one(typed, existing)]
        if len(found):
            raise self._does_not_exist_at(text, found, at)
        if len(self.datasets(typed.parts)):
            return list(map(int, self.dataset_columns(self.dataset(typed.parts, text), at)))
        members = self._members_of_unknown_struct(typed)
        members = members[exist_at(self.arrays, members, at)]
        if len(distinct(self.arrays["node.dataset"][members])) > 1:
            return [self._choose_one(typed, members)]
        if not len(members):
            raise self._unknown_column(typed)
        return list(map(int, members))

    def _members_of_unknown_struct(self, typed: TypedName) -> Nodes:
        """The members of a struct that never occurs itself: `a.b`, where only `a.b.c` was read."""
        out = [NO_NODES]
        start, node = self.arrays["fold.start"], self.arrays["fold.node"]
        for split in range(len(typed.parts)):
            low, high = self.folds.starting_with(".".join(typed.parts[split:]).lower() + ".")
            found = node[start[low] : start[high]]
            if split:
                found = found[is_among(self.arrays["node.dataset"][found], self.datasets(typed.parts[:split]))]
            out.append(found)
        return distinct(np.concatenate(out))

    def _exact_column(self, place: int, field: str, *, at: int | None) -> int:
        start = self.arrays["dataset.start"]
        nodes = np.arange(start[place], start[place + 1], dtype=np.int64)
        found = nodes[[self.field(int(n)) == field and not self.arrays["node.rows"][n] for n in nodes]]
        existing = found[exist_at(self.arrays, found, at)]
        if len(existing):
            return int(existing[0])
        label = f"{self.labels[place]}.{field}"
        raise self._does_not_exist_at(label, found, at) if len(found) else self._unknown_column(parse(label))

    def _choose_one(self, typed: TypedName, nodes: Nodes) -> int:
        """The only column, or the only one whose full name was typed; else an error with the candidates."""
        if len(nodes) == 1:
            return int(nodes[0])
        parts = [part.lower() for part in typed.parts]
        whole = [int(n) for n in nodes if segments(self.full_name(int(n)).lower()) == parts]
        if len(whole) == 1:
            return whole[0]
        names = self._distinguishing_names(nodes[: _MAX_CANDIDATES * 10])
        shown, rest = ", ".join(names[:_MAX_CANDIDATES]), len(nodes) - _MAX_CANDIDATES
        raise AmbiguousNameError(
            f"{typed.text!r} fits {len(nodes)} columns: {shown}{f' and {rest} more' if rest > 0 else ''}",
            hint="write more of the name",
            candidates=tuple(names),
        )

    def _distinguishing_names(self, nodes: Nodes) -> list[str]:
        """The short name of each column, or its full name if two have the same short name."""
        short = [self.label(int(n)) for n in nodes]
        return [
            text if short.count(text) == 1 else self.full_name(int(n)) for text, n in zip(short, nodes, strict=True)
        ]

    def _does_not_exist_at(self, text: str, nodes: Nodes, at: int | None) -> ColumnError:
        since, until = int(self.arrays["node.since"][nodes].min()), int(self.arrays["node.until"][nodes].max())
        name = self.label(int(nodes[0]))
        if at is not None and at < since:
            hint = f"it was first seen at {show_time(since)}"
            return ColumnError(f"{text!r} did not exist at {show_time(at)}", hint=hint)
        if until == NEVER:
            return ColumnError(f"{name} was removed", hint="pass another time", candidates=(name,))
        hint = f"pass an earlier time: --as-of {show_time(until - 1_000_000)}"
        return ColumnError(f"{name} was removed at {show_time(until)}", hint=hint, candidates=(name,))

    def _unknown_column(self, typed: TypedName) -> ColumnError:
        from colline.graph.traversal.similar_names import similar_columns

        similar = self._distinguishing_names(similar_columns(self, typed)[:5])
        hint = f"did you mean {' or '.join(similar)}?" if similar else "try `colline find` with a part of the name"
        jobs = self.arrays.strings("job.name")
        if any(jobs[place] == typed.text for place in range(self.arrays.meta["jobs"])):
            hint = f"a job has this name: `colline show {shlex.quote(typed.text)}` shows what it reads and writes"
        message = f"no column is called {typed.text!r}"
        return ColumnNotFoundError(message, column=typed.text, hint=hint, candidates=tuple(similar))

    def matches(self, typed: TypedName) -> Nodes:
        """The columns whose name ends with the typed one, for every split into dataset and field."""
        last = len(typed.parts) - 1
        most = _MAX_FIELD_SEGMENTS if self._has_divided_names else 1
        found = [self._matches_at(typed, split) for split in range(last, max(-1, last - most), -1)]
        nodes = distinct(np.concatenate(found))
        return nodes[[self._fits_case(int(n), typed) for n in nodes]] if any(typed.quoted) else nodes

    def _matches_at(self, typed: TypedName, split: int) -> Nodes:
        """The columns with the field `parts[split:]` in the datasets whose name ends with `parts[:split]`."""
        names = {".".join(typed.parts[split:]).lower(), typed.tails[split].strip().lower()}
        start, node = self.arrays["fold.start"], self.arrays["fold.node"]
        folds = [fold for name in sorted(names) if (fold := self.folds.find(name)) >= 0]
        found = [node[start[fold] : start[fold + 1]] for fold in folds]
        nodes = found[0] if len(found) == 1 else distinct(np.concatenate([NO_NODES, *found]))
        if split == 0 or not folds:
            return nodes
        # a field such as `id` is in every dataset: search the range of each dataset in its sorted nodes
        owners = self.datasets(typed.parts[:split])
        first = nodes.searchsorted(self.arrays["dataset.start"].take(owners).astype(nodes.dtype))
        end = nodes.searchsorted(self.arrays["dataset.start"].take(owners + 1).astype(nodes.dtype))
        return np.concatenate([NO_NODES, *(nodes[i:j] for i, j in zip(first, end, strict=True) if i < j)])

    @cached_property
    def _has_divided_names(self) -> bool:
        """Whether the name of any field contains a separator: a nested field, or a measure such as `A / B`."""
        return bool(np.isin(self.folds.data, list(b"./\\")).any())

    def _fits_case(self, node: int, typed: TypedName) -> bool:
        """Whether the quoted segments match in case, in any of the names of the dataset."""
        links = self.arrays.strings("dataset.symlinks")[int(self.arrays["node.dataset"][node])]
        names = [f"{link}.{self.field(node)}" for link in links.split(SEPARATOR) if link]
        return any(typed.fits(name) for name in (self.full_name(node), *names))

    def datasets(self, parts: Sequence[str]) -> NDArray[np.int32]:
        """The datasets with a name that ends with the segments."""
        low, high = self._aliases.starting_with(SEPARATOR.join(reversed([p.lower() for p in parts])) + SEPARATOR)
        found: NDArray[np.int32] = distinct(self.arrays["alias.dataset"][low:high])
        return found

    def aliases_starting_with(self, prefix: str) -> tuple[int, int]:
        """The range of aliases that start with a prefix; an alias has its segments reversed."""
        return self._aliases.starting_with(prefix)

    def alias(self, place: int) -> str:
        """One name of a dataset, its segments reversed."""
        return self._aliases[place]

    def dataset(self, parts: Sequence[str], text: str) -> int:
        """The only dataset with a name that ends with the segments."""
        from colline.graph.traversal.similar_names import similar_datasets

        found = self.datasets(parts)
        if len(found) == 1:
            return int(found[0])
        if len(found):
            labels = tuple(self.labels[int(d)] for d in found[:_MAX_CANDIDATES])
            raise AmbiguousNameError(
                f"{text!r} fits {len(found)} datasets: {', '.join(labels)}",
                hint="write more of the name",
                candidates=labels,
            )
        similar = tuple(self.labels[d] for d in similar_datasets(self, ".".join(parts))[:3])
        hint = f"did you mean {' or '.join(similar)}?" if similar else "try `colline find` with a part of the name"
        raise ColumnError(f"no dataset is called {text!r}", hint=hint, candidates=similar)

    def exact_dataset(self, namespace: str, name: str) -> int:
        """The dataset with that namespace and name; else one with an alias that ends with them."""
        found = self.find_exact_dataset(namespace, name)
        return self.dataset(segments(f"{namespace}/{name}"), f"{namespace} {name}") if found is None else found

    def find_exact_dataset(self, namespace: str, name: str) -> int | None:
        """The dataset with that namespace and name, if there is one."""
        low, high = 0, len(self.spaces)
        wanted = (namespace.encode(), name.encode())
        while low < high:
            middle = (low + high) // 2
            if (self.spaces.raw_bytes(middle), self.paths.raw_bytes(middle)) < wanted:
                low = middle + 1
            else:
                high = middle
        if low < len(self.spaces) and (self.spaces.raw_bytes(low), self.paths.raw_bytes(low)) == wanted:
            return low
        return None

    def dataset_columns(self, place: int, at: int | None = None) -> Nodes:
        """The columns of a dataset, in the order of its schema."""
        start = self.arrays["dataset.start"]
        nodes = np.arange(start[place], start[place + 1], dtype=np.int64)
        nodes = nodes[~self.arrays["node.rows"][nodes] & exist_at(self.arrays, nodes, at)]
        return nodes[np.argsort(self.arrays["node.ordinal"][nodes], kind="stable")]
