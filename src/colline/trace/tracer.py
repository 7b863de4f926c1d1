"""The walk: every operator is traced once, children first, by the rule for its kind. No recursion over depth."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from colline.plan.node import Node
from colline.plan.source import Source
from colline.trace import rule_registry
from colline.trace.checkpoints import NoMemory, QueryMemory
from colline.trace.columns import ColumnRef, DatasetName, Effect
from colline.trace.flow import Dependencies, Flow, apply_effect, column_flow, merge
from colline.trace.masking import MASKING_EXPRESSIONS, PLUGIN_MASKING_FUNCTIONS
from colline.trace.relation import Relation
from colline.trace.result import DatasetRead, OpaqueStep, SchemaField
from colline.trace.scan_inputs import ScanInputs, to_dependencies
from colline.trace.sql_text import function_name

log = logging.getLogger("colline")


@dataclass(frozen=True)
class Context:
    """What tracing needs from outside: names of datasets, extra masking functions, what earlier plans left behind.

    `masks` answers for a function that only its owner can look into, such as a Python UDF. `makeup` answers for a scan
    that is more than one dataset: several folders, several topics, a query that another database runs.
    """

    name: Callable[[Source], DatasetName]
    is_masking_udf: Callable[[Node], bool] = lambda _: False
    masking_functions: frozenset[str] = frozenset()
    memory: QueryMemory = field(default_factory=NoMemory)
    scan_inputs: Callable[[Source], ScanInputs | None] = lambda _: None


@dataclass
class Findings:
    """What a walk comes across besides columns: the datasets it reads and the steps it cannot see into."""

    inputs: dict[DatasetName, DatasetRead] = field(default_factory=dict)
    opaque: dict[OpaqueStep, None] = field(default_factory=dict)


class Trace:
    """One walk over one plan. A rule calls it with a child to get that child's relation."""

    def __init__(self, context: Context, findings: Findings | None = None, outer: Scope | None = None) -> None:
        self.context = context
        self.findings = findings if findings is not None else Findings()
        self.outer = outer
        self.shared_relations: dict[str, Relation] = {}
        self._relations: dict[int, Relation] = {}

    def __call__(self, root: Node) -> Relation:
        """The relation of an operator; each operator below it is traced once."""
        stack = [root]
        while stack:
            node = stack[-1]
            if node.index in self._relations:
                stack.pop()
                continue
            pending = [child for child in _traced_first(node) if child.index not in self._relations]
            if pending:
                stack.extend(reversed(pending))
            else:
                self._relations[stack.pop().index] = self._apply(node)
        return self._relations[root.index]

    def _apply(self, node: Node) -> Relation:
        rule = rule_registry.operator.find(node.kind)
        if rule is None:
            return self.opaque(node, why=f"no rule for {node.kind}")
        try:
            return rule(node, self)
        except Exception as error:  # noqa: BLE001  a broken rule must not take the lineage of the other steps with it
            log.warning("the rule for %s failed, its step is opaque: %r", node.kind, error)
            return self.opaque(node, why=f"the rule for {node.kind} failed: {error}")

    def scope(self, *relations: Relation) -> Scope:
        """Where expressions over these relations are evaluated."""
        if len(relations) == 1:
            return Scope(self, relations[0].columns)
        columns: dict[str, Flow] = {}
        for relation in relations:
            columns.update(relation.columns)
        return Scope(self, columns)

    def for_subquery(self, outer: Scope) -> Trace:
        """A walk of a sub-query, which may refer to columns of `outer`."""
        trace = Trace(self.context, self.findings, outer)
        trace.shared_relations = self.shared_relations
        return trace

    def restart(self) -> Trace:
        """A walk that remembers no operator, for a step that is traced until nothing changes."""
        trace = Trace(self.context, self.findings, self.outer)
        trace.shared_relations = dict(self.shared_relations)
        return trace

    def scan(self, source: Source, attributes: Iterable[Node]) -> Relation:
        """The columns of a dataset, and the dataset among the inputs."""
        output = tuple(attributes)
        scan_inputs = self.context.scan_inputs(source)
        if scan_inputs is not None:
            return self._scan_parts(scan_inputs, source, output)
        name = self.context.name(source)
        self.add_input(DatasetRead(name, source, schema_of(output)))
        columns = {a.text("id"): column_flow(ColumnRef(name, a.text("name"))) for a in output}
        return Relation(columns, tuple(columns))

    def _scan_parts(self, scan_inputs: ScanInputs, source: Source, attributes: tuple[Node, ...]) -> Relation:
        """`spark.read.parquet("/a", "/b")` → x from /a.x and /b.x"""
        for name in scan_inputs.datasets:
            schema = schema_of(attributes) if name in scan_inputs.default_datasets else ()
            self.add_input(DatasetRead(name, source, schema))
        columns = {a.text("id"): scan_inputs.flow(a.text("name")) for a in attributes}
        return Relation(columns, tuple(columns), to_dependencies(scan_inputs.row_effects))

    def add_input(self, dataset: DatasetRead) -> None:
        """Note an input; the widest schema of it is kept."""
        known = self.findings.inputs.get(dataset.name)
        if known is None or len(known.schema) < len(dataset.schema):
            self.findings.inputs[dataset.name] = dataset

    def opaque(self, node: Node, *, why: str = "", function: str = "") -> Relation:
        """Every output column needs every column that goes in; the step is noted.

        `df.mapInPandas(clean, "x int")` → x from every column of df
        """
        step = OpaqueStep(node.kind, function, why)
        if step not in self.findings.opaque:
            self.findings.opaque[step] = None
            log.info("opaque step %s %s: %s", node.kind, function, why)
        children = [self(child) for child in node.children]
        dependencies = apply_effect(merge(child.all_dependencies for child in children), Effect.TRANSFORMATION)
        flow = Flow(dependencies, text=function or node.kind, description=f"{function or node.kind}(…)")
        given = tuple(a.text("id") for a in node.nodes("output"))
        return Relation(dict.fromkeys(given, flow), given, merge(child.row_dependencies for child in children))


