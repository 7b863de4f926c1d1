"""Analyzes recorded plans with Spark's own Connect planner, over stub tables.

Nothing is executed except the definitions of temporary views, functions and variables, in a session that only this plan
uses.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from colline.capture.connect.connect_lineage import parse_message, planner_for
from colline.capture.connect.proto_walk import Message, messages, modernize_sql, type_name
from colline.capture.connect.recorded_plan import ANALYSIS_CONF, RecordedPlan, ResolvedPlan, TableDescription
from colline.capture.connect.resolver.plan_rewriting import Rewriting, UnresolvablePlanError, batch_plan
from colline.capture.connect.resolver.stub_tables import StubTables
from colline.capture.hadoop_writer import error_line
from colline.capture.listener import plan_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# statements (Spark's parser classes) that define what later statements of the session use; they are executed
_DEFINITIONS = frozenset(
    {"CreateViewCommand", "CreateVariable", "CreateUserDefinedFunction", "CreateSQLFunctionCommand"}
)
_FUNCTION_DEFINITIONS = ("register_function", "register_table_function")
# statements that Spark executes while it analyzes them
_EXECUTED_BY_ANALYSIS = frozenset({"UnresolvedExecuteImmediate", "Call", "CompoundBody"})


class PlanResolver:
    """Analyzes plans in one Spark session of version 4.1 or later."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._jvm: Any = spark._jvm
        self._stubs = StubTables(spark)

    def resolve(self, recorded: RecordedPlan) -> ResolvedPlan:
        """The analyzed plan, or what is missing, or why it cannot be analyzed."""
        self._stubs.clear()
        try:
            analyzed = _Analysis(self._spark, self._stubs, recorded).run()
            if analyzed is None:
                return ResolvedPlan()
            return ResolvedPlan(add_locations(plan_json(self._spark, analyzed), recorded.tables))
        except UnresolvablePlanError as error:
            return ResolvedPlan(failure=error.message)
        except Exception as error:  # noqa: BLE001 - no error of one plan may prevent the next one
            return ResolvedPlan(missing=self._stubs.missing_names(), failure=error_line(error))


