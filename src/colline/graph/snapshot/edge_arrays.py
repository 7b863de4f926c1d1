"""Tables → arrays: what a snapshot holds, made with Arrow and numpy. Nothing here touches a disk.

A node is numbered by its place in the order (namespace, name, rows node last, field): a dataset is a range of nodes,
a `rows` node reaches them as one range, and sorting nodes sorts names. The stable ids of the lake are kept beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from colline.graph.snapshot.array_file import NEVER, SUBTYPES, UNKNOWN
from colline.graph.snapshot.strings import Strings, to_strings
from colline.graph.traversal.csr import load, neighbours

Out = dict[str, "NDArray[Any] | Strings"]
_AT_ONCE = 1 << 16
_OTHER_SUBTYPE = len(SUBTYPES) - 1


@dataclass(frozen=True)
class Order:
    """Where the lake's ids lie in the snapshot: sorted ids, and the place of each."""

    ids: NDArray[np.int64]
    places: NDArray[np.int64]

    def of(self, ids: Any) -> NDArray[np.int64]:
        """The place of each id; -1 for null and for ids that are not there."""
        wanted = pc.fill_null(pa.chunked_array(ids) if isinstance(ids, list) else ids, -1).to_numpy().astype(np.int64)
        if not len(self.ids):
            return np.full(len(wanted), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        return np.where(self.ids[at] == wanted, self.places[at], -1)


def order_of(ids: NDArray[np.int64]) -> Order:
    """The order of rows that already lie in their place."""
    by_id = np.argsort(ids, kind="stable")
    return Order(ids[by_id], by_id.astype(np.int64))


def times(column: Any, null: int = UNKNOWN) -> NDArray[np.int64]:
    """Microseconds since 1970."""
    values = pc.fill_null(column.cast(pa.int64()), int(null))
    return np.asarray(values.to_numpy(), dtype=np.int64)


def texts(column: Any) -> Strings:
    """One text per row, null as empty."""
    filled = pc.fill_null(column, "").cast(pa.large_string())
    array = filled.combine_chunks() if isinstance(filled, pa.ChunkedArray) else filled
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], pa.large_string())
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1] if offsets else None
    if ends is None or not len(array):
        return to_strings([])
    raw = np.frombuffer(data, dtype=np.uint8) if data else np.empty(0, np.uint8)
    return Strings(ends - ends[0], raw[ends[0] : ends[-1]])


def dictionary(column: Any) -> tuple[NDArray[np.int32], Strings]:
    """Each row's code, and the distinct texts sorted by their bytes."""
    encoded = pc.fill_null(column, "").cast(pa.large_string())
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    encoded = encoded.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    values = encoded.dictionary
    by_text = pc.sort_indices(values).to_numpy()
    rank = np.empty(len(values), dtype=np.int32)
    rank[by_text] = np.arange(len(values), dtype=np.int32)
    return rank[encoded.indices.to_numpy()], texts(values.take(pa.array(by_text)))


def starts(keys: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Row pointers of a CSR whose rows are sorted by `keys`."""
    out = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys, minlength=count), out=out[1:])
    return out


def edge_columns(table: Any, nodes: Order, jobs: Order) -> tuple[dict[str, NDArray[Any]], Out, int]:
    """The edges in the snapshot's numbers, the texts they point to, and how many had an end nobody knows."""
    source, target = nodes.of(table.column("source_id")), nodes.of(table.column("target_id"))
    known = (source >= 0) & (target >= 0)
    described, descriptions = dictionary(table.column("description"))
    ran, runs = dictionary(table.column("last_run"))
    columns: dict[str, NDArray[Any]] = {
        "source": source,
        "target": target,
        "job": jobs.of(table.column("job_id")).astype(np.int32),
        "subtype": _subtypes(table.column("subtype")),
        "since": times(table.column("first_seen")),
        "until": times(table.column("retired_at"), NEVER),
        "seen": times(table.column("last_seen")),
        "description": described,
        "run": ran,
        "direct": pc.fill_null(pc.equal(table.column("type"), "DIRECT"), False).to_numpy(),
        "masked": pc.fill_null(table.column("masking"), False).to_numpy(),
    }
    if not known.all():
        columns = {name: values[known] for name, values in columns.items()}
    return columns, {"descriptions": descriptions, "runs": runs}, int(np.count_nonzero(~known))


def edges(columns: Mapping[str, NDArray[Any]], count: int) -> tuple[Out, dict[str, int]]:
    """The edges as CSR arrays by group (direct, masked, retired), and the groups' sizes."""
    out: Out = {}
    sizes: dict[str, int] = {}
    past = columns["until"] != NEVER
    for group, chosen in _groups(columns["direct"], columns["masked"], past).items():
        rows = np.flatnonzero(chosen)
        sizes[group] = len(rows)
        if len(rows):
            mine = {name: values[rows] for name, values in columns.items() if name not in ("direct", "masked")}
            out.update(_group(group, mine, count))
    return out, sizes


def neighbour_counts(out: Out, groups: Mapping[str, int], count: int, *, forward: bool) -> NDArray[np.int32]:
    """How many other columns lie one direct, current step away from each node; a part of the nodes at a time."""
    sets = [load(out, group, forward=forward) for group in ("direct", "direct.masked") if groups[group]]
    parts = [np.arange(low, min(low + _AT_ONCE, count)) for low in range(0, count, _AT_ONCE)]
    found = [neighbours(out, sets, nodes, None) for nodes in parts]
    return np.concatenate([*found, np.empty(0, np.int64)]).astype(np.int32)


def _groups(direct: Any, masked: Any, past: Any) -> dict[str, Any]:
    """Eight sets of edges: a walk picks the sets it may use, so that no edge is tested one by one."""
    kinds = {"direct": direct & ~masked, "direct.masked": direct & masked}
    kinds |= {"indirect": ~direct & ~masked, "indirect.masked": ~direct & masked}
    now = {name: rows & ~past for name, rows in kinds.items()}
    return now | {f"{name}.past": rows & past for name, rows in kinds.items()}


def _group(name: str, rows: Mapping[str, NDArray[Any]], count: int) -> Out:
    forward = np.lexsort((rows["job"], rows["target"], rows["source"]))
    rows = {column: values[forward] for column, values in rows.items()}
    backward = np.argsort(rows["target"], kind="stable")
    out: Out = {
        f"{name}.out.start": starts(rows["source"], count),
        f"{name}.in.start": starts(rows["target"], count),
        f"{name}.out.other": rows["target"].astype(np.int32),
        f"{name}.in.other": rows["source"][backward].astype(np.int32),
        f"{name}.in.edge": backward.astype(np.int32),
        f"{name}.out.job": rows["job"],
        f"{name}.in.job": rows["job"][backward],
    }
    for column in ("since", "until"):
        if column == "since" or name.endswith(".past"):
            out[f"{name}.out.{column}"] = rows[column]
            out[f"{name}.in.{column}"] = rows[column][backward]
    facts = ("subtype", "seen", "description", "run", "implied")
    return out | {f"{name}.{column}": rows[column] for column in facts}


def _subtypes(column: Any) -> NDArray[np.uint8]:
    codes, distinct = dictionary(column)
    known = {name: code for code, name in enumerate(SUBTYPES)}
    table = np.array([known.get(distinct[i], _OTHER_SUBTYPE) for i in range(len(distinct))] or [0], dtype=np.uint8)
    return table[codes]
