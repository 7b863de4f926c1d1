"""Tables → arrays, the other half: datasets, columns, their names and their index, jobs, reads, coverage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from colline.graph.snapshot.array_file import NEVER
from colline.graph.snapshot.edge_arrays import Order, Out, dictionary, order_of, starts, texts, times
from colline.graph.snapshot.nested_fields import nested_field_index
from colline.graph.snapshot.strings import Strings, to_strings
from colline.graph.traversal.name_index import SEPARATOR, segments

LAYERS = ("bronze", "silver", "gold", "platinum")
_MOST_LEVELS = 20_000
_DATASET_TEXTS = ("namespace", "name", "kind", "layer", "owner", "domain")


def datasets(table: Any, columns: Any) -> tuple[Out, Order]:
    """The datasets in the order of their names, and where each id lies; one only columns name is made from them."""
    table = _with_unlisted(table, columns)
    merged = table.filter(pc.is_valid(table.column("merged_into")))
    table = table.filter(pc.is_null(table.column("merged_into")))
    table = table.take(pc.sort_indices(table, sort_keys=[("namespace", "ascending"), ("name", "ascending")]))
    out: Out = {f"dataset.{column}": texts(table.column(column)) for column in _DATASET_TEXTS}
    out["dataset.id"] = table.column("id").to_numpy().astype(np.int64)
    for column in ("first_seen", "last_seen", "last_written", "last_read"):
        out[f"dataset.{column}"] = times(table.column(column))
    out["dataset.until"] = times(table.column("dropped_at"), NEVER)
    out["dataset.tags"] = _tags(table.column("tags"))
    names = list(zip(table.column("namespace").to_pylist(), table.column("name").to_pylist(), strict=True))
    links = [[link["name"] for link in found or () if link["name"]] for found in table.column("symlinks").to_pylist()]
    order = order_of(table.column("id").to_numpy().astype(np.int64))
    _add_merged(merged, order, links)
    labels = [label(name or "", found) for (_, name), found in zip(names, links, strict=True)]
    layers = table.column("layer").to_pylist()
    out["dataset.layer"] = to_strings(layer or layer_of(text) for layer, text in zip(layers, labels, strict=True))
    out["dataset.label"] = to_strings(labels)
    out["dataset.symlinks"] = to_strings(SEPARATOR.join(found) for found in links)
    out.update(_aliases(names, links))
    return out, _with_merged(order, merged)


def layer_of(text: str) -> str:
    """The layer a short name tells where nobody gave one: `gold.orders` → gold."""
    return next((part for part in segments(text.lower())[:-1] if part in LAYERS), "")


def _add_merged(merged: Any, order: Order, links: list[list[str]]) -> None:
    """A dataset that turned out to be another one leaves its name there."""
    for place, row in zip(order.of(merged.column("merged_into")).tolist(), merged.to_pylist(), strict=True):
        if place >= 0 and row["name"]:
            links[place].append(row["name"])


def _with_merged(order: Order, merged: Any) -> Order:
    """The order with the ids of merged datasets leading to where they were merged into."""
    places = order.of(merged.column("merged_into"))
    ids = np.concatenate([order.ids, merged.column("id").to_numpy().astype(np.int64)[places >= 0]])
    by_id = np.argsort(ids, kind="stable")
    return Order(ids[by_id], np.concatenate([order.places, places[places >= 0]])[by_id])


def label(name: str, symlinks: list[str]) -> str:
    """The short name people say: what a catalog calls it, else the last two steps of its path."""
    for link in symlinks:
        return link.removeprefix("spark_catalog.")
    return ".".join(segments(name)[-2:]) if "/" in name else name


def _with_unlisted(table: Any, columns: Any) -> Any:
    known = pa.array(table.column("id")) if not table.num_rows else table.column("id")
    found = (
        columns.select(["dataset_id", "namespace", "name"])
        .group_by("dataset_id")
        .aggregate([("namespace", "min"), ("name", "min")])
    )
    missing = found.filter(
        pc.invert(pc.is_in(found.column("dataset_id"), value_set=pa.array(known.to_pylist(), pa.int64())))
    )
    made = {
        "id": missing.column("dataset_id"),
        "namespace": missing.column("namespace_min"),
        "name": missing.column("name_min"),
    }
    filled = [made.get(field.name, pa.nulls(missing.num_rows, field.type)) for field in table.schema]
    return pa.concat_tables([table, pa.table(filled, schema=table.schema)])


def _aliases(names: list[tuple[str, str]], links: list[list[str]]) -> Out:
    """Every name a dataset answers to, its segments reversed, so that a suffix is a prefix of the sorted keys."""
    keys: set[tuple[bytes, int]] = set()
    for place, ((namespace, name), found) in enumerate(zip(names, links, strict=True)):
        for text in (f"{namespace or ''}/{name or ''}", *found):
            reverse = SEPARATOR.join(reversed(segments(text.lower()))) + SEPARATOR
            keys.add((reverse.encode(), place))
    ordered = sorted(keys)
    found_keys = to_strings(key.decode() for key, _ in ordered)
    out: Out = {"alias.keys": found_keys, "alias.dataset": np.array([place for _, place in ordered], dtype=np.int32)}
    return out | trigrams("alias", found_keys)


def columns(table: Any, owners: Order, dataset_count: int) -> tuple[Out, Order, int]:
    """The columns in their order, the index of their names, and how many belong to no dataset."""
    owner = owners.of(table.column("dataset_id"))
    known = owner >= 0
    table, owner = table.filter(pa.array(known)), owner[known]
    rows = pc.fill_null(pc.equal(table.column("kind"), "rows"), False).to_numpy(zero_copy_only=False)
    codes, fields = dictionary(table.column("field"))
    place = np.lexsort((codes, rows, owner))
    table, owner, rows, codes = table.take(pa.array(place)), owner[place], rows[place], codes[place]
    kinds, types = dictionary(table.column("type"))
    ids = table.column("id").to_numpy().astype(np.int64)
    out: Out = {
        "node.id": ids,
        "node.dataset": owner.astype(np.int32),
        "node.rows": rows,
        "node.field": codes,
        "node.type": kinds,
        "node.ordinal": pc.fill_null(table.column("ordinal"), 0).to_numpy().astype(np.int32),
        "node.since": times(table.column("first_seen")),
        "node.seen": times(table.column("last_seen")),
        "node.until": times(table.column("removed_at"), NEVER),
        "node.tags": _tags(table.column("tags")),
        "dataset.start": starts(owner, dataset_count),
        "dataset.rows": _rows_nodes(owner, rows, dataset_count),
        "fields": fields,
        "types": types,
    }
    out.update(_field_index(codes, rows, fields))
    out.update(nested_field_index(owner, codes, fields))
    return out, order_of(ids), int(np.count_nonzero(~known))


def _rows_nodes(owner: Any, rows: Any, count: int) -> NDArray[np.int32]:
    """The `rows` node of each dataset, or -1."""
    out = np.full(count, -1, dtype=np.int32)
    places = np.flatnonzero(rows)
    out[owner[places]] = places
    return out


def _field_index(codes: Any, rows: Any, fields: Strings) -> Out:
    """From a field's lower-case name to its columns."""
    lowered = [fields[i].lower().encode() for i in range(len(fields))]
    distinct = sorted(set(lowered))
    place = {text: i for i, text in enumerate(distinct)}
    fold = np.array([place[text] for text in lowered], dtype=np.int32)
    columns = np.flatnonzero(~rows)
    mine = fold[codes[columns]] if len(columns) else np.empty(0, np.int32)
    by_fold = np.argsort(mine, kind="stable")
    folds = to_strings(text.decode() for text in distinct)
    out: Out = {
        "folds": folds,
        "fold.start": starts(mine, len(distinct)),
        "fold.node": columns[by_fold].astype(np.int32),
    }
    return out | trigrams("fold", folds)


