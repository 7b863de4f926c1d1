"""`colline.lineage`: the lineage of a DataFrame or of SQL text, from its analyzed plan, without running it.

Also holds what tracing keeps for an application between queries: its names, masking functions and memory.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from colline.capture import listener
from colline.capture.connect.connect_lineage import analyzed_connect_plan
from colline.capture.connect.connect_session import classic_session, is_connect
from colline.capture.rdd_lineage import SessionMemory, forget_rdds, record_rdds
from colline.capture.session_names import name_context
from colline.capture.udf_masking import is_masking_udf
from colline.config.plugin_loader import load_rules
from colline.environment.extras import require_package
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

# application id → its tracing context; only the current application's is kept
_contexts: dict[str, Context] = {}


class QueryError(CollineError):
    """SQL text that Spark cannot parse or resolve. The message is Spark's own."""


def lineage(df_or_sql: DataFrame | str, spark: SparkSession | None = None) -> ColumnLineage:
    """The source columns that each output column depends on, and how. Analyzes the query and never runs it."""
    require_package("pyspark")
    session = spark or _session_of(df_or_sql)
    driver = driver_session(session)
    return trace_lineage(read_plan(df_or_sql, session), application_context(driver))


def driver_session(spark: SparkSession) -> SparkSession:
    """The session with a JVM: of a Connect session whose server runs in this process, the classic session below it."""
    return (classic_session(spark) if is_connect(spark) else None) or spark


def read_plan(df_or_sql: DataFrame | str, spark: SparkSession) -> Plan:
    """The decoded analyzed plan of a DataFrame or of SQL text."""
    return decode(listener.plan_json(driver_session(spark), analyzed_plan(df_or_sql, spark)))


def analyzed_plan(df_or_sql: DataFrame | str, spark: SparkSession) -> Any:
    """Spark's analyzed plan (a Java object) of a DataFrame, or of a statement, which is not executed."""
    from pyspark.errors import PySparkException

    driver = driver_session(spark)
    listener.java_classes(driver)
    try:
        with without_error_logs():
            if driver is not spark:
                return analyzed_connect_plan(df_or_sql, spark, driver)
            return _analyzed_classic_plan(df_or_sql, spark)
    except PySparkException as error:
        raise _query_error(error) from None


def query_error_loggers() -> list[logging.Logger]:
    """PySpark 4 logs errors of queries with these. PySpark makes them: it passes arguments that others refuse."""
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:  # PySpark 3.5 does not log them
        return []
    return [PySparkLogger.getLogger(name) for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger")]


@contextmanager
def without_error_logs() -> Iterator[None]:
    """PySpark logs the error of a query with its whole Java trace before it raises it."""
    loggers = query_error_loggers()
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        yield
    finally:
        for logger, was_disabled in zip(loggers, before, strict=True):
            logger.disabled = was_disabled


def _analyzed_classic_plan(df_or_sql: DataFrame | str, spark: SparkSession) -> Any:
    if not isinstance(df_or_sql, str):
        return df_or_sql._jdf.queryExecution().analyzed()
    state = spark._jsparkSession.sessionState()
    parsed = state.sqlParser().parsePlan(df_or_sql)
    skip = spark._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    return state.executePlan(parsed, skip).analyzed()


def application_context(
    spark: SparkSession, names: NameContext | None = None, masking: tuple[str, ...] = ()
) -> Context:
    """The tracing context of the session's application. Created on first use, and again when `names` are given."""
    key = spark.sparkContext.applicationId
    if key not in _contexts or names is not None:
        if key not in _contexts:
            forget_rdds()
        _contexts.clear()
        memory = SessionMemory(lambda df: _trace_dataframe(df, _contexts[key]))
        _contexts[key] = tracing_context(names or name_context(spark), masking, memory)
        record_rdds()
    return _contexts[key]


def tracing_context(names: NameContext, masking: tuple[str, ...] = (), memory: QueryMemory | None = None) -> Context:
    """What tracing needs to know about a session: how datasets are named, which functions mask, earlier queries."""

    def name(source: Source) -> DatasetName:
        return identify(source, names).name

    load_rules()

    def scan_inputs(source: Source) -> ScanInputs | None:
        return find_scan_inputs(source, names)

    masking_functions = frozenset(function.lower() for function in masking)
    return Context(name, is_masking_udf, masking_functions, memory or NoMemory(), scan_inputs)


def plan_analyzer(context: Context) -> Callable[[Mapping[str, Any]], Statement]:
    """A function that returns what the plan of a message reads and writes."""

    def analyze(plan: Mapping[str, Any]) -> Statement:
        return statement(decode(plan), context)

    return analyze


def _trace_dataframe(df: DataFrame, context: Context) -> Relation:
    trace = Trace(context)
    relation = trace(read_plan(df, df.sparkSession).root)
    context.memory.remember(relation, trace.findings.inputs.values())
    return relation


def _query_error(error: PySparkException) -> QueryError:
    """Spark's own message, and a hint."""
    text = spark_message(error)
    condition = _error_condition(error)
    if condition.startswith(("TABLE_OR_VIEW_NOT_FOUND", "UNRESOLVED_COLUMN")):
        return QueryError(text, hint="create the table in this session first, or correct the name")
    return QueryError(text, hint="correct the SQL text")


def spark_message(error: PySparkException) -> str:
    """Spark's own message, without the plan or Java's trace below it."""
    return re.split(r"\n'|\n\s*JVM stacktrace:|\n\s+at ", str(error).strip())[0].strip()


def _error_condition(error: PySparkException) -> str:
    """Spark's name of the error, such as `UNRESOLVED_COLUMN.WITH_SUGGESTION`; Spark 3.5 calls it error class."""
    read = error.getCondition if hasattr(error, "getCondition") else error.getErrorClass
    return read() or ""


def _session_of(df_or_sql: DataFrame | str) -> SparkSession:
    if not isinstance(df_or_sql, str):
        return df_or_sql.sparkSession
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None:
        raise CollineError("no Spark session is active", hint="pass one: colline.lineage(sql, spark=spark)")
    return active
