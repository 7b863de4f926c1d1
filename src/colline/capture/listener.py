"""Installs the Java query listener in the session's JVM and reads its messages.

Messages are JSON objects:

- `{"kind": "start" | "end", "id", "time", "text", "tags", "plan", "sql", "metrics", "own"}`, a pair for each SQL
  execution. `text` is the description at the start and the error at the end, absent if it succeeded. `plan` comes with
  the start; it comes with the end if Spark had already dropped the query when the listener received the start. `sql`
  is present if the query was SQL text. `own` marks a query that is not the user's: Delta reading its own log, or
  Spark showing the rows that a command returned. A job on an RDD made from a query is sent like an execution, with a
  negative id.
- `{"kind": "nested", "id", "root", "plan"}`: a command that a stream's `foreachBatch` ran inside the batch `root`.
  Batches of a stream are executions; the text of their start contains the run id of the stream.
- `{"kind": "stream_start" | "stream_progress" | "stream_end", "run", …}` for streams.
- `{"kind": "application_end"}` when the application ends.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable
from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from colline.capture.rdd_lineage import subscribe_rdds, unsubscribe_rdds
from colline.errors import CollineError

if TYPE_CHECKING:
    from importlib.abc import Traversable

    from pyspark.sql import DataFrame, SparkSession

QUEUE_CAPACITY = 10_000
MAX_PLAN_CHARS = 48_000_000
# in the order of compilation: each class uses the ones before it
_SOURCES = (
    "JsonText",
    "Reflect",
    "Metrics",
    "Chunks",
    "Values",
    "DeltaTables",
    "ExistingTables",
    "PlanObjects",
    "Rdds",
    "PlanWriter",
    "QueryListener",
)
_compiled: dict[int, dict[str, Any]] = {}


class NoJvmError(CollineError):
    """The session has no JVM in this process (Spark Connect), so that no listener can be installed."""


def java_classes(spark: SparkSession) -> dict[str, Any]:
    """The listener's Java classes by name, compiled once per JVM with Janino, which every Spark includes."""
    jvm = getattr(spark, "_jvm", None)
    if jvm is None:
        raise NoJvmError(
            "this session has no JVM in this process",
            hint="the Spark Connect server is another process; attach in that process",
        )
    if id(jvm) not in _compiled:
        _compiled.clear()
        _compiled[id(jvm)] = _compile(jvm)
    return _compiled[id(jvm)]


def _compile(jvm: Any) -> dict[str, Any]:
    compiled = compile_java(jvm, files(__package__).joinpath("jvm"), _SOURCES)
    compiled["jvm"] = jvm
    compiled["plan_writer"] = compiled["PlanWriter"].getConstructor(None).newInstance(None)
    return compiled


def compile_java(jvm: Any, folder: Traversable, names: Iterable[str]) -> dict[str, Any]:
    """The classes of these sources by name, compiled in the JVM. Each source can use the ones before it."""
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    # py4j caches methods by class name, and a JVM can serve several Python processes: each one uses its own package
    package = f"colline.t{uuid4().hex}"
    compiled = {}
    for name in names:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(loader)
        source = folder.joinpath(f"{name}.java").read_text(encoding="utf-8")
        compiler.cook(source.replace("package colline;", f"package {package};", 1))
        loader = compiler.getClassLoader()
        compiled[name] = loader.loadClass(f"{package}.{name}")
    return compiled


def plan_json(spark: SparkSession, plan: Any) -> dict[str, Any]:
    """The flat JSON of an analyzed plan."""
    message = _read_message(java_classes(spark)["plan_writer"].describe(plan, MAX_PLAN_CHARS))
    if "failure" in message:
        raise CollineError(f"the plan could not be read: {message['failure']}", hint="please report this query")
    found: dict[str, Any] = message["plan"]
    return found


class QueryListener:
    """The Java listener of one Spark application, and the queue of its messages."""

    def __init__(self, spark: SparkSession) -> None:
        classes = java_classes(spark)
        integer = classes["jvm"].java.lang.Integer
        arguments = _java_array(spark, integer.valueOf(QUEUE_CAPACITY), integer.valueOf(MAX_PLAN_CHARS))
        gateway = spark.sparkContext._gateway
        assert gateway is not None
        self._client = gateway._gateway_client
        self._context = spark._jsc.sc()
        self._java = classes["QueryListener"].getConstructors()[0].newInstance(arguments)
        self._java.start()
        self._context.addSparkListener(self._java)
        subscribe_rdds(self.add_rdd)

    def add_rdd(self, rdd: int, df: DataFrame) -> None:
        """Report jobs on this RDD as reads of the DataFrame's inputs."""
        self._java.addRdd(rdd, df._jdf.queryExecution())

    def poll(self, milliseconds: int) -> dict[str, Any] | None:
        """The next message, or None after that time."""
        first = self._java.poll(milliseconds)
        return None if first is None else _read_message(self._java, first)

    def is_drained(self, handled: int) -> bool:
        """Whether the `handled` messages are all messages so far, with no event still waiting to become one."""
        counters = self.stats()
        return counters["accepted"] - counters["discarded"] == handled

    def wait_for_spark(self, milliseconds: int) -> bool:
        """True when Spark has delivered all events before this call to its listeners."""
        from py4j.protocol import Py4JError

        try:
            self._context.listenerBus().waitUntilEmpty(max(milliseconds, 1))
        except Py4JError:  # a TimeoutException, or the bus has been stopped
            return False
        return True

    def limit_analysis(self, seconds: float) -> None:
        """Nothing to do: messages are complete as soon as Spark sends them."""

    def stats(self) -> dict[str, int]:
        """The counters of the Java listener."""
        counters: dict[str, int] = msgspec.json.decode(self._java.stats())
        return counters

    def release_thread(self) -> None:
        """Close the calling thread's connection to the JVM.

        Otherwise py4j closes it while the thread ends, and its log line registers a thread that no longer exists.
        """
        connection = getattr(self._client, "thread_connection", None)
        for name in ("_cleaner", "connection"):
            with suppress(AttributeError):
                delattr(connection, name)

    def close(self) -> None:
        """Remove the listener from Spark and end its thread."""
        unsubscribe_rdds(self.add_rdd)
        self._context.removeSparkListener(self._java)
        self._java.close()


def _read_message(reply: Any, first: str | None = None) -> dict[str, Any]:
    chunks = [first if first is not None else reply.nextChunk()]
    while chunks[-1][0] == "+":
        chunks.append(reply.nextChunk())
    packed = "".join(chunk[1:] for chunk in chunks)
    message: dict[str, Any] = msgspec.json.decode(zlib.decompress(base64.b64decode(packed)))
    return message


def _java_array(spark: SparkSession, *items: Any) -> Any:
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    array = gateway.new_array(gateway.jvm.java.lang.Object, len(items))
    for index, item in enumerate(items):
        array[index] = item
    return array
