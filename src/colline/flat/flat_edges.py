"""Edges and reads with their times: `edges ⋈ lineage_versions`, and `edges ⋈ mentions ⋈ observations`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from colline.flat.arrow_values import Ranked, as_times, integers, member, moments, rank_texts, ranks_among, unnest
from colline.flat.canonical_ids import CanonicalColumns, CanonicalDatasets
from colline.flat.integer_arrays import Integers, dense_ranks, expand, order_by, row_starts, starts_of_groups

_ATTRIBUTES = ("type", "subtype", "masking", "description")


@dataclass(frozen=True)
class StoredEdges:
    """The rows of `gold/edges` sorted by fingerprint, with the numbers of their columns."""

    fingerprints: pa.Array  # the distinct ones
    start: Integers  # the first row of each fingerprint
    source: Integers
    target: Integers  # -1: a read without a write
    source_dataset: Integers  # row of the reported dataset in `CanonicalDatasets`; -1 if it is not known
    use: Ranked
    kind: Integers  # number of the combination of type, subtype, masking and description
    attributes: pa.Table  # by that number

    def rows_of(self, fingerprints: Integers) -> tuple[Integers, Integers]:
        """The rows of some fingerprints, and for each row the position of its fingerprint in the argument."""
        rows, counts = expand(self.start, fingerprints)
        return rows, np.repeat(np.arange(len(fingerprints)), counts)


def stored_edges(table: pa.Table, columns: CanonicalColumns, datasets: CanonicalDatasets) -> StoredEdges:
    """The edges of the lake whose columns are known."""
    source = columns.index.places_of(table.column("source_id"))
    target = columns.index.places_of(table.column("target_id"))
    is_read = table.column("target_id").is_null().to_numpy()
    known = (source >= 0) & ((target >= 0) | is_read)
    fingerprint = rank_texts(table.column("fingerprint"))
    order = np.argsort(fingerprint.ranks, kind="stable")
    order = order[known[order]]
    codes = {name: _codes(table.column(name)) for name in _ATTRIBUTES}
    kind = np.zeros(table.num_rows, np.int64)
    for found in codes.values():
        kind = kind * (int(found.max(initial=0)) + 2) + found + 1
    _, first, kind = np.unique(kind, return_index=True, return_inverse=True)
    use = rank_texts(table.column("use"))
    return StoredEdges(
        fingerprint.values,
        row_starts(fingerprint.ranks[order], len(fingerprint.values)),
        source[order],
        target[order],
        datasets.reported.places_of(table.column("source_dataset_id"))[order],
        Ranked(use.ranks[order], use.values),
        kind[order],
        table.select(_ATTRIBUTES).take(pa.array(first)),
    )


def _codes(column: pa.ChunkedArray) -> Integers:
    return integers(column.cast(pa.int64())) if pa.types.is_boolean(column.type) else rank_texts(column).ranks


@dataclass(frozen=True)
class Reported:
    """The elements of `reported` of all lineage versions: a fingerprint that runs reported in a version."""

    fingerprint: Integers
    unit: Integers  # number of the job and dataset
    version: Integers
    row: Integers  # of the version in `gold/lineage_versions`
    runs: Integers
    first: Integers  # ranks by first_seen and first_run
    last: Integers
    facts: Any  # the structs


def _reported_fingerprints(versions: pa.Table, edges: StoredEdges) -> Reported:
    rows, _, facts = unnest(versions, "reported")
    fingerprint = ranks_among(member(facts, "fingerprint"), edges.fingerprints)
    keep = np.flatnonzero(fingerprint >= 0)
    rows, facts, fingerprint = rows[keep], facts.take(pa.array(keep)), fingerprint[keep]
    job, dataset = (integers(versions.column(name)) for name in ("job_id", "dataset_id"))
    order = order_by(job, dataset)
    starts = starts_of_groups(job[order], dataset[order])
    unit = np.empty(len(order), np.int64)
    unit[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    first, last = (
        dense_ranks(moments(member(facts, f"{when}_seen")), rank_texts(member(facts, f"{when}_run")).ranks)
        for when in ("first", "last")
    )
    version = integers(versions.column("version"))[rows]
    return Reported(fingerprint, unit[rows], version, rows, integers(member(facts, "runs")), first, last, facts)


def flat_edges(
    versions: pa.Table, edges: StoredEdges, columns: CanonicalColumns, datasets: CanonicalDatasets
) -> dict[str, Any]:
    """The columns of the flat table `edges`: one row per edge and interval of neighbouring versions that have it."""
    reported = _reported_fingerprints(versions, edges)
    row, by = edges.rows_of(reported.fingerprint)
    is_edge = edges.target[row] >= 0
    row, by = row[is_edge], by[is_edge]
    pair = edges.source[row] * max(1, len(columns.ids)) + edges.target[row]
    unit, version, kind = reported.unit[by], reported.version[by], edges.kind[row]
    order = order_by(unit, pair, kind, version)
    row, by, version = row[order], by[order], version[order]
    starts = _island_starts(version, unit[order], pair[order], kind[order])
    ends = np.append(starts, len(row))[1:] - 1
    first, last = (
        _pick_by_rank(reported.first, by, starts, np.minimum),
        _pick_by_rank(reported.last, by, starts, np.maximum),
    )
    newest = reported.row[by[ends]]
    source, target = edges.source[row[starts]], edges.target[row[starts]]
    return {
        "source_id": columns.ids[source],
        "target_id": columns.ids[target],
        "job_id": versions.column("job_id").take(pa.array(newest)),
        **_columns(edges.attributes, edges.kind[row[starts]]),
        "first_seen": member(reported.facts, "first_seen").take(pa.array(first)),
        "last_seen": member(reported.facts, "last_seen").take(pa.array(last)),
        "retired_at": versions.column("valid_to").take(pa.array(newest)),
        "first_run": member(reported.facts, "first_run").take(pa.array(first)),
        "last_run": member(reported.facts, "last_run").take(pa.array(last)),
        "runs": np.add.reduceat(reported.runs[by], starts),
        "dataset_id": versions.column("dataset_id").take(pa.array(newest)),
        "source_dataset_id": datasets.ids[columns.dataset[source]],
    }


def _columns(table: pa.Table, rows: Integers) -> dict[str, pa.ChunkedArray]:
    taken = table.take(pa.array(rows))
    return {name: taken.column(name) for name in table.column_names}


def _island_starts(version: Integers, *keys: Integers) -> Integers:
    """The first row of each group of equal keys whose versions follow each other without a gap."""
    is_start = np.zeros(len(version), np.bool_)
    is_start[starts_of_groups(*keys)] = True
    is_start[1:] |= version[1:] > version[:-1] + 1
    return np.flatnonzero(is_start)


def _pick_by_rank(ranks: Integers, by: Integers, starts: Integers, pick: np.ufunc) -> Integers:
    """For each group the position of the element with the smallest or largest rank."""
    position = np.empty(len(ranks), np.int64)
    position[ranks] = np.arange(len(ranks))
    return np.asarray(position[pick.reduceat(ranks[by], starts)], np.int64)


def flat_reads(
    observations: pa.Table,
    mentions: pa.Table,
    edges: StoredEdges,
    columns: CanonicalColumns,
    *,
    datasets: CanonicalDatasets,
) -> Mapping[str, Any]:
    """The columns of the flat table `reads`: which job reads a column, for what, and when."""
    digest = rank_texts(mentions.column("digest"))
    mentioned = np.full(len(digest.values), -1, np.int64)
    mentioned[digest.ranks] = ranks_among(mentions.column("fingerprint"), edges.fingerprints)
    observed = ranks_among(observations.column("digest"), digest.values)
    fingerprint = np.where(observed >= 0, mentioned[observed] if len(mentioned) else -1, -1)
    keep = np.flatnonzero((fingerprint >= 0) & observations.column("kind").is_valid().to_numpy())
    observations, fingerprint = observations.take(pa.array(keep)), fingerprint[keep]
    kind, run = rank_texts(observations.column("kind")), rank_texts(observations.column("last_run"))
    job = integers(observations.column("job_id"))
    first, last = (moments(observations.column(name)) for name in ("first_seen", "last_seen"))
    last_rank = dense_ranks(last, run.ranks)
    row, by = _distinct_uses(edges, fingerprint)
    column, use = edges.source[row], edges.use.ranks[row]
    order = order_by(column, job[by], use, kind.ranks[by])
    column, use, by = column[order], use[order], by[order]
    starts = starts_of_groups(column, job[by], use, kind.ranks[by])
    newest = _pick_by_rank(last_rank, by, starts, np.maximum)
    one = by[starts]
    return {
        "column_id": columns.ids[column[starts]],
        "job_id": job[one],
        "use": edges.use.take(use[starts]),
        "kind": kind.take(kind.ranks[one]),
        "first_read": as_times(np.minimum.reduceat(first[by], starts)),
        "last_read": as_times(last[newest]),
        "last_run": run.take(run.ranks[newest]),
        "reads": np.add.reduceat(integers(observations.column("runs"))[by], starts),
        "dataset_id": datasets.ids[columns.dataset[column[starts]]],
    }


def _distinct_uses(edges: StoredEdges, fingerprint: Integers) -> tuple[Integers, Integers]:
    """Each (source, use) of each fingerprint once: its row, and the position of its fingerprint in the argument."""
    owner = np.repeat(np.arange(len(edges.fingerprints)), np.diff(edges.start))
    order = order_by(owner, edges.source, edges.use.ranks)
    starts = starts_of_groups(owner[order], edges.source[order], edges.use.ranks[order])
    chosen = order[starts]
    rows, counts = expand(row_starts(owner[chosen], len(edges.fingerprints)), fingerprint)
    return chosen[rows], np.repeat(np.arange(len(fingerprint)), counts)
