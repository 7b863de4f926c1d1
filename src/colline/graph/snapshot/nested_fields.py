"""Derives edges for nested fields: `address.city` is a member of the struct `address`.

An event reports an edge between the columns that a query named. What it implies for the structs and members around
them is computed when a snapshot is built, so that no question has to handle it. With `s` and `t` structs, `s.m` a
member, and `→` an edge:

| reported | implied | reason |
|---|---|---|
| `s → t` | `s.m → t` | reading a struct reads its members |
| `x → t` | `x → t.m` | writing a struct writes its members |
| `s → t`, a copy | `s.m → t.m`, but not `s.m → t.n` | a copy keeps members apart |
| `x → t.m` | `x → t` | a struct contains what its members contain |

Only members that occur in some event are known. A copy into a struct without that member ends at the struct.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from colline.flat.integer_arrays import expand, is_among, row_starts
from colline.graph.snapshot.array_file import SUBTYPES, Values
from colline.graph.snapshot.strings import Strings
from colline.graph.traversal.csr import Nodes

_COPY = SUBTYPES.index("IDENTITY")
_EDGE_KEY = ("source", "target", "job", "direct", "masked", "since", "until")
Edges = Mapping[str, Values]
Derived = tuple[Nodes, Nodes, Nodes]  # for each derived edge: the edge it follows from, its source, its target


def nested_field_index(owner: Values, codes: Values, fields: Strings) -> dict[str, Values]:
    """The members of each struct and the structs of each member; empty if the lake has no nested fields."""
    dotted = [code for code in range(len(fields)) if b"." in fields.raw_bytes(code)]
    homes = np.unique(owner[np.isin(codes, dotted)])
    candidates = np.flatnonzero(np.isin(owner, homes)).tolist()
    by_name = {(int(owner[node]), fields[int(codes[node])]): node for node in candidates}
    found = [
        (struct, member, field[len(prefix) + 1 :])
        for (home, field), member in by_name.items()
        for prefix in _enclosing_structs(field)
        if (struct := by_name.get((home, prefix))) is not None
    ]
    if not found:
        return {}
    paths = {path: code for code, path in enumerate(sorted({path for _, _, path in found}))}
    members = np.array(sorted((struct, paths[path], member) for struct, member, path in found), dtype=np.int64)
    structs = members[np.argsort(members[:, 2], kind="stable")]
    return {
        "nested.members.start": row_starts(members[:, 0], len(owner)),
        "nested.members.path": members[:, 1].astype(np.int32),
        "nested.members.node": members[:, 2].astype(np.int32),
        "nested.structs.start": row_starts(structs[:, 2], len(owner)),
        "nested.structs.node": structs[:, 0].astype(np.int32),
    }


def _enclosing_structs(field: str) -> list[str]:
    """The structs that contain a nested field: `a.b.c` → a.b, a."""
    parts = field.split(".")
    return [".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]


def with_implied(edges: Edges, arrays: Mapping[str, Values]) -> dict[str, Values]:
    """The edges and those they imply for structs and members, which have `implied` set."""
    out = {**edges, "implied": np.zeros(len(edges["source"]), dtype=np.bool_)}
    if "nested.members.start" not in arrays:
        return out
    index = _Members(arrays)
    out = _add(out, _edges_of_members(out, index))
    return _add(out, _edges_into_structs(out, index, arrays))


class _Members:
    """Looks up the members of structs."""

    def __init__(self, arrays: Mapping[str, Values]) -> None:
        self.start = arrays["nested.members.start"]
        self.path = arrays["nested.members.path"]
        self.node = arrays["nested.members.node"].astype(np.int64)
        struct = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        self._by_path = struct << 32 | self.path
        self._pairs = np.sort(struct << 32 | self.node)

    def members_of(self, structs: Nodes) -> Derived:
        """Each member of each struct: the position of the struct, the member, the member's path."""
        at, counts = expand(self.start, structs)
        return np.repeat(np.arange(len(structs)), counts), self.node[at], self.path[at]

    def member_at_path(self, structs: Nodes, paths: Nodes) -> Nodes:
        """The member of each struct at a path, -1 if it has none."""
        wanted = structs << 32 | paths
        found = np.minimum(np.searchsorted(self._by_path, wanted), len(self._by_path) - 1)
        return np.where(self._by_path[found] == wanted, self.node[found], -1)

    def has(self, structs: Nodes, nodes: Nodes) -> Values:
        """Whether each node is a member of its struct."""
        return is_among(structs << 32 | nodes, self._pairs)


def _edges_of_members(edges: Edges, members: _Members) -> Derived:
    """The edges implied for the members of sources and targets."""
    source, target = edges["source"], edges["target"]
    is_copy = edges["subtype"] == _COPY
    edge, member, path = members.members_of(source)
    out = [(edge, member, target[edge])]  # s → t: s.m → t
    same = members.member_at_path(target[edge], path)
    is_copied = is_copy[edge] & (same >= 0)
    out.append((edge[is_copied], member[is_copied], same[is_copied]))  # s → t, a copy: s.m → t.m
    is_mixed = ~is_copy[edge]
    pair, target_member, _ = members.members_of(target[edge[is_mixed]])
    out.append((edge[is_mixed][pair], member[is_mixed][pair], target_member))  # s → t, not a copy: s.m → t.n
    edge, member, path = members.members_of(target)
    is_new = ~(is_copy[edge] & (members.member_at_path(source[edge], path) >= 0))
    out.append((edge[is_new], source[edge][is_new], member[is_new]))  # x → t: x → t.m
    edge, start, end = (np.concatenate(parts) for parts in zip(*out, strict=True))
    return edge, start, end


def _edges_into_structs(edges: Edges, members: _Members, arrays: Mapping[str, Values]) -> Derived:
    """The edges implied for the structs of each target, except those that start inside the struct."""
    at, counts = expand(arrays["nested.structs.start"], edges["target"])
    edge = np.repeat(np.arange(len(counts)), counts)
    struct, source = arrays["nested.structs.node"][at].astype(np.int64), edges["source"][edge]
    keep = ~members.has(struct, source) & (struct != source)
    return edge[keep], source[keep], struct[keep]


def _add(edges: Edges, derived: Derived) -> dict[str, Values]:
    """The edges with derived ones, except those that repeat an edge of the same job and time."""
    edge, source, target = derived
    replaced = {"source": source, "target": target, "implied": np.ones(len(edge), dtype=np.bool_)}
    out = {name: np.concatenate([values, replaced.get(name, values[edge])]) for name, values in edges.items()}
    order = np.lexsort([out[name] for name in ("implied", *_EDGE_KEY)])
    is_repeated = np.ones(len(order), dtype=np.bool_)
    is_repeated[:1] = False
    for name in _EDGE_KEY:
        ordered = out[name][order]
        is_repeated[1:] &= ordered[1:] == ordered[:-1]
    keep = np.sort(order[~(is_repeated & out["implied"][order])])
    return {name: values[keep] for name, values in out.items()}
