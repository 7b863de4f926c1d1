"""Lists of tags from several sources: sorted, each tag once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from colline.flat.arrow_values import as_lists, rank_texts, unnest
from colline.flat.integer_arrays import Integers, order_by, starts_of_groups


@dataclass(frozen=True)
class PlacedTags:
    """Tags of numbered objects: the number of the object, and the tag."""

    places: Integers
    texts: pa.ChunkedArray


def tags_in(lists: Any, places: Integers) -> PlacedTags:
    """The elements of a list column whose rows belong to the objects at some places."""
    rows, _, found = unnest(pa.table({"tags": lists}), "tags")
    return PlacedTags(places[rows], pa.chunked_array([found]))


def tag_lists(sources: Iterable[PlacedTags], count: int) -> pa.Array:
    """A list of tags for each of `count` objects."""
    found = list(sources)
    places = np.concatenate([tags.places for tags in found])
    texts = rank_texts(pa.chunked_array([chunk for tags in found for chunk in tags.texts.chunks], pa.string()))
    keep = np.flatnonzero((places >= 0) & (texts.ranks >= 0))
    order = keep[order_by(places[keep], texts.ranks[keep])]
    starts = starts_of_groups(places[order], texts.ranks[order])
    one = order[starts]
    return as_lists(places[one], texts.take(texts.ranks[one]), count)
