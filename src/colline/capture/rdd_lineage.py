"""Remembers which DataFrame an RDD or checkpoint was made from.

The plan of `df.rdd` or `df.checkpoint()` starts at the RDD and no longer contains the query. So PySpark's methods are
wrapped, and the DataFrame is recorded when they are called.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from colline.terminal_text import get_logger
from colline.trace.checkpoints import RddGraph, RddOrigin, RecentQueries, transposed_key
from colline.trace.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = get_logger("colline")

RddSubscriber = Callable[[int, "DataFrame"], None]

_MAX_RDDS = 200
_OUTPUT_PROPERTY = "colline.rdd.output"
_OUTPUT_KEYS = ("mapreduce.output.fileoutputformat.outputdir", "mapred.output.dir")
RDD_WRITES = (
    "saveAsTextFile",
    "saveAsPickleFile",
    "saveAsSequenceFile",
    "saveAsHadoopFile",
    "saveAsHadoopDataset",
    "saveAsNewAPIHadoopFile",
    "saveAsNewAPIHadoopDataset",
)


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
    from pyspark import RDD

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
    if "transpose" in vars(Frame):  # since Spark 4.0
        Frame.transpose = _recording_transpose(vars(Frame)["transpose"])
    for name in RDD_WRITES:
        setattr(RDD, name, _announcing_output(vars(RDD)[name]))


def _recording_transpose(original: Callable[..., DataFrame]) -> Callable[..., DataFrame]:
    """`df.transpose()`, whose plan has the rows of df as data."""

    @wraps(original)
    def transpose(self: DataFrame, *arguments: Any, **named: Any) -> DataFrame:
        copy = original(self, *arguments, **named)
        _record(self, lambda: transposed_key(copy._jdf.queryExecution().analyzed().output().head().exprId().id()))
        return copy

    return transpose


def _announcing_output(write: Callable[..., None]) -> Callable[..., None]:
    """The method of an RDD, which passes the path that it writes to the listener as a local property."""

    @wraps(write)
    def announce(self: Any, *arguments: Any, **named: Any) -> None:
        given = arguments[0] if arguments else named.get("path", named.get("conf"))
        path = next((given[key] for key in _OUTPUT_KEYS if key in given), None) if isinstance(given, dict) else given
        before = self.context.getLocalProperty(_OUTPUT_PROPERTY)
        try:
            self.context.setLocalProperty(_OUTPUT_PROPERTY, before or (str(path) if path else None))
            write(self, *arguments, **named)
        finally:
            self.context.setLocalProperty(_OUTPUT_PROPERTY, before)

    return announce


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


def _record(df: DataFrame, rdd_id: Callable[[], int | str], *, is_checkpoint: bool = False) -> None:
    try:
        key = rdd_id()
        with _lock:
            _recorded[str(key)] = _Recorded(df, is_checkpoint)
            while len(_recorded) > _MAX_RDDS:
                _recorded.popitem(last=False)
            subscribers = [*_subscribers]
        if not isinstance(key, int) or is_checkpoint:
            return
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

    def origin(self, graph: RddGraph) -> RddOrigin:
        """The queries and files that an RDD was made from. Only the first RDD can be a checkpoint of its rows."""
        with _lock:
            recorded = dict(_recorded)
        if graph.root in recorded and recorded[graph.root].is_checkpoint:
            return self._checkpoint_origin(graph.root, recorded)
        keys, files = graph.find_origins(lambda rdd: rdd in recorded and not recorded[rdd].is_checkpoint)
        if not keys:
            return RddOrigin(files=files)
        return RddOrigin(Relation.side_by_side(self._relation(recorded[key].df) for key in keys), files)

    def _checkpoint_origin(self, key: str, recorded: Mapping[str, _Recorded]) -> RddOrigin:
        self._checkpoints = {rdd: found for rdd, found in self._checkpoints.items() if rdd in recorded}
        # oldest first: otherwise a loop that checkpoints in each round would be traced in one deep recursion
        for older in (*takewhile(lambda rdd: rdd != key, recorded), key):
            if recorded[older].is_checkpoint and older not in self._checkpoints:
                self._checkpoints[older] = self._relation(recorded[older].df)
        return RddOrigin(self._checkpoints[key], is_copy=True)