def trigrams(name: str, table: Strings) -> Out:
    """From three bytes that follow each other to the texts that hold them."""
    data, lengths = table.data, np.diff(table.offsets)
    owner = np.repeat(np.arange(len(table), dtype=np.int64), lengths)
    if len(data) < 3:
        empty = np.empty(0, dtype=np.int32)
        return {f"{name}.trigram": empty, f"{name}.trigram.start": np.zeros(1, np.int64), f"{name}.trigram.text": empty}
    wide = data.astype(np.int64)
    codes = wide[:-2] << 16 | wide[1:-1] << 8 | wide[2:]
    inside = owner[:-2] == owner[2:]
    keys = np.unique(codes[inside] << 32 | owner[:-2][inside])
    codes = keys >> 32
    distinct, first = np.unique(codes, return_index=True)
    return {
        f"{name}.trigram": distinct.astype(np.int32),
        f"{name}.trigram.start": np.append(first, len(keys)).astype(np.int64),
        f"{name}.trigram.text": (keys & 0xFFFFFFFF).astype(np.int32),
    }


def _tags(column: Any) -> Strings:
    return to_strings(SEPARATOR.join(sorted(set(found))) if found else "" for found in column.to_pylist())


def jobs(table: Any) -> tuple[Out, Order]:
    """The jobs in the order of their names, and where each id lies."""
    table = table.take(pc.sort_indices(table, sort_keys=[("namespace", "ascending"), ("name", "ascending")]))
    names = ("namespace", "name", "integration", "owner", "last_run", "last_state", "last_error")
    out: Out = {f"job.{column}": texts(table.column(column)) for column in names}
    for column in ("first_seen", "last_started", "last_ended", "last_success", "last_failure", "changed_at"):
        out[f"job.{column}"] = times(table.column(column))
    ids = table.column("id").to_numpy().astype(np.int64)
    failed = pc.is_in(table.column("last_state"), value_set=pa.array(["FAIL", "ABORT"]))
    out["job.failed"] = failed.to_numpy(zero_copy_only=False) if isinstance(failed, pa.Array) else failed.to_numpy()
    out["job.id"] = ids
    out["job.runs"] = pc.fill_null(table.column("runs"), 0).to_numpy().astype(np.int64)
    return out, order_of(ids)


