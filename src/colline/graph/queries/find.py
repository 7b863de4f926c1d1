"""`find`: which columns are called like this, best match first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from colline.errors import ColumnError
from colline.graph.answer import Answer, Page, counted
from colline.graph.traversal.bfs import alive
from colline.graph.traversal.csr import Nodes, distinct, expand
from colline.graph.traversal.name_index import SEPARATOR, NameIndex, parse
from colline.graph.traversal.records import View
from colline.graph.traversal.similar_names import sharing_trigrams, similar_columns

_MOST = 20_000  # columns looked at for one kind of match; more than anyone pages through


@dataclass(frozen=True)
class Only:
    """Which matches are wanted: those of a layer, those with a tag."""

    layer: str | None = None
    tag: str | None = None


_EVERY = Only()


def in_layer(view: View, nodes: Nodes, layer: str) -> NDArray[np.bool_]:
    """Which columns lie in a layer; one that no dataset is in is a slip of the pen, not an empty answer."""
    names = view.arrays.strings("dataset.layer")
    known = {names[place].lower() for place in range(len(names))} - {""}
    if layer.lower() not in known:
        hint = f"known are {', '.join(sorted(known)) or 'none'}"
        raise ColumnError(f"no dataset is in the layer {layer!r}", hint=hint, candidates=tuple(sorted(known)))
    owners, back = np.unique(view.arrays["node.dataset"][nodes], return_inverse=True)
    return np.array([names[int(p)].lower() == layer.lower() for p in owners], dtype=np.bool_)[back]


def answer(view: View, text: str, page: Page, at: int | None = None, only: Only = _EVERY) -> Answer:
    """Ranked matches: exact, suffix, prefix, part of a name, dataset, and fuzzy where nothing else fits."""
    ranked, capped = ranked_matches(view, text, at)
    if only.layer is not None and ranked:
        inside = in_layer(view, np.array([node for _, node in ranked]), only.layer)
        ranked = [pair for pair, keep in zip(ranked, inside, strict=True) if keep]
    if only.tag is not None:
        wanted = only.tag.lower()
        ranked = [pair for pair in ranked if wanted in (tag.lower() for tag in view.tags(pair[1]))]
    total = len(ranked)
    end = total if page.limit is None else page.offset + page.limit
    shown = ranked[page.offset : end]
    nodes = np.array([node for _, node in shown], dtype=np.int64)
    rows = [{**row, "match": kind} for row, (kind, _) in zip(view.columns(nodes, at), shown, strict=True)]
    left_out, cursor = page.next(total, view.version)
    kinds = {kind: sum(k == kind for k, _ in ranked) for kind in dict.fromkeys(k for k, _ in ranked)}
    told = ", ".join(f"{n:,} {kind}" for kind, n in kinds.items())
    tagged = "" if only.tag is None else f" tagged {only.tag!r}"
    verdict = f"{counted(total, 'column')}{tagged} {'is' if total == 1 else 'are'} called like {text!r}: {told}"
    unknown = (
        ({"what": text, "why": f"more than {_MOST:,} matches of one kind: write more of the name"},) if capped else ()
    )
    return Answer(
        question="find",
        verdict=verdict if total else f"no column{tagged} is called like {text!r}",
        as_of=view.as_of(at),
        totals={"columns": total, **kinds},
        sections={"rows": rows},
        unknown=unknown,
        left_out=left_out,
        cursor=cursor,
        snapshot=view.version,
        main="rows",
    )


def ranked_matches(view: View, text: str, at: int | None) -> tuple[list[tuple[str, int]], bool]:
    """(kind of match, column) best first, each column once; and whether some kind had too many to list."""
    taken: dict[int, str] = {}
    capped = False
    for kind, nodes in _kinds(view.names, text):
        capped |= len(nodes) >= _MOST
        for node in nodes[alive(view.arrays, nodes, at)].tolist():
            taken.setdefault(node, kind)
    if not taken:
        for node in similar_columns(view.names, parse(text), at)[:50].tolist():
            taken.setdefault(node, "fuzzy")
    return [(kind, node) for node, kind in taken.items()], capped


def _kinds(names: NameIndex, text: str) -> Iterator[tuple[str, Nodes]]:
    asked = parse(text)
    yield "exact", names.matches(asked)
    if len(asked.parts) == 1:
        wanted = asked.parts[0].lower()
        holding = _holding(names, wanted)
        low, high = names.folds.starting_with(wanted)
        yield "suffix", _nodes(names, [f for f in holding if names.folds[f].endswith(wanted)])
        yield "prefix", _nodes(names, list(range(low, high)))
        yield "part", _nodes(names, holding)
        yield "dataset", _columns_of(names, wanted)
    else:
        yield "prefix", _dataset_and_prefix(names, asked.parts)


def _holding(names: NameIndex, wanted: str) -> list[int]:
    """Field names with the text inside, shortest first."""
    found = [int(f) for f in sharing_trigrams(names, "fold", wanted, most=_MOST)]
    return sorted((f for f in found if wanted in names.folds[f]), key=lambda f: (len(names.folds.raw(f)), f))


def _nodes(names: NameIndex, folds: list[int]) -> Nodes:
    at, _ = expand(names.arrays["fold.start"], np.array(folds, dtype=np.int64))
    return names.arrays["fold.node"][at[:_MOST]].astype(np.int64)


def _columns_of(names: NameIndex, wanted: str) -> Nodes:
    """Columns of the datasets one of whose last two steps is called like that."""
    whole = names.datasets([wanted])
    near = [k for k in sharing_trigrams(names, "alias", wanted, most=_MOST) if _in_tail(names, int(k), wanted)]
    places = distinct(np.concatenate([whole, names.arrays["alias.dataset"][near]])).astype(np.int64)
    found = expand(names.arrays["dataset.start"], places)[0][:_MOST]
    columns: Nodes = found[~names.arrays["node.rows"][found]]
    return columns


def _in_tail(names: NameIndex, key: int, wanted: str) -> bool:
    return any(wanted in part for part in names.alias(key).split(SEPARATOR)[:2])


def _dataset_and_prefix(names: NameIndex, parts: tuple[str, ...]) -> Nodes:
    """`gold.orders.to` → columns of gold.orders that begin with `to`; `gold.orders`, `gold.ord` → all its columns."""
    out = []
    for place in names.datasets(parts[:-1])[:200].tolist():
        nodes = names.dataset_columns(place)
        out.append(nodes[[names.field(n).lower().startswith(parts[-1].lower()) for n in nodes.tolist()]])
    places = [*names.datasets(parts)[:200].tolist(), *_begun(names, parts)]
    out += [names.dataset_columns(place) for place in dict.fromkeys(places)]
    return np.concatenate(out).astype(np.int64) if out else np.empty(0, dtype=np.int64)


def _begun(names: NameIndex, parts: tuple[str, ...]) -> list[int]:
    """Datasets whose last step begins with the last part, below the others: `gold.ord` → gold.orders."""
    *above, begun = (part.lower() for part in parts)
    wanted = SEPARATOR.join(reversed(above)) + SEPARATOR
    low, high = names.aliases_starting_with(begun)
    looked = range(low, min(high, low + _MOST))
    keys = (key for key in looked if names.alias(key).partition(SEPARATOR)[2].startswith(wanted))
    return list(dict.fromkeys(int(names.arrays["alias.dataset"][key]) for key in islice(keys, 200)))
