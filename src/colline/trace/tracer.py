"""Traces a plan: every operator and expression once, children first, by the rule for its kind.

Explicit stacks take the place of recursion, so that the depth of a plan is not limited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from colline.plan.node import Node
from colline.plan.source import Source
from colline.terminal_text import get_logger
from colline.trace import rule_registry
from colline.trace.checkpoints import NoMemory, QueryMemory
from colline.trace.columns import ColumnRef, DatasetName, Effect
from colline.trace.flow import Dependencies, Flow, apply_effect, clear_masking, column_flow, merge
from colline.trace.masking import DECRYPTIONS, MASKING_EXPRESSIONS, PLUGIN_MASKING_FUNCTIONS
from colline.trace.opaque_flow import opaque_relation
from colline.trace.relation import Relation
from colline.trace.result import DatasetRead, OpaqueStep, SchemaField, quoted_names, with_quoted_names
from colline.trace.scan_inputs import ScanInputs, to_dependencies
from colline.trace.sql_text import function_name

log = get_logger("colline")


@dataclass(frozen=True)
class Context:
    """What the caller provides.

    `name` names the dataset of a source. `is_masking_udf` inspects the code of a user-defined function, and
    `masking_functions` has the names of further masking functions. `memory` knows earlier queries. `scan_inputs`
    returns the datasets of a scan that has several: folders, topics, or the tables of a query that a database runs.
    """

    name: Callable[[Source], DatasetName]
    is_masking_udf: Callable[[Node], bool] = lambda _: False
    masking_functions: frozenset[str] = frozenset()
    memory: QueryMemory = field(default_factory=NoMemory)
    scan_inputs: Callable[[Source], ScanInputs | None] = lambda _: None


@dataclass
class Findings:
    """The datasets that a plan reads and its opaque steps, collected while it is traced."""

    inputs: dict[DatasetName, DatasetRead] = field(default_factory=dict)
    opaque: dict[OpaqueStep, None] = field(default_factory=dict)


class Trace:
    """Traces the operators of one plan. A rule calls it with a child to get the child's relation."""

    def __init__(self, context: Context, findings: Findings | None = None, outer: Scope | None = None) -> None:
        self.context = context
        self.findings = findings if findings is not None else Findings()
        self.outer = outer
        self.shared_relations: dict[str, Relation] = {}
        self._relations: dict[int, Relation] = {}

    def __call__(self, root: Node) -> Relation:
        """The relation of an operator."""
        stack = [root]
        while stack:
            node = stack[-1]
            if node.index in self._relations:
                stack.pop()
                continue
            pending = [child for child in _inputs_of(node) if child.index not in self._relations]
            if pending:
                stack.extend(reversed(pending))
            else:
                self._relations[stack.pop().index] = self._apply_rule(node)
        return self._relations[root.index]

    def _apply_rule(self, node: Node) -> Relation:
        rule = rule_registry.operator.find(node.kind)
        if rule is None:
            return self.opaque(node, why=f"no rule for {node.kind}")
        try:
            return rule(node, self)
        except Exception as error:  # noqa: BLE001  a failing rule must not lose the lineage of the other operators
            log.warning("the rule for %s failed, its step is opaque: %r", node.kind, error)
            return self.opaque(node, why=f"the rule for {node.kind} failed: {error}")

    def scope(self, *relations: Relation) -> Scope:
        """The scope of expressions over these relations."""
        if len(relations) == 1:
            return Scope(self, relations[0].columns)
        columns: dict[str, Flow] = {}
        for relation in relations:
            columns.update(relation.columns)
        return Scope(self, columns)

    def for_subquery(self, outer: Scope) -> Trace:
        """A trace of a subquery, which can refer to the columns of `outer`."""
        trace = Trace(self.context, self.findings, outer)
        trace.shared_relations = self.shared_relations
        return trace

    def restart(self) -> Trace:
        """A trace without the relations so far, to trace the step of a recursive CTE repeatedly."""
        trace = Trace(self.context, self.findings, self.outer)
        trace.shared_relations = dict(self.shared_relations)
        return trace

    def scan(self, source: Source, attributes: Iterable[Node]) -> Relation:
        """The relation of a scan with these columns; its dataset becomes an input."""
        output = tuple(attributes)
        scan_inputs = self.context.scan_inputs(source)
        if scan_inputs is not None:
            return self._scan_several(scan_inputs, source, output)
        name = self.context.name(source)
        schema = schema_of(output)
        quoted = quoted_names(schema)
        self.add_input(DatasetRead(name, source, with_quoted_names(schema)))
        names = [quoted.get(field.name, field.name) for field in schema]
        columns = {a.text("id"): column_flow(ColumnRef(name, field)) for a, field in zip(output, names, strict=True)}
        return Relation(columns, tuple(columns))

    def _scan_several(self, scan_inputs: ScanInputs, source: Source, attributes: tuple[Node, ...]) -> Relation:
        """`spark.read.parquet("/a", "/b")` → x from /a.x and /b.x."""
        for name in scan_inputs.datasets:
            schema = schema_of(attributes) if name in scan_inputs.default_datasets else ()
            self.add_input(DatasetRead(name, source, schema))
        columns = {a.text("id"): scan_inputs.flow(a.text("name")) for a in attributes}
        return Relation(columns, tuple(columns), to_dependencies(scan_inputs.row_effects))

    def add_input(self, dataset: DatasetRead) -> None:
        """Add an input of the plan. If it is read several times, the widest schema is kept."""
        known = self.findings.inputs.get(dataset.name)
        if known is None or len(known.schema) < len(dataset.schema):
            self.findings.inputs[dataset.name] = dataset

    def add_opaque_step(self, step: OpaqueStep) -> None:
        """Add an opaque step of the plan, and log it the first time."""
        if step not in self.findings.opaque:
            self.findings.opaque[step] = None
            log.info("opaque step %s %s: %s", step.node, step.function, step.why)

    def opaque(self, node: Node, *, why: str = "", function: str = "") -> Relation:
        """`df.mapInPandas(clean, "x int")` → x from every column of df; the step is added to the opaque steps."""
        self.add_opaque_step(OpaqueStep(node.kind, function, why))
        output = tuple(a.text("id") for a in node.nodes("output"))
        return opaque_relation(output, [self(child) for child in node.children], function or node.kind, node.kind)


