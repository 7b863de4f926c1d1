"""What people type → columns: any unique suffix, any case unless quoted, help on a miss, candidates on ambiguity."""

from __future__ import annotations

import difflib
import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from colline.errors import AmbiguousNameError, ColumnError
from colline.graph.snapshot.array_file import NEVER, Arrays
from colline.graph.traversal.bfs import alive
from colline.graph.traversal.csr import Nodes, distinct, expand, is_among
from colline.graph.traversal.times import show_time

SEPARATOR = "\x1f"  # joins the segments of a name, and the tags of a column, in one string
_BETWEEN_SEGMENTS = re.compile(r"[./\\]+")
_TOKEN = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|([^"`]+)')
_CLOSE = 0.1  # names nearly as near as the nearest are told too
_SHOWN = 10  # candidates named in a message
_COMPARED = 200  # characters of two names that are held against each other
_FEW_OWNERS = 20  # datasets that are looked at one by one
_MEMBERS = 100  # steps that a field, with the structs it lies in, can have
_NO_NODES: Nodes = np.empty(0, dtype=np.int64)


def segments(text: str) -> list[str]:
    """The parts of a name at which a suffix can start: `s3://lake/gold/orders` → s3, lake, gold, orders."""
    return [part.rstrip(":") for part in _BETWEEN_SEGMENTS.split(text) if part.rstrip(":")]


@dataclass(frozen=True)
class Asked:
    """A name as it was typed: its segments, and which of them were quoted and so keep their case."""

    text: str
    parts: tuple[str, ...]
    quoted: tuple[bool, ...]


def parse(text: str) -> Asked:
    """`gold.Orders."Total"` → segments gold, Orders, Total, the last one quoted."""
    parts: list[str] = []
    quoted: list[bool] = []
    for double, back, plain in _TOKEN.findall(text.strip()):
        found = segments(double.replace('""', '"') or back.replace("``", "`") or plain)
        parts += found
        quoted += [not plain] * len(found)
    if not parts:
        raise ColumnError("an empty column name", hint="write dataset.column")
    return Asked(text, tuple(parts), tuple(quoted))


def triple(text: str) -> tuple[str, str, str] | None:
    """`["file", "/lake/a", "b"]` → its three parts: how a program names a column that no suffix can tell apart."""
    if not text.startswith('["'):
        return None
    try:
        parts = json.loads(text)
    except ValueError:
        return None
    whole = isinstance(parts, list) and len(parts) == 3 and all(isinstance(part, str) for part in parts)
    return (parts[0], parts[1], parts[2]) if whole else None


class NameIndex:
    """The names of one snapshot."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.fields = arrays.strings("fields")
        self.folds = arrays.strings("folds")
        self.labels = arrays.strings("dataset.label")
        self.spaces = arrays.strings("dataset.namespace")
        self.paths = arrays.strings("dataset.name")
        self._keys = arrays.strings("alias.keys")

    def field(self, node: int) -> str:
        """The column's own name."""
        return self.fields[int(self.arrays["node.field"][node])]

    def label(self, node: int) -> str:
        """`gold.orders.total`: the short form that people read."""
        return f"{self.labels[int(self.arrays['node.dataset'][node])]}.{self.field(node)}"

    def full(self, node: int) -> str:
        """Namespace, name and field, which no other column has."""
        place = int(self.arrays["node.dataset"][node])
        space, path = self.spaces[place], self.paths[place]
        return f"{space}{'' if path.startswith('/') else '/'}{path}.{self.field(node)}"

    def resolve(self, asked: Iterable[str], at: int | None = None, *, members: bool = True) -> Nodes:
        """The columns meant, each name exactly one (`dataset.*`: all of its columns), members of a struct included."""
        nodes = [node for text in asked for node in self._resolve(text, at)]
        found = np.array(list(dict.fromkeys(nodes)), dtype=np.int64)
        return self.with_members(found) if members else found

    def with_members(self, nodes: Nodes) -> Nodes:
        """The columns and the nested members they hold."""
        if not self.arrays.meta["nested"]:
            return nodes
        at, _ = expand(self.arrays["nested.members.start"], nodes)
        members = distinct(self.arrays["nested.members.node"][at])
        more = members[~is_among(members, np.sort(nodes))]
        return np.concatenate([nodes, more.astype(np.int64)])

    def _resolve(self, text: str, at: int | None) -> list[int]:
        exact = triple(text)
        if exact is not None:
            return [self._exact(exact, at)]
        asked = parse(text)
        if asked.parts[-1] == "*" and not asked.quoted[-1]:
            return [int(n) for n in self.dataset_columns(self.dataset(asked.parts[:-1], text), at)]
        found = self.matches(asked)
        living = self._living(found, at)
        if len(living) == 1:
            return [int(living[0])]
        if len(living) > 1:
            return [self._only(text, asked, living)]
        if len(found):
            raise self._gone(text, found, at)
        members = self._unnamed_struct(asked)
        members = members[alive(self.arrays, members, at)]
        if len(distinct(self.arrays["node.dataset"][members])) > 1:
            return [self._only(text, asked, members)]
        if len(members):
            return [int(n) for n in members]
        raise self._missing(text, asked)

    def _living(self, nodes: Nodes, at: int | None) -> Nodes:
        """Those that a dataset had at a time, or has now."""
        if len(nodes) == 1 and at is None and self.arrays.numbers("node.until")[nodes[0]] == NEVER:
            return nodes
        return nodes[alive(self.arrays, nodes, at)]

    def _unnamed_struct(self, asked: Asked) -> Nodes:
        """The members of a struct that only its members tell of: `a.b` where somebody read `a.b.c`."""
        out = [_NO_NODES]
        start, node = self.arrays["fold.start"], self.arrays["fold.node"]
        for cut in range(len(asked.parts)):
            low, high = self.folds.starting_with(".".join(asked.parts[cut:]).lower() + ".")
            found = node[start[low] : start[high]].astype(np.int64)
            owners = self.datasets(asked.parts[:cut]) if cut else None
            out.append(found if owners is None else found[is_among(self.arrays["node.dataset"][found], owners)])
        return distinct(np.concatenate(out))

    def _exact(self, name: tuple[str, str, str], at: int | None) -> int:
        """The column of that namespace, name and field, whatever characters they hold."""
        namespace, dataset, field = name
        place = self.exact_dataset(namespace, dataset)
        start = self.arrays["dataset.start"]
        nodes = np.arange(start[place], start[place + 1], dtype=np.int64)
        found = nodes[[self.field(int(n)) == field and not self.arrays["node.rows"][n] for n in nodes]]
        living = found[alive(self.arrays, found, at)]
        if len(living):
            return int(living[0])
        shown = f"{self.labels[place]}.{field}"
        raise self._gone(shown, found, at) if len(found) else self._missing(shown, parse(shown))

    def _only(self, text: str, asked: Asked, nodes: Nodes) -> int:
        """One among several: the one whose whole name was typed, else an error that lists them."""
        whole = [
            int(n) for n in nodes if tuple(segments(self.full(n).lower())) == tuple(p.lower() for p in asked.parts)
        ]
        if len(whole) == 1:
            return whole[0]
        names = self._telling(nodes[: _SHOWN * 10])
        shown = ", ".join(names[:_SHOWN]) + (f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else "")
        raise AmbiguousNameError(
            f"{text!r} fits {len(nodes)} columns: {shown}", hint="write more of the name", candidates=tuple(names)
        )

    def _telling(self, nodes: Nodes) -> list[str]:
        """Names as short as they may be while telling the columns apart."""
        short = [self.label(int(n)) for n in nodes]
        return [text if short.count(text) == 1 else self.full(int(n)) for text, n in zip(short, nodes, strict=True)]

    def _gone(self, text: str, nodes: Nodes, at: int | None) -> ColumnError:
        since, until = int(self.arrays["node.since"][nodes].min()), int(self.arrays["node.until"][nodes].max())
        name = self.label(int(nodes[0]))
        if at is not None and at < since:
            return ColumnError(
                f"{text!r} was not there yet at {show_time(at)}", hint=f"it was first seen at {show_time(since)}"
            )
        when = "" if until == NEVER else f" at {show_time(until)}"
        back = "" if until == NEVER else f"ask for an earlier time: --as-of {show_time(until - 1_000_000)}"
        return ColumnError(f"{name} was removed{when}", hint=back or "ask for another time", candidates=(name,))

    def _missing(self, text: str, asked: Asked) -> ColumnError:
        near = self._telling(self.close_matches(asked)[:5])
        hint = f"did you mean {' or '.join(near)}?" if near else "try `colline find` with a part of the name"
        return ColumnError(f"no column is called {text!r}", hint=hint, candidates=tuple(near))

    def matches(self, asked: Asked) -> Nodes:
        """The columns whose name ends with what was typed, whatever its split between dataset and field."""
        last = len(asked.parts) - 1
        most = _MEMBERS if self._has_dots else 1
        found = [self._split(asked, cut) for cut in range(last, max(-1, last - most), -1)]
        nodes = distinct(np.concatenate(found) if len(found) > 1 else found[0])
        return nodes[[self._cased(int(n), asked) for n in nodes]] if any(asked.quoted) else nodes

    def _split(self, asked: Asked, cut: int) -> Nodes:
        """Columns of the field `parts[cut:]` in the datasets that end with `parts[:cut]`."""
        fold = self.folds.find(".".join(asked.parts[cut:]).lower())
        if fold < 0:
            return _NO_NODES
        start = self.arrays.numbers("fold.start")
        if cut == 0:
            return self.arrays["fold.node"][start[fold] : start[fold + 1]].astype(np.int64)
        return self._owned((start[fold], start[fold + 1]), self.datasets(asked.parts[:cut]))

    def _owned(self, within: tuple[int, int], owners: Nodes) -> Nodes:
        """Those of the columns of a name that lie in some datasets.

        A name like `id` is in every dataset; the columns of one are a range, so only the owners' are looked at.
        """
        homes, nodes = self.arrays["dataset.start"], self.arrays["fold.node"][slice(*within)]
        if len(owners) <= _FEW_OWNERS:
            return self._owned_by_few(within, owners.tolist())
        ends = np.concatenate([homes.take(owners), homes.take(owners + 1)]).astype(nodes.dtype)
        low, high = nodes.searchsorted(ends).reshape(2, -1).tolist()
        found = [nodes[one:two] for one, two in zip(low, high, strict=True) if one < two]
        return np.concatenate(found).astype(np.int64) if found else _NO_NODES

    def _owned_by_few(self, within: tuple[int, int], owners: list[int]) -> Nodes:
        homes, nodes = self.arrays.numbers("dataset.start"), self.arrays.numbers("fold.node")
        found: list[int] = []
        for owner in owners:
            low = bisect_left(nodes, homes[owner], *within)
            found += nodes[low : bisect_left(nodes, homes[owner + 1], low, within[1])].tolist()
        return np.array(found, dtype=np.int64)

    @cached_property
    def _has_dots(self) -> bool:
        """Whether some field has a name of several steps, a member of a struct above all."""
        return bool((self.folds.data == ord(".")).any())

    def _cased(self, node: int, asked: Asked) -> bool:
        """Whether the quoted segments agree in case too."""
        names = [self.full(node)]
        links = self.arrays.strings("dataset.symlinks")[int(self.arrays["node.dataset"][node])]
        names += [f"{link}.{self.field(node)}" for link in links.split(SEPARATOR) if link]
        return any(_agrees(segments(name), asked) for name in names)

    def datasets(self, parts: Sequence[str]) -> Any:
        """The datasets one of whose names ends with the segments."""
        low, high = self._keys.starting_with(SEPARATOR.join(reversed([p.lower() for p in parts])) + SEPARATOR)
        return distinct(self.arrays["alias.dataset"][low:high])

    def keys_starting_with(self, begun: str) -> tuple[int, int]:
        """The range of names of datasets whose last step begins like this."""
        return self._keys.starting_with(begun)

    def alias(self, key: int) -> str:
        """One name of a dataset, its segments reversed."""
        return self._keys[key]

    def dataset(self, parts: Sequence[str], text: str) -> int:
        """The one dataset of that name."""
        found = self.datasets(parts)
        if len(found) == 1:
            return int(found[0])
        named = tuple(self.labels[int(d)] for d in found[:_SHOWN])
        if len(found):
            raise AmbiguousNameError(
                f"{text!r} fits {len(found)} datasets: {', '.join(named)}",
                hint="write more of the name",
                candidates=named,
            )
        near = tuple(self.labels[d] for d in self.close_datasets(".".join(parts))[:3])
        hint = f"did you mean {' or '.join(near)}?" if near else "try `colline find` with a part of the name"
        raise ColumnError(f"no dataset is called {text!r}", hint=hint, candidates=near)

    def exact_dataset(self, namespace: str, name: str) -> int:
        """The dataset of that namespace and name."""
        low, high = 0, len(self.spaces)
        wanted = (namespace.encode(), name.encode())
        while low < high:
            middle = (low + high) // 2
            if (self.spaces.raw(middle), self.paths.raw(middle)) < wanted:
                low = middle + 1
            else:
                high = middle
        if low < len(self.spaces) and (self.spaces.raw(low), self.paths.raw(low)) == wanted:
            return low
        return self.dataset(segments(f"{namespace}/{name}"), f"{namespace} {name}")

    def dataset_columns(self, place: int, at: int | None = None) -> Nodes:
        """A dataset's columns, in the order of its schema."""
        start = self.arrays["dataset.start"]
        nodes = np.arange(start[place], start[place + 1], dtype=np.int64)
        nodes = nodes[~self.arrays["node.rows"][nodes] & alive(self.arrays, nodes, at)]
        return nodes[np.argsort(self.arrays["node.ordinal"][nodes], kind="stable")]

    def sharing_trigrams(self, index: str, text: str, *, share: float = 1.0, most: int = 2000) -> Any:
        """Texts of an index (`fold`, `alias`) that hold at least a share of the trigrams of `text`, best first."""
        raw = np.frombuffer(text.lower().encode(), dtype=np.uint8).astype(np.int64)
        if len(raw) < 3:
            return _NO_NODES
        codes = distinct(raw[:-2] << 16 | raw[1:-1] << 8 | raw[2:])
        table = self.arrays[f"{index}.trigram"]
        at = np.searchsorted(table, codes)
        known = at < len(table)
        at = at[known][table[at[known]] == codes[known]]
        rows = expand(self.arrays[f"{index}.trigram.start"], at.astype(np.int64))[0]
        texts, counts = np.unique(self.arrays[f"{index}.trigram.text"][rows], return_counts=True)
        enough = counts >= max(1, share * len(codes))
        texts, counts = texts[enough], counts[enough]
        return texts[np.argsort(-counts, kind="stable")][:most].astype(np.int64)

    def close_matches(self, asked: Asked, at: int | None = None) -> Nodes:
        """Columns with a name like the one typed, likeliest first."""
        field = asked.parts[-1].lower()
        folds = [int(f) for f in self.sharing_trigrams("fold", field, share=0.3, most=400)] or self._like(field)
        likely = sorted(folds, key=lambda f: -_alike(self.folds[f], field))[:40]
        start = self.arrays["fold.start"]
        nodes = [n for f in likely if _alike(self.folds[f], field) > 0.6 for n in self._some(start, f)]
        owners = self.close_datasets(".".join(asked.parts[:-1]))[:3] if len(asked.parts) > 1 else []
        nodes += [int(n) for d in owners for n in self.dataset_columns(d, at)[:200]]
        nodes = [n for n in dict.fromkeys(nodes) if alive(self.arrays, n, at)]
        wanted = ".".join(asked.parts).lower()
        alike = {n: _alike(self._as_typed(n, len(asked.parts)), wanted) for n in nodes}
        enough = max(alike.values(), default=1.0) - _CLOSE
        near = sorted((n for n in nodes if alike[n] >= enough), key=lambda n: (-alike[n], n))
        return np.array(near, dtype=np.int64)

    def _as_typed(self, node: int, parts: int) -> str:
        """A column's name with as many steps as were typed."""
        return ".".join(segments(self.label(node).lower())[-parts:])

    def _like(self, text: str) -> list[int]:
        """Field names of about the same length that begin or end the same: two swapped letters leave no trigram."""
        raw, offsets, data = text.encode(), self.folds.offsets, self.folds.data
        if not raw or not len(self.folds):
            return []
        size = np.diff(offsets)
        fits = np.flatnonzero((np.abs(size - len(raw)) <= 1) & (size > 0))
        same = (data[offsets[fits]] == raw[0]) | (data[offsets[fits + 1] - 1] == raw[-1])
        return [int(f) for f in fits[same][:3000]]

    def _some(self, start: Any, fold: int) -> list[int]:
        return [int(n) for n in self.arrays["fold.node"][start[fold] : min(start[fold + 1], start[fold] + 50)]]

    def close_datasets(self, text: str) -> list[int]:
        """Datasets with a name like the one typed, likeliest first."""
        reverse = SEPARATOR.join(reversed(segments(text.lower())))
        keys = self.sharing_trigrams("alias", reverse, share=0.3, most=200) if reverse else []
        ranked = sorted(keys, key=lambda k: -_alike(self._keys[int(k)].rstrip(SEPARATOR), reverse))
        return list(dict.fromkeys(int(self.arrays["alias.dataset"][k]) for k in ranked))


def _alike(one: str, other: str) -> float:
    # the cost is that of one length times the other, and a name from outside may have 10 KB
    return difflib.SequenceMatcher(None, one[:_COMPARED], other[:_COMPARED], autojunk=False).ratio()


def _agrees(name: Sequence[str], asked: Asked) -> bool:
    tail = name[-len(asked.parts) :]
    pairs = zip(tail, asked.parts, asked.quoted, strict=False)
    return len(tail) == len(asked.parts) and all(a == b if q else a.lower() == b.lower() for a, b, q in pairs)
