"""What the verdicts about a traversal have in common: totals, names, and whether `--depth` hides something."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from colline.graph.answer import count_of
from colline.graph.traversal.bfs import Reach, traverse
from colline.graph.traversal.csr import Nodes
from colline.graph.traversal.records import View

MAX_NAMES = 3


def reach_totals(reach: Reach) -> dict[str, int]:
    """The number of columns, datasets and jobs that were reached, the largest distance, and that without a limit."""
    has_columns = np.zeros(reach.arrays.meta["datasets"], dtype=np.bool_)
    has_columns[reach.arrays["node.dataset"].take(reach.nodes)] = True
    datasets = int(np.count_nonzero(has_columns))
    totals = {"columns": reach.total, "datasets": datasets, "jobs": len(reach.jobs), "depth": reach.depth}
    return totals | {"hops": _all_hops(reach)}


def _all_hops(reach: Reach) -> int:
    """The largest distance that a traversal without a limit of its depth has."""
    options = reach.options
    if options.depth is None or reach.depth < options.depth:
        return reach.depth
    return traverse(reach.arrays, reach.origin, replace(options, depth=None)).depth


def depth_note(totals: dict[str, int]) -> str:
    """The end of a verdict that a limit of the depth has made incomplete."""
    return f"; {totals['depth']} of {count_of(totals['hops'], 'hop')} shown" if is_limited(totals) else ""


def is_limited(totals: dict[str, int]) -> bool:
    """Whether there are columns beyond the depth that was asked for."""
    return totals["hops"] > totals["depth"]


def conditions_note(reach: Reach, hint: str = "`--indirect` lists them") -> str:
    """How many columns and jobs depend on the start through conditions, if the traversal did not follow them."""
    if reach.options.indirect:
        return ""
    found = traverse(reach.arrays, reach.origin, replace(reach.options, indirect=True))
    if not (found.total or len(found.jobs)):
        return ""
    if reach.options.upstream:
        verb = "decides it" if found.total == 1 else "decide it"
        return f"{count_of(found.total, 'column')} {verb} through conditions ({hint})"
    verb = "depends on it" if found.total + len(found.jobs) == 1 else "depend on it"
    dependents = f"{count_of(found.total, 'column')} and {count_of(len(found.jobs), 'job')}"
    return f"{dependents} {verb} through conditions ({hint})"


def column_names(view: View, nodes: Nodes) -> str:
    """The names of up to three columns and the number of the others; a table's name for all of its columns."""
    homes = view.arrays["node.dataset"].take(nodes)
    if len(nodes) > 1 and (homes == homes[0]).all() and len(nodes) >= len(view.names.dataset_columns(int(homes[0]))):
        return view.names.labels[int(homes[0])]
    names = ", ".join(view.names.label(node) for node in nodes[:MAX_NAMES].tolist())
    return names + (f" and {len(nodes) - MAX_NAMES} more" if len(nodes) > MAX_NAMES else "")


def gap_note(gaps: int) -> str:
    """The end of a verdict that coverage gaps make uncertain."""
    return f"; {count_of(gaps, 'gap')} in coverage on the way" if gaps else ""
