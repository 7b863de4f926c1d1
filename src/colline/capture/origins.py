"""Where RDDs come from: `df.rdd` leaves the plan behind, so the plan is noted when that step is taken."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from colline.trace.memory import Recent
from colline.trace.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger("colline")

Told = Callable[[int, "DataFrame"], None]

_MOST = 200
_noted: OrderedDict[str, DataFrame] = OrderedDict()
_told: list[Told] = []
_lock = threading.Lock()


def watch_rdds() -> None:
    """Note from now on which DataFrame each `df.rdd` was made from. Asked twice, it is done once."""
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
        _note(self, found)
        return found

    rdd.__doc__ = made.__doc__
    rdd.__colline__ = True  # type: ignore[attr-defined]  # the mark that it is done already
    noting = cached_property(rdd) if isinstance(held, cached_property) else property(rdd)
    if isinstance(noting, cached_property):
        noting.__set_name__(Frame, "rdd")
    Frame.rdd = noting


def tell_rdds(told: Told) -> None:
    """Call `told` with the id of every RDD made from a DataFrame from now on, and with the DataFrame."""
    with _lock:
        _told.append(told)


def hush_rdds(told: Told) -> None:
    """Call it no more."""
    with _lock, suppress(ValueError):
        _told.remove(told)


def _note(df: DataFrame, rdd: Any) -> None:
    try:
        key = rdd._jrdd.rdd().id()
        with _lock:
            _noted[str(key)] = df
            while len(_noted) > _MOST:
                _noted.popitem(last=False)
            told = [*_told]
        for call in told:
            call(key, df)
    except Exception as error:  # noqa: BLE001  the user asked for an RDD, and has it
        log.info("the origin of an RDD was not noted: %r", error)


class Origins(Recent):
    """The memory of one session: columns of recent queries, and the DataFrames that RDDs were made from."""

    def __init__(self, relation: Callable[[DataFrame], Relation], most: int = 20_000) -> None:
        super().__init__(most)
        self._relation = relation

    def origin(self, rdds: Iterable[str]) -> Relation | None:
        """The relation of the DataFrame that one of these RDDs was made from."""
        with _lock:
            found = next((_noted[key] for key in rdds if key in _noted), None)
        return self._relation(found) if found is not None else None
