"""Builds the arrays of edges.

Edges are stored in eight groups: direct or indirect, in the clear or masked, current or retired (`.past`). A
traversal picks the groups it may use and tests no edge one by one. Each group is stored twice as CSR: `out` by source
and `in` by target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from colline.flat.arrow_values import moments
from colline.flat.id_index import IdIndex
from colline.flat.integer_arrays import NEVER, distinct, row_starts
from colline.graph.snapshot.array_file import SUBTYPES, Values
from colline.graph.snapshot.arrow_columns import booleans, dictionary
from colline.graph.traversal.csr import Adjacency, Nodes, count_neighbours, load

_NODES_AT_ONCE = 1 << 16
_OTHER_SUBTYPE = len(SUBTYPES) - 1
_MAX_LEVELS = 20_000
_FACTS = ("subtype", "seen", "description", "run", "implied")  # what is stored once per edge, in the order of `out`


@dataclass(frozen=True)
class EdgeTable:
    """The edges of the lake, one array per column, with places in the snapshot instead of the lake's ids."""

    columns: dict[str, Values]
    strings: dict[str, Values]
    dangling: int  # edges with an end that is not a known column


def read_edges(table: pa.Table, nodes: IdIndex, jobs: IdIndex) -> EdgeTable:
    """The flat table `edges` with places in the snapshot."""
    source, target = nodes.places_of(table.column("source_id")), nodes.places_of(table.column("target_id"))
    is_known = (source >= 0) & (target >= 0)
    description, descriptions = dictionary(table.column("description"))
    run, runs = dictionary(table.column("last_run"))
    columns: dict[str, Values] = {
        "source": source,
        "target": target,
        "job": jobs.places_of(table.column("job_id")).astype(np.int32),
        "subtype": _subtype_codes(table.column("subtype")),
        "since": moments(table.column("first_seen")),
        "until": moments(table.column("retired_at"), NEVER),
        "seen": moments(table.column("last_seen")),
        "description": description,
        "run": run,
        "direct": booleans(pc.equal(table.column("type"), "DIRECT")),
        "masked": booleans(table.column("masking")),
    }
    if not is_known.all():
        columns = {name: values[is_known] for name, values in columns.items()}
    strings = descriptions.arrays("descriptions") | runs.arrays("runs")
    return EdgeTable(columns, strings, int(np.count_nonzero(~is_known)))


def _subtype_codes(column: pa.ChunkedArray) -> NDArray[np.uint8]:
    codes, names = dictionary(column)
    known = {name: code for code, name in enumerate(SUBTYPES)}
    by_code = np.array([known.get(names[i], _OTHER_SUBTYPE) for i in range(len(names))], dtype=np.uint8)
    return by_code[codes]


def group_arrays(columns: Mapping[str, Values], node_count: int) -> tuple[dict[str, Values], dict[str, int]]:
    """The CSR arrays of each group of edges, and the sizes of the groups."""
    out: dict[str, Values] = {}
    sizes: dict[str, int] = {}
    is_past = columns["until"] != NEVER
    for past, direct, masked in product((False, True), (True, False), (False, True)):
        group = ("direct" if direct else "indirect") + (".masked" if masked else "") + (".past" if past else "")
        rows = np.flatnonzero(
            (is_past == past) & (columns["direct"] == direct) & (columns["masked"] == masked),
        )
        sizes[group] = len(rows)
        if len(rows):
            out |= _csr_arrays(group, {name: values[rows] for name, values in columns.items()}, node_count)
    return out, sizes


def _csr_arrays(group: str, rows: Mapping[str, Values], node_count: int) -> dict[str, Values]:
    by_source = np.lexsort((rows["job"], rows["target"], rows["source"]))
    rows = {column: values[by_source] for column, values in rows.items()}
    by_target = np.argsort(rows["target"], kind="stable")
    out: dict[str, Values] = {
        f"{group}.out.start": row_starts(rows["source"], node_count),
        f"{group}.in.start": row_starts(rows["target"], node_count),
        f"{group}.out.other": rows["target"].astype(np.int32),
        f"{group}.in.other": rows["source"][by_target].astype(np.int32),
        f"{group}.in.edge": by_target.astype(np.int32),
    }
    for column in ("job", "since", "until") if group.endswith(".past") else ("job", "since"):
        out[f"{group}.out.{column}"] = rows[column]
        out[f"{group}.in.{column}"] = rows[column][by_target]
    return out | {f"{group}.{column}": rows[column] for column in _FACTS}


def _direct_edges(arrays: Mapping[str, Values], *, forward: bool) -> list[Adjacency]:
    """The current direct edges."""
    groups = [group for group in ("direct", "direct.masked") if f"{group}.out.start" in arrays]
    return [load(arrays, group, forward=forward) for group in groups]


def neighbour_counts(arrays: Mapping[str, Values], node_count: int, *, forward: bool) -> NDArray[np.int32]:
    """The number of other columns one current direct edge away from each node."""
    sets = _direct_edges(arrays, forward=forward)
    found = [np.empty(0, np.int64)]
    for low in range(0, node_count, _NODES_AT_ONCE):
        nodes = np.arange(low, min(low + _NODES_AT_ONCE, node_count))
        found.append(count_neighbours(arrays, sets, nodes, None))
    return np.concatenate(found).astype(np.int32)


def topological_levels(arrays: Mapping[str, Values], node_count: int) -> tuple[NDArray[np.int32], bool]:
    """The longest path from a source to each node along direct edges, and whether there is a cycle.

    It is the order in which `backtrack.sources_reaching` visits nodes.
    """
    sets = _direct_edges(arrays, forward=True)
    degree = np.zeros(node_count, dtype=np.int64)  # edges into each node from nodes without a level
    for edges in sets:
        degree += np.bincount(_without_loops(edges, np.arange(node_count)), minlength=node_count)
    level, ready, done = np.zeros(node_count, dtype=np.int32), np.flatnonzero(degree == 0), 0
    for depth in range(_MAX_LEVELS):
        if not len(ready):
            break
        level[ready] = depth
        done += len(ready)
        reached = np.concatenate([ready[:0], *(_without_loops(edges, ready) for edges in sets)])
        np.subtract.at(degree, reached, 1)
        reached = distinct(reached)
        ready = reached[degree[reached] == 0].astype(np.int64)
    level[degree > 0] = level.max(initial=0) + 1
    return level, done < node_count


def _without_loops(edges: Adjacency, nodes: Nodes) -> Nodes:
    """The targets of the nodes' edges, without edges from a node to itself."""
    rows, owner = edges.rows(nodes, None)
    targets = edges.other.take(rows)
    return targets.compress(targets != owner)
