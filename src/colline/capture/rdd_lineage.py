"""Where RDDs come from: `df.rdd` and `df.checkpoint()` leave the plan behind, so it is noted when they are called."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from colline.trace.checkpoints import RddOrigin, RecentQueries
from colline.trace.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger("colline")

Told = Callable[[int, "DataFrame"], None]

_MOST = 200


@dataclass(frozen=True, slots=True, eq=False)
class _Noted:
    df: DataFrame
    is_copy: bool


_noted: OrderedDict[str, _Noted] = OrderedDict()
_told: list[Told] = []
_lock = threading.Lock()


def watch_rdds() -> None:
    """Note from now on which DataFrame each RDD and each checkpoint was made from. Asked twice, it is done once."""
    try:
        from pyspark.sql.classic.dataframe import DataFrame as Frame
    except ImportError:  # before Spark 4 there is one DataFrame class
        from pyspark.sql import DataFrame as Frame
    held = vars(Frame)["rdd"]
    made = held.func if isinstance(held, cached_property) else held.fget
    if hasattr(made, "__colline__"):
        return

    def rdd(self: DataFrame) -> Any:
        found = made(self)
        _note(self, lambda: found._jrdd.rdd().id())
        return found

    rdd.__doc__ = made.__doc__
    rdd.__colline__ = True  # type: ignore[attr-defined]  # the mark that it is done already
    noting = cached_property(rdd) if isinstance(held, cached_property) else property(rdd)
    if isinstance(noting, cached_property):
        noting.__set_name__(Frame, "rdd")
    Frame.rdd = noting
    for name in ("checkpoint", "localCheckpoint"):
        setattr(Frame, name, _noting_copy(vars(Frame)[name]))


def _noting_copy(made: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    @wraps(made)
    def checkpoint(self: DataFrame, *arguments: Any, **named: Any) -> DataFrame:
        copy = made(self, *arguments, **named)
        _note(self, lambda: copy._jdf.queryExecution().analyzed().rdd().id(), is_copy=True)
        return copy

    return checkpoint


def forget_rdds() -> None:
    """Another application counts its RDDs from the start."""
    with _lock:
        _noted.clear()


def tell_rdds(told: Told) -> None:
    """Call `told` with the id of every RDD made from a DataFrame from now on, and with the DataFrame."""
    with _lock:
        _told.append(told)


def hush_rdds(told: Told) -> None:
    """Call it no more."""
    with _lock, suppress(ValueError):
        _told.remove(told)


def _note(df: DataFrame, number: Callable[[], int], *, is_copy: bool = False) -> None:
    try:
        key = number()
        with _lock:
            _noted[str(key)] = _Noted(df, is_copy)
            while len(_noted) > _MOST:
                _noted.popitem(last=False)
            told = [] if is_copy else [*_told]
        for call in told:
            call(key, df)
    except Exception as error:  # noqa: BLE001  the user asked for an RDD or a checkpoint, and has it
        log.info("the origin of an RDD was not noted: %r", error)


class Origins(RecentQueries):
    """The memory of one session: columns of recent queries, and the DataFrames that RDDs were made from."""

    def __init__(self, relation: Callable[[DataFrame], Relation], most: int = 20_000) -> None:
        super().__init__(most)
        self._relation = relation
        self._copied: dict[str, Relation] = {}

    def origin(self, rdds: Sequence[str]) -> RddOrigin | None:
        """The query that one of these RDDs was made from; only the nearest of them can be a copy of its rows."""
        with _lock:
            noted = dict(_noted)
        key = next((key for place, key in enumerate(rdds) if key in noted and not (place and noted[key].is_copy)), None)
        if key is None:
            return None
        if not noted[key].is_copy:
            return RddOrigin(self._relation(noted[key].df))
        self._copied = {known: found for known, found in self._copied.items() if known in noted}
        # the oldest first: a loop that checkpoints each round would otherwise be followed back in one deep call
        for older in (*takewhile(lambda each: each != key, noted), key):
            if noted[older].is_copy and older not in self._copied:
                self._copied[older] = self._relation(noted[older].df)
        return RddOrigin(self._copied[key], is_copy=True)
