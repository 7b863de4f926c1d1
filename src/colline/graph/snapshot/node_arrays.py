"""Builds the arrays of datasets, columns, jobs, reads and coverage gaps, and the indexes of their names.

A node is a column, or the `rows` of a dataset: what decides which rows it has. Nodes are sorted by namespace, dataset
and field, the `rows` node last. So a dataset is a range of nodes, and sorting nodes sorts them by name.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from colline.flat.arrow_values import integers, moments
from colline.flat.id_index import IdIndex, index_ids
from colline.flat.integer_arrays import NEVER, row_starts
from colline.graph.snapshot.array_file import Values
from colline.graph.snapshot.arrow_columns import booleans, dictionary, public_ids, texts
from colline.graph.snapshot.nested_fields import nested_field_index
from colline.graph.snapshot.schema_history import schema_histories
from colline.graph.snapshot.strings import Strings, to_strings
from colline.graph.traversal.name_index import SEPARATOR
from colline.graph.traversal.typed_name import segments
from colline.naming.display_name import short_name

LAYERS = ("bronze", "silver", "gold", "platinum")
_DATASET_TEXTS = ("namespace", "name", "kind", "owner", "domain", "description")
_DATASET_TIMES = ("first_seen", "last_seen", "last_written", "last_read")
_JOB_TEXTS = (
    *("namespace", "name", "integration", "owner", "last_run", "last_state", "last_error"),
    *("description", "sql", "location"),
)
_COLUMN_TEXTS = ("description", "expression")
_JOB_TIMES = ("first_seen", "last_started", "last_ended", "last_success", "last_failure", "changed_at")


def dataset_arrays(table: pa.Table, columns: pa.Table) -> tuple[dict[str, Values], IdIndex]:
    """The datasets sorted by name, and their index; an id that was merged into another one finds that one."""
    table = _with_unlisted(table, columns)
    merged = table.filter(pc.is_valid(table.column("merged_into")))
    table = _sort(table.filter(pc.is_null(table.column("merged_into"))), "namespace", "name")
    ids = integers(table.column("id"))
    targets = index_ids(ids).places_of(merged.column("merged_into"))
    links = [[link["name"] for link in found or () if link["name"]] for found in table.column("symlinks").to_pylist()]
    for place, name in zip(targets.tolist(), merged.column("name").to_pylist(), strict=True):
        if place >= 0 and name:
            links[place].append(name)
    out: dict[str, Values] = {
        "dataset.id": public_ids(ids),
        "dataset.until": moments(table.column("dropped_at"), NEVER),
    }
    out |= _texts(table, "dataset", _DATASET_TEXTS)
    for column in _DATASET_TIMES:
        out[f"dataset.{column}"] = moments(table.column(column))
    out |= _tags(table.column("tags")).arrays("dataset.tags")
    out |= to_strings(schema_histories(table.column("schemas"))).arrays("dataset.schemas")
    out |= _name_arrays(table, links)
    found_ids = np.concatenate([ids, integers(merged.column("id"))[targets >= 0]])
    return out, index_ids(found_ids, np.concatenate([np.arange(len(ids)), targets[targets >= 0]]))


def _name_arrays(table: pa.Table, links: list[list[str]]) -> dict[str, Values]:
    """The labels, layers and other names of datasets, and the index of all their names."""
    namespaces, names, layers = (table.column(column).to_pylist() for column in ("namespace", "name", "layer"))
    labels = [short_name(name or "", found) for name, found in zip(names, links, strict=True)]
    guessed = (layer or layer_in_name(label) for layer, label in zip(layers, labels, strict=True))
    out = to_strings(labels).arrays("dataset.label") | to_strings(guessed).arrays("dataset.layer")
    out |= to_strings(SEPARATOR.join(found) for found in links).arrays("dataset.symlinks")
    full_names = [f"{namespace or ''}/{name or ''}" for namespace, name in zip(namespaces, names, strict=True)]
    return out | _alias_index([[full, *found] for full, found in zip(full_names, links, strict=True)])


def _texts(table: pa.Table, prefix: str, names: Iterable[str]) -> dict[str, Values]:
    """The texts of some columns."""
    found = (texts(table.column(name)).arrays(f"{prefix}.{name}") for name in names)
    return {key: values for arrays in found for key, values in arrays.items()}


def _sort(table: pa.Table, *columns: str) -> pa.Table:
    return table.take(pc.sort_indices(table, sort_keys=[(column, "ascending") for column in columns]))


def layer_in_name(label: str) -> str:
    """The layer that a short name contains: `gold.orders` → gold."""
    return next((part for part in segments(label.lower())[:-1] if part in LAYERS), "")


def _with_unlisted(table: pa.Table, columns: pa.Table) -> pa.Table:
    """The datasets, with a row for each dataset that only columns refer to."""
    named = columns.select(["dataset_id", "namespace", "name"]).group_by("dataset_id")
    found = named.aggregate([("namespace", "min"), ("name", "min")])
    known = pa.array(table.column("id").to_pylist(), pa.int64())
    missing = found.filter(pc.invert(pc.is_in(found.column("dataset_id"), value_set=known)))
    sources = {"id": "dataset_id", "namespace": "namespace_min", "name": "name_min"}
    filled = [
        missing.column(sources[field.name]) if field.name in sources else pa.nulls(missing.num_rows, field.type)
        for field in table.schema
    ]
    return pa.concat_tables([table, pa.table(filled, schema=table.schema)])


def _alias_index(names: list[list[str]]) -> dict[str, Values]:
    """From each name of a dataset to the dataset. A key has the segments reversed: a suffix is a prefix of the key."""
    keys = {
        (SEPARATOR.join(reversed(segments(name.lower()))) + SEPARATOR, place)
        for place, found in enumerate(names)
        for name in found
    }
    ordered = sorted((key.encode("utf-8", "replace"), place) for key, place in keys)
    strings = to_strings(key.decode() for key, _ in ordered)
    places = np.array([place for _, place in ordered], dtype=np.int32)
    return strings.arrays("alias.keys") | {"alias.dataset": places} | _trigram_index("alias", strings)


def column_arrays(table: pa.Table, datasets: IdIndex, dataset_count: int) -> tuple[dict[str, Values], IdIndex, int]:
    """The columns in the order of the nodes, their index, and the number of columns without a dataset."""
    owner = datasets.places_of(table.column("dataset_id"))
    is_known = owner >= 0
    table, owner = table.filter(pa.array(is_known)), owner[is_known]
    is_rows = booleans(pc.equal(table.column("kind"), "rows"))
    codes, fields = dictionary(table.column("field"))
    order = np.lexsort((codes, is_rows, owner))
    table, owner, is_rows, codes = table.take(pa.array(order)), owner[order], is_rows[order], codes[order]
    type_codes, types = dictionary(table.column("type"))
    ids = integers(table.column("id"))
    out: dict[str, Values] = {
        "node.id": public_ids(ids),
        "node.dataset": owner.astype(np.int32),
        "node.rows": is_rows,
        "node.field": codes,
        "node.type": type_codes,
        "node.ordinal": integers(table.column("ordinal")).astype(np.int32),
        "node.since": moments(table.column("first_seen")),
        "node.seen": moments(table.column("last_seen")),
        "node.until": moments(table.column("removed_at"), NEVER),
        "dataset.start": row_starts(owner, dataset_count),
        "dataset.rows": _rows_nodes(owner, is_rows, dataset_count),
    }
    out |= _texts(table, "node", _COLUMN_TEXTS)
    out |= _tags(table.column("tags")).arrays("node.tags") | fields.arrays("fields") | types.arrays("types")
    out |= _field_index(codes, is_rows, fields) | nested_field_index(owner, codes, fields)
    return out, index_ids(ids), int(np.count_nonzero(~is_known))


def _rows_nodes(owner: Values, is_rows: Values, dataset_count: int) -> NDArray[np.int32]:
    """The `rows` node of each dataset, or -1."""
    out = np.full(dataset_count, -1, dtype=np.int32)
    places = np.flatnonzero(is_rows)
    out[owner[places]] = places
    return out


def _field_index(codes: Values, is_rows: Values, fields: Strings) -> dict[str, Values]:
    """From the lower-case name of a field to its columns."""
    lowered = [fields[i].lower().encode() for i in range(len(fields))]
    distinct_names = sorted(set(lowered))
    place = {text: i for i, text in enumerate(distinct_names)}
    fold_of = np.array([place[text] for text in lowered], dtype=np.int32)
    columns = np.flatnonzero(~is_rows)
    folds = fold_of[codes[columns]]
    strings = to_strings(text.decode() for text in distinct_names)
    by_fold: dict[str, Values] = {
        "fold.start": row_starts(folds, len(distinct_names)),
        "fold.node": columns[np.argsort(folds, kind="stable")].astype(np.int32),
    }
    return strings.arrays("folds") | by_fold | _trigram_index("fold", strings)


def _trigram_index(name: str, table: Strings) -> dict[str, Values]:
    """From each three consecutive bytes to the strings that contain them."""
    owner = np.repeat(np.arange(len(table), dtype=np.int64), np.diff(table.offsets))
    wide = table.data.astype(np.int64)
    codes = wide[:-2] << 16 | wide[1:-1] << 8 | wide[2:]
    is_inside = owner[:-2] == owner[2:]
    keys = np.unique(codes[is_inside] << 32 | owner[:-2][is_inside])
    trigrams, first = np.unique(keys >> 32, return_index=True)
    return {
        f"{name}.trigram": trigrams.astype(np.int32),
        f"{name}.trigram.start": np.append(first, len(keys)).astype(np.int64),
        f"{name}.trigram.text": (keys & 0xFFFFFFFF).astype(np.int32),
    }


def _tags(column: pa.ChunkedArray) -> Strings:
    return to_strings(SEPARATOR.join(sorted(set(found))) if found else "" for found in column.to_pylist())


def job_arrays(table: pa.Table, datasets: IdIndex) -> tuple[dict[str, Values], IdIndex]:
    """The jobs sorted by name with the datasets that each one writes, and their index."""
    table = _sort(table, "namespace", "name")
    ids = integers(table.column("id"))
    failed = pc.is_in(table.column("last_state"), value_set=pa.array(["FAIL", "ABORT"]))
    out: dict[str, Values] = {
        "job.id": public_ids(ids),
        "job.failed": booleans(failed),
        "job.runs": integers(table.column("runs")),
    }
    out |= _texts(table, "job", _JOB_TEXTS) | _tags(table.column("tags")).arrays("job.tags")
    for column in _JOB_TIMES:
        out[f"job.{column}"] = moments(table.column(column))
    return out | _job_outputs(table.column("outputs"), datasets), index_ids(ids)


def _job_outputs(column: pa.ChunkedArray, datasets: IdIndex) -> dict[str, Values]:
    """The datasets that each job writes, those included that no column lineage leads to."""
    lists = column.combine_chunks()
    job = pc.list_parent_indices(lists).to_numpy().astype(np.int64)
    outputs = pc.list_flatten(lists)
    ids = pc.struct_field(outputs, "dataset_id") if pa.types.is_struct(outputs.type) else outputs
    place = datasets.places_of(ids)
    pairs = np.unique(np.stack([job, place], axis=1)[place >= 0], axis=0)
    return {"job.outputs.start": row_starts(pairs[:, 0], len(column)), "job.outputs": pairs[:, 1].astype(np.int32)}


def read_arrays(table: pa.Table, nodes: IdIndex, jobs: IdIndex, node_count: int) -> dict[str, Values]:
    """Which job reads which column, for what and when, sorted by column."""
    node = nodes.places_of(table.column("column_id"))
    order = np.argsort(node, kind="stable")
    order = order[node[order] >= 0]
    table, node = table.take(pa.array(order)), node[order]
    use_codes, uses = dictionary(table.column("use"))
    kind_codes, kinds = dictionary(table.column("kind"))
    out: dict[str, Values] = {
        "read.start": row_starts(node, node_count),
        "read.job": jobs.places_of(table.column("job_id")).astype(np.int32),
        "read.use": use_codes,
        "read.kind": kind_codes,
        "read.first": moments(table.column("first_read")),
        "read.last": moments(table.column("last_read")),
        "read.reads": integers(table.column("reads")),
    }
    return out | uses.arrays("read.uses") | kinds.arrays("read.kinds")


def gap_arrays(table: pa.Table, datasets: IdIndex, jobs: IdIndex) -> dict[str, Values]:
    """The places where lineage is missing, oldest first."""
    table = _sort(table, "first_seen", "run_id")
    out: dict[str, Values] = {
        "gap.job": jobs.places_of(table.column("job_id")).astype(np.int32),
        "gap.dataset": datasets.places_of(table.column("dataset_id")).astype(np.int32),
        "gap.since": moments(table.column("first_seen")),
        "gap.seen": moments(table.column("last_seen")),
        "gap.until": moments(table.column("resolved_at"), NEVER),
    }
    return out | _texts(table, "gap", ("kind", "run_id", "detail"))
