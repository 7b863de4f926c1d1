"""The JVM's side of capture: compile the tap inside the session's own JVM and read what it says.

Messages are JSON objects:

- `{"kind": "start" | "end", "id", "time", "text", "tags", "plan", "metrics", "own"}`, one pair per execution. `text` is
  the description at the start and the error at the end (absent when it succeeded). `plan` comes with the start or, when
  the query was over before the listener heard of it, with the end; `sql` comes with it where the query was SQL text.
  `own` marks Delta's reading of its own log, and a look at the rows that a command left. A job on an RDD made from a
  query is told like an execution; its id is negative.
- `{"kind": "nested", "id", "root", "plan"}`: a command that a stream's `foreachBatch` ran inside the batch `root`. The
  batches of a stream are executions too; the text of their start says which run of which stream they belong to.
- `{"kind": "stream_start" | "stream_progress" | "stream_end", "run", …}` for streams.
- `{"kind": "application_end"}` when the application ends.
"""

from __future__ import annotations

import base64
import zlib
from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec
from py4j.protocol import Py4JError

from colline.capture.rdd_lineage import hush_rdds, tell_rdds
from colline.errors import CollineError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CAPACITY = 10_000
PLAN_LIMIT = 48_000_000
# each sees those before it
_SOURCES = ("JsonText", "Reflect", "Metrics", "Chunks", "Values", "PlanObjects", "PlanWriter", "Rdds", "QueryListener")
_compiled: dict[int, dict[str, Any]] = {}


class NoJvmError(CollineError):
    """A session without a JVM in this process (Spark Connect), which cannot be tapped."""


def classes(spark: SparkSession) -> dict[str, Any]:
    """The tap's classes, compiled once in each JVM by the compiler that every Spark carries."""
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:
        raise NoJvmError(
            "this session has no JVM to tap", hint="Spark Connect is not supported; attach in the driver's own process"
        )
    if id(jvm) not in _compiled:
        _compiled.clear()
        _compiled[id(jvm)] = _compile(jvm)
    return _compiled[id(jvm)]


def _compile(jvm: Any) -> dict[str, Any]:
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    # py4j remembers methods by class name, and a JVM may outlive or serve more than one of us: each has its own package
    package = f"colline.t{uuid4().hex}"
    found = {}
    for name in _SOURCES:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(loader)
        source = files(__package__).joinpath("jvm").joinpath(f"{name}.java").read_text(encoding="utf-8")
        compiler.cook(source.replace("package colline;", f"package {package};", 1))
        loader = compiler.getClassLoader()
        found[name] = loader.loadClass(f"{package}.{name}")
    found["jvm"] = jvm
    found["describer"] = found["PlanWriter"].getConstructor(None).newInstance(None)
    return found


def describe(spark: SparkSession, plan: Any) -> dict[str, Any]:
    """The flat JSON of one analyzed plan."""
    message = _unpack(classes(spark)["describer"].describe(plan, PLAN_LIMIT))
    if "failure" in message:
        raise CollineError(f"the plan could not be read: {message['failure']}", hint="please report this query")
    plan_json: dict[str, Any] = message["plan"]
    return plan_json


class Tap:
    """One listener in one Spark application, and the queue of what it heard."""

    def __init__(self, spark: SparkSession) -> None:
        found = classes(spark)
        jvm = found["jvm"]
        arguments = _array(spark, jvm.java.lang.Integer.valueOf(CAPACITY), jvm.java.lang.Integer.valueOf(PLAN_LIMIT))
        gateway = spark.sparkContext._gateway
        assert gateway is not None
        self._client = gateway._gateway_client
        self._context = spark._jsc.sc()
        self._tap = found["QueryListener"].getConstructors()[0].newInstance(arguments)
        self._tap.start()
        self._context.addSparkListener(self._tap)
        tell_rdds(self.note)

    def note(self, rdd: int, df: DataFrame) -> None:
        """From now on a job on this RDD reads what the DataFrame reads."""
        self._tap.note(rdd, df._jdf.queryExecution())

    def poll(self, milliseconds: int) -> dict[str, Any] | None:
        """The next message, or None when nothing was heard in that time."""
        first = self._tap.poll(milliseconds)
        return None if first is None else _unpack(self._tap, first)

    def is_settled(self, handled: int) -> bool:
        """Whether everything heard so far has become a message, and `handled` messages are all of them."""
        counters = self.stats()
        return counters["accepted"] - counters["discarded"] == handled

    def wait_for_spark(self, milliseconds: int) -> bool:
        """True when Spark has told its listeners everything that happened before this call."""
        try:
            self._context.listenerBus().waitUntilEmpty(max(milliseconds, 1))
        except Py4JError:  # TimeoutException, or a bus that was stopped meanwhile
            return False
        return True

    def stats(self) -> dict[str, int]:
        """Counters of the JVM's side."""
        counters: dict[str, int] = msgspec.json.decode(self._tap.stats())
        return counters

    def let_go(self) -> None:
        """Close this thread's own connection to the JVM now.

        py4j would do it while the thread dies, and its log line would then register a thread that is no more.
        """
        mine = getattr(self._client, "thread_connection", None)
        for name in ("_cleaner", "connection"):
            with suppress(AttributeError):
                delattr(mine, name)

    def close(self) -> None:
        """Stop listening; the tap's thread ends."""
        hush_rdds(self.note)
        self._context.removeSparkListener(self._tap)
        self._tap.close()


def _unpack(reply: Any, first: str | None = None) -> dict[str, Any]:
    pieces = [first if first is not None else reply.more()]
    while pieces[-1][0] == "+":
        pieces.append(reply.more())
    packed = "".join(piece[1:] for piece in pieces)
    message: dict[str, Any] = msgspec.json.decode(zlib.decompress(base64.b64decode(packed)))
    return message


def _array(spark: SparkSession, *items: Any) -> Any:
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    array = gateway.new_array(gateway.jvm.java.lang.Object, len(items))
    for place, item in enumerate(items):
        array[place] = item
    return array