def reads(table: Any, nodes: Order, job_order: Order, count: int) -> Out:
    """Who read which column, what for, and when; by column."""
    node = nodes.of(table.column("column_id"))
    known = node >= 0
    table, node = table.filter(pa.array(known)), node[known]
    place = np.argsort(node, kind="stable")
    table, node = table.take(pa.array(place)), node[place]
    uses, use_names = dictionary(table.column("use"))
    kinds, kind_names = dictionary(table.column("kind"))
    return {
        "read.start": starts(node, count),
        "read.job": job_order.of(table.column("job_id")).astype(np.int32),
        "read.use": uses,
        "read.uses": use_names,
        "read.kind": kinds,
        "read.kinds": kind_names,
        "read.first": times(table.column("first_read")),
        "read.last": times(table.column("last_read")),
        "read.reads": pc.fill_null(table.column("reads"), 0).to_numpy().astype(np.int64),
    }


def coverage(table: Any, owners: Order, job_order: Order) -> Out:
    """Where lineage is missing, oldest first."""
    table = table.take(pc.sort_indices(table, sort_keys=[("first_seen", "ascending"), ("run_id", "ascending")]))
    out: Out = {f"gap.{column}": texts(table.column(column)) for column in ("kind", "run_id", "detail")}
    out["gap.job"] = job_order.of(table.column("job_id")).astype(np.int32)
    out["gap.dataset"] = owners.of(table.column("dataset_id")).astype(np.int32)
    out["gap.since"] = times(table.column("first_seen"))
    out["gap.seen"] = times(table.column("last_seen"))
    out["gap.until"] = times(table.column("resolved_at"), NEVER)
    return out


def levels(out: Out, count: int) -> tuple[NDArray[np.int32], bool]:
    """Each node's longest way from a source along direct edges, and whether some cycle made that unsure.

    It only orders work: a walk of many sources visits nodes by level, and asks again where there is a cycle.
    """
    groups = [g for g in ("direct", "direct.masked") if f"{g}.out.start" in out]
    degree = np.zeros(count, dtype=np.int64)
    for group in groups:
        degree += np.diff(np.asarray(out[f"{group}.in.start"]))
        degree -= _self_edges(out, group, count)
    level, ready, done = np.zeros(count, dtype=np.int32), np.flatnonzero(degree == 0), 0
    for depth in range(_MOST_LEVELS):
        if not len(ready):
            break
        level[ready] = depth
        done += len(ready)
        ready = _released(out, groups, ready, degree)
    level[degree > 0] = level.max(initial=0) + 1
    return level, done < count


def _self_edges(out: Out, group: str, count: int) -> NDArray[np.int64]:
    start, other = np.asarray(out[f"{group}.out.start"]), np.asarray(out[f"{group}.out.other"])
    source = np.repeat(np.arange(count), np.diff(start))
    return np.bincount(source[source == other], minlength=count)


def _released(out: Out, groups: list[str], ready: NDArray[np.int64], degree: NDArray[np.int64]) -> NDArray[np.int64]:
    from colline.graph.traversal.csr import expand

    found = []
    for group in groups:
        start, other = np.asarray(out[f"{group}.out.start"]), np.asarray(out[f"{group}.out.other"])
        at = expand(start, ready)
        reached = other[at[0]]
        reached = reached[reached != np.repeat(ready, at[1])]
        np.subtract.at(degree, reached, 1)
        found.append(reached)
    reached = np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)
    free: NDArray[np.int64] = reached[degree[reached] == 0].astype(np.int64)
    return free
