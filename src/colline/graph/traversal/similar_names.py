"""Finds names that are similar to a misspelled one, and names that contain a text, by their trigrams."""

from __future__ import annotations

import difflib
from typing import Literal

import numpy as np

from colline.flat.integer_arrays import distinct, expand
from colline.graph.traversal.bfs import exist_at
from colline.graph.traversal.csr import NO_NODES, Nodes
from colline.graph.traversal.name_index import SEPARATOR, NameIndex
from colline.graph.traversal.typed_name import TypedName, segments

_MIN_SIMILARITY = 0.6
_SIMILARITY_MARGIN = 0.1  # names this much less similar than the best one are suggested too
_MAX_COMPARED_CHARACTERS = 200  # comparing takes the product of both lengths, and a typed name may have 10 KB


def sharing_trigrams(
    names: NameIndex, index: Literal["fold", "alias"], text: str, *, share: float = 1.0, most: int = 2000
) -> Nodes:
    """The strings of an index that contain at least this share of the trigrams of a text, best first."""
    raw = np.frombuffer(text.lower().encode(), dtype=np.uint8).astype(np.int64)
    if len(raw) < 3:
        return NO_NODES
    codes = distinct(raw[:-2] << 16 | raw[1:-1] << 8 | raw[2:])
    known = names.arrays[f"{index}.trigram"]
    at = np.searchsorted(known, codes)
    is_inside = at < len(known)
    at = at[is_inside][known[at[is_inside]] == codes[is_inside]]
    rows, _ = expand(names.arrays[f"{index}.trigram.start"], at)
    found, counts = np.unique(names.arrays[f"{index}.trigram.text"][rows], return_counts=True)
    is_enough = counts >= max(1, share * len(codes))
    found, counts = found[is_enough], counts[is_enough]
    return found[np.argsort(-counts, kind="stable")][:most].astype(np.int64)


def similar_columns(names: NameIndex, typed: TypedName, at: int | None = None) -> Nodes:
    """The columns with a name like the typed one, most similar first."""
    candidates = _columns_with_similar_field(names, typed.parts[-1].lower())
    for dataset in similar_datasets(names, ".".join(typed.parts[:-1]))[:3]:
        candidates += names.dataset_columns(dataset, at)[:200].tolist()
    nodes = [node for node in dict.fromkeys(candidates) if exist_at(names.arrays, node, at)]
    wanted = ".".join(typed.parts).lower()
    similarity = {node: _similarity(_suffix(names, node, len(typed.parts)), wanted) for node in nodes}
    least = max(similarity.values(), default=1.0) - _SIMILARITY_MARGIN
    found = sorted((n for n in nodes if similarity[n] >= least), key=lambda n: (-similarity[n], n))
    return np.array(found, dtype=np.int64)


def _columns_with_similar_field(names: NameIndex, field: str) -> list[int]:
    folds = sharing_trigrams(names, "fold", field, share=0.3, most=400).tolist() or _similar_ends(names, field)
    ranked = sorted(((_similarity(names.folds[fold], field), fold) for fold in folds), key=lambda pair: -pair[0])
    start, node = names.arrays["fold.start"], names.arrays["fold.node"]
    likely = [fold for similarity, fold in ranked[:40] if similarity > _MIN_SIMILARITY]
    return [n for fold in likely for n in node[start[fold] : start[fold + 1]][:50].tolist()]


def _similar_ends(names: NameIndex, text: str) -> list[int]:
    """Field names of similar length with the same first or last byte: two swapped letters can change all trigrams."""
    raw, offsets, data = text.encode(), names.folds.offsets, names.folds.data
    size = np.diff(offsets)
    fits = np.flatnonzero((np.abs(size - len(raw)) <= 1) & (size > 0))
    is_same = (data[offsets[fits]] == raw[0]) | (data[offsets[fits + 1] - 1] == raw[-1])
    found: list[int] = fits[is_same][:3000].tolist()
    return found


def _suffix(names: NameIndex, node: int, count: int) -> str:
    """The last segments of a column's name."""
    return ".".join(segments(names.label(node).lower())[-count:])


def similar_datasets(names: NameIndex, text: str) -> list[int]:
    """The datasets with a name like this one, most similar first."""
    wanted = SEPARATOR.join(reversed(segments(text.lower())))
    found = sharing_trigrams(names, "alias", wanted, share=0.3, most=200).tolist()
    ranked = sorted(found, key=lambda place: -_similarity(names.alias(place).rstrip(SEPARATOR), wanted))
    return list(dict.fromkeys(int(names.arrays["alias.dataset"][place]) for place in ranked))


def _similarity(one: str, other: str) -> float:
    """1.0 for equal strings, 0.0 for strings with no letter in common."""
    one, other = one[:_MAX_COMPARED_CHARACTERS], other[:_MAX_COMPARED_CHARACTERS]
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
