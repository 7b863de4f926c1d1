"""`colline.lineage`: the lineage of a DataFrame or of SQL text, from its analyzed plan, without running it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from colline.capture import listener
from colline.capture.rdd_lineage import Origins, forget_rdds, watch_rdds
from colline.capture.session_names import name_context
from colline.capture.udf_masking import is_masking_udf
from colline.config.plugin_loader import load_rules
from colline.errors import CollineError
from colline.naming.dataset import NameContext
from colline.naming.rules import identify
from colline.naming.scan_datasets import find_scan_inputs
from colline.plan.decode import Plan, decode
from colline.plan.source import Source
from colline.trace import ColumnLineage, Context, DatasetName, Statement, statement
from colline.trace import lineage as trace_lineage
from colline.trace.checkpoints import NoMemory, QueryMemory
from colline.trace.relation import Relation
from colline.trace.scan_inputs import ScanInputs
from colline.trace.tracer import Trace

if TYPE_CHECKING:
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession


_contexts: dict[str, Context] = {}


class QueryError(CollineError):
    """SQL text that Spark cannot parse or resolve. The message is Spark's own."""


def lineage(df_or_sql: DataFrame | str, spark: SparkSession | None = None) -> ColumnLineage:
    """Which source columns each output column depends on, and how. Analyses the query, never runs it."""
    session = spark or _session(df_or_sql)
    return trace_lineage(plan_of(df_or_sql, session), context_of(session))


def plan_of(df_or_sql: DataFrame | str, spark: SparkSession) -> Plan:
    """The analyzed plan of a DataFrame, or of a statement that is analyzed and not executed."""
    return decode(listener.describe(spark, _analyzed(df_or_sql, spark)))


def context_of(spark: SparkSession, names: NameContext | None = None, masking: tuple[str, ...] = ()) -> Context:
    """What tracing needs to know of the session's application, made once: names, masking functions, its memory."""
    key = spark.sparkContext.applicationId
    if key not in _contexts or names is not None:
        if key not in _contexts:
            forget_rdds()
        _contexts.clear()
        memory = Origins(lambda df: _relation(df, _contexts[key]))
        _contexts[key] = context_for(names or name_context(spark), masking, memory)
        watch_rdds()
    return _contexts[key]


def _relation(df: DataFrame, context: Context) -> Relation:
    trace = Trace(context)
    found = trace(plan_of(df, df.sparkSession).root)
    context.memory.remember(found, trace.findings.inputs.values())
    return found


def _analyzed(df_or_sql: DataFrame | str, spark: SparkSession) -> Any:
    if not isinstance(df_or_sql, str):
        return df_or_sql._jdf.queryExecution().analyzed()
    from pyspark.errors import PySparkException

    listener.classes(spark)
    state = spark._jsparkSession.sessionState()
    try:
        parsed = state.sqlParser().parsePlan(df_or_sql)
        skip = spark._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
        return state.executePlan(parsed, skip).analyzed()
    except PySparkException as error:
        raise _translated(error) from None


def _translated(error: PySparkException) -> QueryError:
    """Spark's own message without its plan, and what to do about it."""
    text = str(error).strip().split("\n'")[0]
    if "TABLE_OR_VIEW_NOT_FOUND" in text or "UNRESOLVED_COLUMN" in text:
        return QueryError(text, hint="create the table in this session first, or correct the name")
    return QueryError(text, hint="correct the SQL text")


def _session(df_or_sql: DataFrame | str) -> SparkSession:
    if not isinstance(df_or_sql, str):
        return df_or_sql.sparkSession
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None:
        raise CollineError("no Spark session is active", hint="pass one: colline.lineage(sql, spark=spark)")
    return active


def context_for(names: NameContext, masking: tuple[str, ...] = (), memory: QueryMemory | None = None) -> Context:
    """What tracing needs to know of a session."""

    def name(source: Source) -> DatasetName:
        return identify(source, names).name

    load_rules()

    def scan_inputs(source: Source) -> ScanInputs | None:
        return find_scan_inputs(source, names)

    hiding = frozenset(word.lower() for word in masking)
    return Context(name, is_masking_udf, hiding, memory or NoMemory(), scan_inputs)


def analyser(context: Context) -> Callable[[Mapping[str, Any]], Statement]:
    """The function that turns a plan's JSON into what it reads and writes."""

    def analyse(plan: Mapping[str, Any]) -> Statement:
        return statement(decode(plan), context)

    return analyse