class Scope:
    """The columns that an operator's expressions can refer to. Called with an expression, it returns its flow."""

    def __init__(self, trace: Trace, columns: Mapping[str, Flow]) -> None:
        self.trace = trace
        self.columns = columns
        self.common_expressions: dict[str, Flow] = {}
        self._flows: dict[int, Flow] = {}

    @property
    def outer(self) -> Scope | None:
        """The scope of the query around this subquery."""
        return self.trace.outer

    def __call__(self, root: Node) -> Flow:
        """The flow of an expression."""
        known = self._flows.get(root.index)
        if known is not None:
            return known
        stack = [root]
        while stack:
            node = stack[-1]
            pending = [each for each in _arguments_of(node) if each.index not in self._flows]
            if pending:
                stack.extend(reversed(pending))
            else:
                self._flows[stack.pop().index] = self._apply_rule(node)
        return self._flows[root.index]

    def _apply_rule(self, node: Node) -> Flow:
        default = rule_registry.expression.rules["*"]
        rule = rule_registry.expression.find(node.kind) or default
        try:
            flow = rule(node, self)
        except Exception as error:  # noqa: BLE001  a failing rule must not lose the lineage of the other columns
            log.warning("the rule for %s failed, its arguments count as transformed: %r", node.kind, error)
            self.trace.add_opaque_step(OpaqueStep(node.kind, "", f"the rule for {node.kind} failed: {error}"))
            flow = default(node, self)
        if self._is_masking(node):
            masked = apply_effect(flow.dependencies, Effect.IDENTITY, masking=True)
            return replace(flow, dependencies=masked, members=None, column=None)
        return replace(flow, dependencies=clear_masking(flow.dependencies)) if node.kind in DECRYPTIONS else flow

    def _is_masking(self, node: Node) -> bool:
        context = self.trace.context
        name = function_name(node).lower()
        if node.kind in MASKING_EXPRESSIONS or name in context.masking_functions or name in PLUGIN_MASKING_FUNCTIONS:
            return True
        return node.kind in _USER_DEFINED_FUNCTIONS and context.is_masking_udf(node)

    def dependencies(self, expressions: Iterable[Node], effect: Effect, *, text: str = "") -> Dependencies:
        """The dependencies of several expressions after one more step, described by `text` or by each expression."""
        flows = [self(node) for node in expressions]
        return merge(apply_effect(flow.dependencies, effect, text=text or flow.text) for flow in flows)


# only the code of these functions shows whether they mask
_USER_DEFINED_FUNCTIONS = frozenset(
    {"PythonUDF", "PythonUDAF", "ScalaUDF", "ScalaAggregator", "PythonUDTF", "HiveSimpleUDF", "HiveGenericUDF"}
)


def _inputs_of(node: Node) -> tuple[Node, ...]:
    """The operators to trace before `node`: its children; CTE definitions before the query that refers to them."""
    if node.kind == "CommandResult":
        return ()
    if node.kind == "WithCTE":
        return (*node.nodes("cteDefs"), node.node("plan"))
    if node.kind == "UnionLoop":
        return (node.node("anchor"),)
    return node.children


def _arguments_of(node: Node) -> tuple[Node, ...]:
    """The expressions to trace before `node`; definitions before the expressions that refer to them."""
    return (*node.nodes("defs"), *node.expressions) if node.kind == "With" else node.expressions


def schema_of(attributes: Iterable[Node]) -> tuple[SchemaField, ...]:
    """Names and types of attributes."""
    return tuple(SchemaField(a.text("name"), a.text("type")) for a in attributes)
