"""The steps of a walk from few columns, with numbers of Python: there an array costs more than what is done with it."""

from __future__ import annotations

from collections.abc import Iterable

from colline.graph.traversal.csr import Adjacency

FEW = 32  # columns that a step is taken from in this way
_FEW_EDGES = 200
# state → itself and every state with more bits, as a set of bits
COVERS = (0b1111, 0b1010, 0b1100, 0b1000)


def few_steps(sets: Iterable[Adjacency], ring: tuple[list[int], list[int]]) -> tuple[list[list[int]], list[int]] | None:
    """What lies one step of current direct edges away, in the clear and in a mask, and the jobs; None: it is much."""
    spans = []
    total = 0
    for edges in sets:
        start = edges.plain[0]
        for state, nodes in enumerate(ring):
            for node in nodes:
                low, high = start[node], start[node + 1]
                if low < high:
                    spans.append((edges.plain, state | edges.bits, low, high))
                    total += high - low
    if total > _FEW_EDGES:
        return None
    reached: list[list[int]] = [[], []]
    jobs: list[int] = []
    for (_, other, job), state, low, high in spans:
        reached[state] += other[low:high].tolist()
        jobs += job[low:high].tolist()
    return reached, jobs


def few_arrive(reached: list[list[int]], seen: memoryview) -> tuple[list[list[int]], list[int]]:
    """Those that were not yet reached in their state or a better one, sorted, by state; and which are new at all."""
    fresh: list[list[int]] = []
    new: list[int] = []
    for state, others in enumerate(reached):
        bit, covers = 1 << state, COVERS[state]
        nodes = sorted({node for node in others if not seen[node] & bit})
        new += [node for node in nodes if not seen[node]]
        for node in nodes:
            seen[node] = covers
        fresh.append(nodes)
    return fresh, new
