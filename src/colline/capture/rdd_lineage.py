"""Remembers which DataFrame an RDD or checkpoint was made from.

The plan of `df.rdd` or `df.checkpoint()` starts at the RDD and no longer contains the query. So PySpark's methods are
wrapped, and the DataFrame is recorded when they are called.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from colline.terminal_text import get_logger
from colline.trace.checkpoints import RddOrigin, RecentQueries
from colline.trace.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = get_logger("colline")

RddSubscriber = Callable[[int, "DataFrame"], None]

_MAX_RDDS = 200


@dataclass(frozen=True, slots=True, eq=False)
class _Recorded:
    df: DataFrame
    is_checkpoint: bool


_recorded: OrderedDict[str, _Recorded] = OrderedDict()
_subscribers: list[RddSubscriber] = []
_lock = threading.Lock()


def record_rdds() -> None:
    """Record from now on which DataFrame each RDD and each checkpoint is made from. A second call changes nothing."""
    try:
        from pyspark.sql.classic.dataframe import DataFrame as Frame
    except ImportError:  # before Spark 4 there is one DataFrame class
        from pyspark.sql import DataFrame as Frame
    original = vars(Frame)["rdd"]
    get_rdd = original.func if isinstance(original, cached_property) else original.fget
    if hasattr(get_rdd, "__colline__"):
        return

    def rdd(self: DataFrame) -> Any:
        found = get_rdd(self)
        _record(self, lambda: found._jrdd.rdd().id())
        return found

    rdd.__doc__ = get_rdd.__doc__
    rdd.__colline__ = True  # type: ignore[attr-defined]  # marks the wrapper
    recording = cached_property(rdd) if isinstance(original, cached_property) else property(rdd)
    if isinstance(recording, cached_property):
        recording.__set_name__(Frame, "rdd")
    Frame.rdd = recording
    for name in ("checkpoint", "localCheckpoint"):
        setattr(Frame, name, _recording_checkpoint(vars(Frame)[name]))


def _recording_checkpoint(original: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    @wraps(original)
    def checkpoint(self: DataFrame, *arguments: Any, **named: Any) -> DataFrame:
        copy = original(self, *arguments, **named)
        _record(self, lambda: copy._jdf.queryExecution().analyzed().rdd().id(), is_checkpoint=True)
        return copy

    return checkpoint


def forget_rdds() -> None:
    """Forget all RDDs. Called for a new application, whose RDD ids start again at 0."""
    with _lock:
        _recorded.clear()


def subscribe_rdds(subscriber: RddSubscriber) -> None:
    """Call `subscriber` with the id and the DataFrame of every RDD made from now on."""
    with _lock:
        _subscribers.append(subscriber)


def unsubscribe_rdds(subscriber: RddSubscriber) -> None:
    """Stop calling `subscriber`."""
    with _lock, suppress(ValueError):
        _subscribers.remove(subscriber)


def _record(df: DataFrame, rdd_id: Callable[[], int], *, is_checkpoint: bool = False) -> None:
    try:
        key = rdd_id()
        with _lock:
            _recorded[str(key)] = _Recorded(df, is_checkpoint)
            while len(_recorded) > _MAX_RDDS:
                _recorded.popitem(last=False)
            subscribers = [] if is_checkpoint else [*_subscribers]
        for subscriber in subscribers:
            subscriber(key, df)
    except Exception as error:  # noqa: BLE001 - the user's call has already succeeded and must not fail here
        log.info("the DataFrame of an RDD was not recorded: %r", error)


class SessionMemory(RecentQueries):
    """What tracing keeps between queries: columns of recent queries, and the DataFrames that RDDs were made from."""

    def __init__(self, relation: Callable[[DataFrame], Relation], most: int = 20_000) -> None:
        super().__init__(most)
        self._relation = relation
        self._checkpoints: dict[str, Relation] = {}

    def origin(self, rdds: Sequence[str]) -> RddOrigin | None:
        """The query that one of these RDDs was made from. Only the first RDD can be a checkpoint of its rows."""
        with _lock:
            recorded = dict(_recorded)
        key = next((rdd for index, rdd in enumerate(rdds) if _is_usable(recorded.get(rdd), index)), None)
        if key is None:
            return None
        if not recorded[key].is_checkpoint:
            return RddOrigin(self._relation(recorded[key].df))
        self._checkpoints = {rdd: found for rdd, found in self._checkpoints.items() if rdd in recorded}
        # oldest first: otherwise a loop that checkpoints in each round would be traced in one deep recursion
        for older in (*takewhile(lambda rdd: rdd != key, recorded), key):
            if recorded[older].is_checkpoint and older not in self._checkpoints:
                self._checkpoints[older] = self._relation(recorded[older].df)
        return RddOrigin(self._checkpoints[key], is_copy=True)


def _is_usable(recorded: _Recorded | None, index: int) -> bool:
    return recorded is not None and not (index and recorded.is_checkpoint)
