"""Analyzes the queries of a Spark Connect session whose server runs in this process, with the server's own planner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from colline.capture.connect.connect_session import session_holder
from colline.errors import CollineError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# the limit of Spark's Connect server (spark.connect.grpc.marshallerRecursionLimit)
RECURSION_LIMIT = 1024


def analyzed_connect_plan(df_or_sql: DataFrame | str, spark: SparkSession, classic: SparkSession) -> Any:
    """The analyzed plan (Java) of a Connect DataFrame or of SQL text, with the session's temporary views."""
    jvm: Any = classic._jvm
    holder = session_holder(jvm, spark.client)
    if holder is None:
        raise CollineError("the session has been stopped", hint="create a new session")
    state = holder.session().sessionState()
    if isinstance(df_or_sql, str):
        plan = state.sqlParser().parsePlan(df_or_sql)
    else:
        relation = df_or_sql._plan.plan(spark.client).SerializeToString()
        plan = planner_for(holder, classic).transformRelation(parse_message(jvm, "Relation", relation))
    return state.executePlan(plan, jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()).analyzed()


def planner_for(holder: Any, classic: SparkSession) -> Any:
    """The planner (Java) of a server's session, which turns messages of the protocol into Spark's plans."""
    jvm: Any = classic._jvm
    create = jvm.org.apache.spark.sql.connect.planner.SparkConnectPlanner
    return create(holder) if classic.version.startswith("3.") else create(holder, jvm.scala.Option.empty())


def parse_message(jvm: Any, name: str, content: bytes) -> Any:
    """A message of the protocol (Java) from its bytes; `name` is its type, such as `Relation`."""
    stream = jvm.org.sparkproject.connect.protobuf.CodedInputStream.newInstance(bytearray(content))
    stream.setRecursionLimit(RECURSION_LIMIT)
    return getattr(jvm.org.apache.spark.connect.proto, name).parseFrom(stream)