class _Analysis:
    """The analysis of one plan in a Spark session of its own."""

    def __init__(self, spark: SparkSession, stubs: StubTables, recorded: RecordedPlan) -> None:
        self._jvm: Any = spark._jvm
        self._recorded = recorded
        self._stubs = stubs
        self._rewriting = Rewriting(stubs.format, recorded.result_columns)
        self._session = spark._jsparkSession.newSession()
        # outside of an analysis, Spark takes the conf of the thread's active session
        self._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(self._session)
        for name, value in recorded.conf.items():
            if name.startswith(ANALYSIS_CONF):
                self._session.conf().set(name, value)
        stubs.install(recorded, self._session)
        holder = self._jvm.org.apache.spark.sql.connect.service.SessionHolder("colline", str(uuid4()), self._session)
        self._planner = planner_for(holder, spark)

    def run(self) -> Any:
        """The analyzed plan (Java); None for a command without lineage."""
        for command in self._recorded.earlier:
            self._set_namespace(command.namespace or self._recorded.namespace)
            self._define(parse_plan(command.plan))
        self._set_namespace(self._recorded.namespace)
        plan = self._logical_plan(self._rewrite(batch_plan(parse_plan(self._recorded.plan))))
        return None if plan is None else self._analyze(plan)

    def _logical_plan(self, plan: Message) -> Any:
        """The plan (Java) of a request; None if it is a command without a plan."""
        if plan.WhichOneof("op_type") == "root":
            return self._relation(plan.root)
        kind = plan.command.WhichOneof("command_type")
        if kind == "sql_command":
            self._define_references(plan.command.sql_command.input)
            return self._relation(plan.command.sql_command.input)
        if kind == "checkpoint_command":
            return self._relation(plan.command.checkpoint_command.relation)
        transformed = self._planner.transformCommand(self._java(plan.command))
        if transformed.isEmpty():
            return None
        return transformed.get().apply(self._tracker())

    def _define_references(self, relation: Message) -> None:
        """`sql("insert into t select * from {df}", df=df)`: make df a view. Spark would execute the statement."""
        if relation.WhichOneof("rel_type") != "with_relations":
            return
        for reference in relation.with_relations.references:
            command = parse_plan(b"").command
            command.create_dataframe_view.name = reference.subquery_alias.alias
            command.create_dataframe_view.input.CopyFrom(reference.subquery_alias.input)
            command.create_dataframe_view.replace = True
            self._execute(self._planner.transformCommand(self._java(command)).get().apply(self._tracker()))
        statement = type(relation)()
        statement.CopyFrom(relation.with_relations.root)
        relation.CopyFrom(statement)

    def _tracker(self) -> Any:
        return self._jvm.org.apache.spark.sql.catalyst.QueryPlanningTracker(_empty_option(self._jvm))

    def _relation(self, relation: Message) -> Any:
        return self._planner.transformRelation(self._java(relation))

    def _analyze(self, plan: Any) -> Any:
        skip = self._jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
        return self._session.sessionState().executePlan(plan, skip).analyzed()

    def _rewrite(self, plan: Message) -> Message:
        """The plan without what Spark would execute while it plans or analyzes it."""
        top = _statement(plan)
        for message in messages(plan):
            if type_name(message) == "SQL":
                self._check_sql(message.query, is_statement=message is top)
        self._rewriting.apply(plan)
        return plan

    def _check_sql(self, text: str, *, is_statement: bool) -> None:
        found = self._stubs.statement_in(self._session.sessionState().sqlParser().parsePlan(text))
        if found is not None and (found in _EXECUTED_BY_ANALYSIS or not is_statement):
            raise UnresolvablePlanError(f"the statement {found} is executed while it is analyzed")

    def _define(self, plan: Message) -> None:
        """Define a temporary view, a function or a variable of the session."""
        kind = plan.command.WhichOneof("command_type")
        if kind == "sql_command":
            self._execute_definition(self._logical_plan(self._rewrite(plan)))
        elif kind == "create_dataframe_view":
            self._execute(self._logical_plan(self._rewrite(plan)))
        elif kind in _FUNCTION_DEFINITIONS:
            self._register(plan.command)
        else:
            raise UnresolvablePlanError(f"the command {kind} does not define a view, function or variable")

    def _execute_definition(self, plan: Any) -> None:
        kind = plan.getClass().getSimpleName()
        if kind not in _DEFINITIONS:
            raise UnresolvablePlanError(f"the statement {kind} does not define a view, function or variable")
        self._execute(plan)

    def _execute(self, plan: Any) -> None:
        self._jvm.org.apache.spark.sql.classic.Dataset.ofRows(self._session, plan)

    def _register(self, command: Message) -> None:
        """Register a Python function. Spark then raises an error, because the plan has no execution to report to."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        self._rewriting.apply(command)
        try:
            self._planner.process(self._java(command), None)
        except (Py4JError, PySparkException):
            if not self._is_registered(command):
                raise

    def _is_registered(self, command: Message) -> bool:
        """Whether the session has the function that a command defines."""
        state, is_table_function = self._session.sessionState(), command.HasField("register_table_function")
        registry = state.tableFunctionRegistry() if is_table_function else state.functionRegistry()
        defined = command.register_table_function if is_table_function else command.register_function
        name = self._jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(defined.function_name)
        return bool(registry.functionExists(name))

    def _set_namespace(self, namespace: tuple[str, ...]) -> None:
        catalog, *names = namespace
        self._session.conf().set("spark.sql.defaultCatalog", catalog)
        manager = self._session.sessionState().catalogManager()
        if names:
            array = self._jvm.java.lang.reflect.Array.newInstance(
                self._jvm.java.lang.Class.forName("java.lang.String"), len(names)
            )
            for index, name in enumerate(names):
                array[index] = name
            manager.setCurrentNamespace(array)

    def _java(self, message: Message) -> Any:
        return parse_message(self._jvm, type_name(message), message.SerializeToString())


def parse_plan(content: bytes) -> Message:
    """A `spark.connect.Plan` from its bytes."""
    from pyspark.sql.connect.proto import base_pb2

    plan = base_pb2.Plan.FromString(content)
    if plan.WhichOneof("op_type") == "command" and plan.command.HasField("sql_command"):
        modernize_sql(plan.command.sql_command)
    return plan


def _statement(plan: Message) -> Message | None:
    """The SQL message that is the whole request, which may be a command; any other SQL must be a query."""
    if plan.command.WhichOneof("command_type") != "sql_command":
        return plan.root.sql if plan.root.WhichOneof("rel_type") == "sql" else None
    found = plan.command.sql_command.input
    if found.WhichOneof("rel_type") == "with_relations":
        found = found.with_relations.root
    return found.sql if found.WhichOneof("rel_type") == "sql" else None


def _empty_option(jvm: Any) -> Any:
    return jvm.scala.Option.empty()


def add_locations(plan: dict[str, Any], tables: Iterable[TableDescription]) -> dict[str, Any]:
    """The plan with the locations of tables that are named only, as in `DROP TABLE` and `CREATE OR REPLACE TABLE`."""
    locations = {tuple(part.lower() for part in table.parts): table.location for table in tables}
    kinds = {index: each for index, each in enumerate(plan["classes"]) if each[0] == "ResolvedIdentifier"}
    for node in plan["nodes"]:
        fields = kinds[node[0]][2] if node[0] in kinds else []
        if "location" not in fields:
            continue
        position, name = 1 + fields.index("location"), node[1 + fields.index("identifier")]
        if node[position] is None:
            # only names of the session catalog have a location here
            node[position] = locations.get(("spark_catalog", *(part.lower() for part in name))) or None
    return plan
