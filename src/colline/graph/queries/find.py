"""`find`: columns by name, best match first, and the tables and jobs with such names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from colline.errors import ColumnError
from colline.flat.integer_arrays import distinct, expand
from colline.graph.answer import Page, count_of
from colline.graph.inventory_rows import FoundColumn
from colline.graph.queries.inventory.column_degrees import counted_columns
from colline.graph.queries.inventory.job_catalog import matching_jobs
from colline.graph.queries.inventory.table_catalog import listed_datasets
from colline.graph.results import FindAnswer
from colline.graph.rows import Unknown
from colline.graph.traversal.bfs import exist_at
from colline.graph.traversal.csr import Nodes
from colline.graph.traversal.name_index import SEPARATOR, NameIndex
from colline.graph.traversal.records import View
from colline.graph.traversal.similar_names import sharing_trigrams, similar_columns
from colline.graph.traversal.typed_name import parse

MAX_MATCHES = 20_000  # of each kind
MAX_FUZZY_MATCHES = 50
MAX_DATASETS = 200
MAX_GROUP = 10  # tables, and jobs, that are listed below the columns


@dataclass(frozen=True)
class Filter:
    """The layer and the tag that matches must have."""

    layer: str | None = None
    tag: str | None = None


_NO_FILTER = Filter()


def is_in_layer(view: View, nodes: Nodes, layer: str) -> NDArray[np.bool_]:
    """Whether each column is in a layer. A layer without datasets is an error."""
    names = view.arrays.strings("dataset.layer")
    known = tuple(sorted({names[place].lower() for place in range(len(names))} - {""}))
    if layer.lower() not in known:
        hint = f"known layers: {', '.join(known) or 'none'}"
        raise ColumnError(f"no dataset is in the layer {layer!r}", hint=hint, candidates=known)
    owners, position = np.unique(view.arrays["node.dataset"][nodes], return_inverse=True)
    return np.array([names[int(place)].lower() == layer.lower() for place in owners], dtype=np.bool_)[position]


def answer(view: View, text: str, page: Page, at: int | None = None, *, only: Filter = _NO_FILTER) -> FindAnswer:
    """Matches by kind: exact, suffix, prefix, part of a name, dataset; similar spellings if nothing else matches."""
    matches, is_truncated = ranked_matches(view, text, at)
    if only.layer is not None and matches:
        inside = is_in_layer(view, np.array(list(matches)), only.layer).tolist()
        matches = {node: kind for (node, kind), keep in zip(matches.items(), inside, strict=True) if keep}
    if only.tag is not None:
        wanted = only.tag.lower()
        matches = {n: kind for n, kind in matches.items() if wanted in (tag.lower() for tag in view.tags(n))}
    nodes = np.array(list(matches)[page.rows], dtype=np.int64)
    rows = zip(counted_columns(view, nodes, at), nodes.tolist(), strict=True)
    kinds = Counter(matches.values())
    tables, jobs = _matching_tables(view, text, only), _matching_jobs(view, text, only)
    groups = page.offset == 0
    why = f"more than {MAX_MATCHES:,} matches of one kind: write more of the name"
    return FindAnswer(
        verdict=_verdict(text, only, kinds, {"table": len(tables), "job": len(jobs)}),
        totals={"columns": len(matches), **kinds, "tables": len(tables), "jobs": len(jobs)},
        rows=[FoundColumn.extend(row, match=matches[node]) for row, node in rows],
        tables=listed_datasets(view, tables[:MAX_GROUP]) if groups else [],
        jobs=[view.job(job) for job in jobs[:MAX_GROUP]] if groups else [],
        unknown=(Unknown(text, why),) if is_truncated else (),
        **page.answer_fields(len(matches), view.as_of(at)),
    )


def _verdict(text: str, only: Filter, kinds: Counter[str], others: dict[str, int]) -> str:
    tagged = "" if only.tag is None else f" tagged {only.tag!r}"
    groups = [count_of(count, word) for word, count in others.items() if count]
    also = f"; also {' and '.join(groups)}" if groups else ""
    if not kinds:
        return f"no column{tagged} matches {text!r}{also}"
    counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    verb = "matches" if kinds.total() == 1 else "match"
    return f"{count_of(kinds.total(), 'column')}{tagged} {verb} {text!r}: {counts}{also}"


def _matching_tables(view: View, text: str, only: Filter) -> list[int]:
    """The tables with a name that contains the text, with the layer and tag that were asked for."""
    names, parts = view.names, parse(text).parts
    if len(parts) == 1:
        found = _datasets_containing(names, parts[0].lower()).tolist()
    else:
        found = [*names.datasets(parts).tolist(), *_datasets_with_prefix(names, parts)]
    layer, tag = (each and each.lower() for each in (only.layer, only.tag))
    return [
        place
        for place in dict.fromkeys(found)
        if layer in (None, (view.text("dataset.layer", place) or "").lower())
        and (tag is None or tag in (each.lower() for each in view.dataset(place).tags))
    ]


def _matching_jobs(view: View, text: str, only: Filter) -> list[int]:
    return matching_jobs(view, text) if only == _NO_FILTER else []


def ranked_matches(view: View, text: str, at: int | None) -> tuple[dict[int, str], bool]:
    """Columns with their kind of match, best first; and whether there are too many of one kind to list all."""
    matches: dict[int, str] = {}
    is_truncated = False
    for kind, nodes in _matches_by_kind(view.names, text):
        is_truncated |= len(nodes) >= MAX_MATCHES
        for node in nodes[exist_at(view.arrays, nodes, at)].tolist():
            matches.setdefault(node, kind)
    if not matches:
        similar = similar_columns(view.names, parse(text), at)[:MAX_FUZZY_MATCHES]
        return dict.fromkeys(similar.tolist(), "fuzzy"), is_truncated
    return matches, is_truncated


def column_completions(view: View, text: str, limit: int = 50) -> list[str]:
    """Names of columns that begin with the text."""
    matches, _ = ranked_matches(view, text, None) if text.strip(".") else ({}, False)
    return [view.names.label(n) for n, kind in matches.items() if kind in ("exact", "prefix", "dataset")][:limit]


def table_completions(view: View, text: str, limit: int = 50) -> list[str]:
    """Names of tables and jobs that begin with the text."""
    jobs, wanted = view.arrays.strings("job.name"), text.lower()
    tables = [view.names.labels[place] for place in range(view.arrays.meta["datasets"])]
    names = [*tables, *(jobs[place] for place in range(len(jobs)))]
    return [name for name in names if name.lower().startswith(wanted)][:limit]


def _matches_by_kind(names: NameIndex, text: str) -> Iterator[tuple[str, Nodes]]:
    typed = parse(text)
    yield "exact", names.matches(typed)
    if len(typed.parts) == 1:
        wanted = typed.parts[0].lower()
        containing = _folds_containing(names, wanted)
        low, high = names.folds.starting_with(wanted)
        yield "suffix", _nodes(names, [f for f in containing if names.folds[f].endswith(wanted)])
        yield "prefix", _nodes(names, list(range(low, high)))
        yield "part", _nodes(names, containing)
        yield "dataset", _columns_of(names, wanted)
    else:
        yield "prefix", _dataset_and_prefix(names, typed.parts)


def _folds_containing(names: NameIndex, wanted: str) -> list[int]:
    """Column names that contain the text, shortest first."""
    found = [int(f) for f in sharing_trigrams(names, "fold", wanted, most=MAX_MATCHES)]
    return sorted((f for f in found if wanted in names.folds[f]), key=lambda f: (len(names.folds.raw_bytes(f)), f))


def _nodes(names: NameIndex, folds: list[int]) -> Nodes:
    at, _ = expand(names.arrays["fold.start"], np.array(folds, dtype=np.int64))
    return names.arrays["fold.node"][at[:MAX_MATCHES]].astype(np.int64)


def _columns_of(names: NameIndex, wanted: str) -> Nodes:
    """Columns of datasets whose name contains the text in one of its last two parts."""
    places = _datasets_containing(names, wanted)
    found = expand(names.arrays["dataset.start"], places)[0][:MAX_MATCHES]
    columns: Nodes = found[~names.arrays["node.rows"][found]]
    return columns


def _datasets_containing(names: NameIndex, wanted: str) -> Nodes:
    """Datasets whose name contains the text in one of its last two parts."""
    whole = names.datasets([wanted])
    parts = [
        k
        for k in sharing_trigrams(names, "alias", wanted, most=MAX_MATCHES)
        if _is_in_last_parts(names, int(k), wanted)
    ]
    return distinct(np.concatenate([whole, names.arrays["alias.dataset"][parts]])).astype(np.int64)


def _is_in_last_parts(names: NameIndex, key: int, wanted: str) -> bool:
    return any(wanted in part for part in names.alias(key).split(SEPARATOR)[:2])


def _dataset_and_prefix(names: NameIndex, parts: tuple[str, ...]) -> Nodes:
    """`gold.orders.to` → columns of gold.orders that begin with `to`; `gold.orders`, `gold.ord` → all its columns."""
    out = []
    for place in names.datasets(parts[:-1])[:MAX_DATASETS].tolist():
        nodes = names.dataset_columns(place)
        out.append(nodes[[names.field(n).lower().startswith(parts[-1].lower()) for n in nodes.tolist()]])
    places = [*names.datasets(parts)[:MAX_DATASETS].tolist(), *_datasets_with_prefix(names, parts)]
    out += [names.dataset_columns(place) for place in dict.fromkeys(places)]
    return np.concatenate(out).astype(np.int64) if out else np.empty(0, dtype=np.int64)


def _datasets_with_prefix(names: NameIndex, parts: tuple[str, ...]) -> list[int]:
    """Datasets whose last part begins with the last part of the text: `gold.ord` → gold.orders."""
    *above, prefix = (part.lower() for part in parts)
    wanted = SEPARATOR.join(reversed(above)) + SEPARATOR
    low, high = names.aliases_starting_with(prefix)
    candidates = range(low, min(high, low + MAX_MATCHES))
    keys = (key for key in candidates if names.alias(key).partition(SEPARATOR)[2].startswith(wanted))
    return list(dict.fromkeys(int(names.arrays["alias.dataset"][key]) for key in islice(keys, MAX_DATASETS)))