class Scope:
    """The columns that an operator's expressions can see. Called with an expression, it gives its flow."""

    def __init__(self, trace: Trace, columns: Mapping[str, Flow]) -> None:
        self.trace = trace
        self.columns = columns
        self.common_expressions: dict[str, Flow] = {}
        self._flows: dict[int, Flow] = {}

    @property
    def outer(self) -> Scope | None:
        """The scope around the sub-query this one is in."""
        return self.trace.outer

    def __call__(self, root: Node) -> Flow:
        """The flow of an expression; inner expressions come first, so depth costs no recursion."""
        known = self._flows.get(root.index)
        if known is not None:
            return known
        stack = [root]
        while stack:
            node = stack[-1]
            pending = [inner for inner in _evaluated_first(node) if inner.index not in self._flows]
            if pending:
                stack.extend(reversed(pending))
            else:
                self._flows[stack.pop().index] = self._apply(node)
        return self._flows[root.index]

    def _apply(self, node: Node) -> Flow:
        rule = rule_registry.expression.find(node.kind) or rule_registry.expression.rules["*"]
        try:
            flow = rule(node, self)
        except Exception as error:  # noqa: BLE001  a broken rule must not take the lineage of the other columns with it
            log.warning("the rule for %s failed, its arguments are taken as they are: %r", node.kind, error)
            self.trace.findings.opaque[OpaqueStep(node.kind, "", f"the rule for {node.kind} failed: {error}")] = None
            flow = rule_registry.expression.rules["*"](node, self)
        if self.is_masking(node):
            return replace(
                flow,
                dependencies=apply_effect(flow.dependencies, Effect.IDENTITY, masking=True),
                members=None,
                column=None,
            )
        return flow

    def is_masking(self, node: Node) -> bool:
        """Whether this function hides its arguments."""
        context = self.trace.context
        name = function_name(node).lower()
        if node.kind in MASKING_EXPRESSIONS or name in context.masking_functions or name in PLUGIN_MASKING_FUNCTIONS:
            return True
        return node.kind in _USER_DEFINED_FUNCTIONS and context.is_masking_udf(node)

    def dependencies(self, expressions: Iterable[Node], effect: Effect, *, text: str = "") -> Dependencies:
        """What reaches any of `expressions`, through one more step; each described by itself unless `text` is given."""
        flows = [(self(node), node) for node in expressions]
        return merge(apply_effect(flow.dependencies, effect, text=text or flow.text) for flow, _ in flows)


# functions whose own code has to be looked at to know whether they mask
_USER_DEFINED_FUNCTIONS = frozenset(
    {"PythonUDF", "PythonUDAF", "ScalaUDF", "ScalaAggregator", "PythonUDTF", "HiveSimpleUDF", "HiveGenericUDF"}
)


def _traced_first(node: Node) -> tuple[Node, ...]:
    """The operators to trace before `node`: its children, common tables ahead of the query that uses them."""
    if node.kind == "WithCTE":
        return (*node.nodes("cteDefs"), node.node("plan"))
    if node.kind == "UnionLoop":
        return (node.node("anchor"),)
    return node.children


def _evaluated_first(node: Node) -> tuple[Node, ...]:
    """The expressions that must be evaluated before `node`; a definition ahead of what refers to it."""
    return (*node.nodes("defs"), *node.expressions) if node.kind == "With" else node.expressions


def schema_of(attributes: Iterable[Node]) -> tuple[SchemaField, ...]:
    """Names and types of attributes."""
    return tuple(SchemaField(a.text("name"), a.text("type")) for a in attributes)
