"""Nested members: `address.city` lies in `address`, so what happens to one happens to the other.

An edge is told between the columns a query named. What follows from it for the structs and members around them is
added when a snapshot is made, so that every question sees it and none has to know about it. With `s` a struct, `s.m`
a member, and `→` an edge:

| told | follows | because |
|---|---|---|
| `s → t` | `s.m → t` | who reads a struct reads its members |
| `x → t` | `x → t.m` | who writes a struct writes its members |
| `s → t`, a copy | `s.m → t.m`, and no `s.m → t.n` | a copied struct keeps its members apart |
| `x → t.m` | `x → t` | a struct holds what its members hold |

Members exist here only where somebody named one; a copy into a struct without that member ends at the struct.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from colline.graph.snapshot.array_file import SUBTYPES
from colline.graph.snapshot.edge_arrays import Out, starts
from colline.graph.snapshot.strings import Strings
from colline.graph.traversal.csr import expand

_COPY = SUBTYPES.index("IDENTITY")
Rows = dict[str, NDArray[Any]]


def nested_field_index(owner: Any, codes: Any, fields: Strings) -> Out:
    """Which column is a member of which struct, both ways, and by which path; nothing where none is nested."""
    dotted = {i for i in range(len(fields)) if b"." in fields.raw(i)}
    if not dotted:
        return {}
    places = np.flatnonzero(np.isin(codes, np.fromiter(dotted, dtype=np.int64)))
    homes = set(owner[places].tolist())
    near = np.flatnonzero(np.isin(owner, np.fromiter(homes, dtype=np.int64)))
    by_name = {(int(owner[i]), fields[int(codes[i])]): int(i) for i in near}
    found = [
        (parent, member, field[len(above) + 1 :])
        for (home, field), member in by_name.items()
        for above in _above(field)
        if (parent := by_name.get((home, above))) is not None
    ]
    if not found:
        return {}
    paths = {path: code for code, path in enumerate(sorted({path for _, _, path in found}))}
    both = np.array(sorted((parent, paths[path], member) for parent, member, path in found), dtype=np.int64)
    up = both[np.argsort(both[:, 2], kind="stable")]
    return {
        "nested.members.start": starts(both[:, 0], len(owner)),
        "nested.members.path": both[:, 1].astype(np.int32),
        "nested.members.node": both[:, 2].astype(np.int32),
        "nested.structs.start": starts(up[:, 2], len(owner)),
        "nested.structs.node": up[:, 0].astype(np.int32),
    }


def _above(field: str) -> list[str]:
    """The struct columns a nested field lies in: `a.b.c` → a.b, a."""
    parts = field.split(".")
    return [".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]


def with_implied(rows: Rows, family: Out) -> Rows:
    """The edges and what follows from them for structs and members; `implied` tells one from the other."""
    rows = {**rows, "implied": np.zeros(len(rows["source"]), dtype=np.bool_)}
    if not family:
        return rows
    for step in (_to_members, _to_structs):
        rows = _added(rows, *step(rows, family))
    return rows


def _to_members(rows: Rows, family: Any) -> tuple[Any, Any, Any]:
    """Edges that follow for the members of either end: which edge each follows from, and its two ends."""
    source, target = rows["source"], rows["target"]
    start, member, path = (np.asarray(family[f"nested.members.{name}"]) for name in ("start", "node", "path"))
    key = np.repeat(np.arange(len(start) - 1), np.diff(start)) << 32 | path
    copies = rows["subtype"] == _COPY

    def inside(ends: Any) -> tuple[Any, Any, Any]:
        """Each end with each of its members: the place of the end, the member, the member's path."""
        at, counts = expand(start, ends)
        return np.repeat(np.arange(len(ends)), counts), member[at].astype(np.int64), path[at]

    def twin(struct: Any, by_path: Any) -> Any:
        """The member of another struct by the same path, -1 where it has none."""
        wanted = struct << 32 | by_path
        found = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        return np.where(key[found] == wanted, member[found], -1)

    both = (start[source + 1] > start[source]) & (start[target + 1] > start[target])
    edge, mine, by_path = inside(source)
    out = [(edge, mine, target[edge])]  # s → t: s.m → t
    same = twin(target[edge], by_path)
    copied = copies[edge] & (same >= 0)
    out.append((edge[copied], mine[copied], same[copied]))  # s → t, a copy: s.m → t.m
    mixed = both[edge] & ~copies[edge]
    again, theirs, _ = inside(target[edge[mixed]])
    out.append((edge[mixed][again], mine[mixed][again], theirs))  # s → t, something else: s.m → t.n
    edge, mine, by_path = inside(target)
    alone = ~(copies[edge] & (twin(source[edge], by_path) >= 0))
    out.append((edge[alone], source[edge][alone], mine[alone]))  # x → t: x → t.m
    edges, sources, targets = (np.concatenate(parts) for parts in zip(*out, strict=True))
    return edges, sources, targets


def _to_structs(rows: Rows, family: Any) -> tuple[Any, Any, Any]:
    """Edges into the structs that a written member lies in, but for those that begin inside of it."""
    at, counts = expand(np.asarray(family["nested.structs.start"]), rows["target"])
    edge = np.repeat(np.arange(len(counts)), counts)
    struct, source = np.asarray(family["nested.structs.node"])[at].astype(np.int64), rows["source"][edge]
    start, member = np.asarray(family["nested.members.start"]), np.asarray(family["nested.members.node"])
    held = np.sort(np.repeat(np.arange(len(start) - 1), np.diff(start)) << 32 | member)
    pair = struct << 32 | source
    within = held[np.minimum(np.searchsorted(held, pair), len(held) - 1)] == pair
    keep = ~within & (struct != source)
    return edge[keep], source[keep], struct[keep]


def _added(rows: Rows, edge: Any, source: Any, target: Any) -> Rows:
    """The edges with new ones, each once, and none that is there already between the same columns by the same job."""
    out = {
        name: np.concatenate([rows[name], rows[name][edge]])
        for name in rows
        if name not in ("source", "target", "implied")
    }
    out["source"] = np.concatenate([rows["source"], source])
    out["target"] = np.concatenate([rows["target"], target])
    out["implied"] = np.concatenate([rows["implied"], np.ones(len(edge), dtype=np.bool_)])
    parts = [out[name] for name in ("implied", "until", "since", "masked", "direct", "job", "target", "source")]
    order = np.lexsort(parts)
    same = np.ones(len(order), dtype=np.bool_)
    same[:1] = False
    for part in parts[1:]:
        same[1:] &= part[order][1:] == part[order][:-1]
    keep = np.sort(order[~(same & out["implied"][order])])
    return {name: values[keep] for name, values in out.items()}
