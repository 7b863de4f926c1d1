"""The two functions everything above uses: the lineage of a query, and what a statement reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from colline.plan.decode import Plan
from colline.plan.node import Node
from colline.plan.source import Source, SourceKind
from colline.trace import commands, expressions, operators, rule_registry
from colline.trace.columns import ColumnRef, DatasetName, Effect
from colline.trace.commands.inserts import is_noop_write
from colline.trace.commands.streams import STREAM_WRITES
from colline.trace.commands.target import map_by_position, output_names
from colline.trace.flow import dependency_entries
from colline.trace.result import ColumnLineage, ColumnRead, DatasetRead, OpaqueStep, Statement, Use, Write
from colline.trace.tracer import Context, Trace

# importing these rooms is what fills the registries
RULE_PACKAGES = (operators, expressions, commands)

_USES = {
    Effect.JOIN: Use.JOIN,
    Effect.GROUP_BY: Use.GROUP_BY,
    Effect.FILTER: Use.FILTER,
    Effect.SORT: Use.SORT,
    Effect.WINDOW: Use.WINDOW,
    Effect.CONDITIONAL: Use.CONDITIONAL,
}


def lineage(plan: Plan, context: Context) -> ColumnLineage:
    """The column lineage of a query, or of the first target of a statement."""
    first = next(_writes(plan.root, context), None)
    if first is not None:
        return first.lineage
    query = _query_of(plan.root)
    return _query_lineage(query, context) if query is not None else ColumnLineage()


def statement(plan: Plan, context: Context) -> Statement:
    """What the plan reads and writes: one `Write` per target, none for a query."""
    found = tuple(_writes(plan.root, context))
    if found:
        return _statement(found)
    is_query = plan.root.kind in STREAM_WRITES or is_noop_write(plan.root)
    root = plan.root.node("query") if is_query else plan.root
    if _is_command(root):
        return _untraced_command(root, context)
    read = _query_lineage(root, context)
    return Statement((), read.inputs, read.opaque)


def _untraced_command(root: Node, context: Context) -> Statement:
    """A command without a target: nothing, or, where no rule knows it and it has a query, what that reads."""
    query = root.optional("query") if rule_registry.command.find(root.kind) is None else None
    if query is None:
        return Statement((), (), ())
    read = _query_lineage(query, context)
    step = OpaqueStep(root.kind, "", "no rule knows this statement: what it reads is told, what it writes is not")
    return Statement((), read.inputs, (*read.opaque, step))


def _query_of(root: Node) -> Node | None:
    """The query of a plan: itself, or what a command without a target of its own, such as a temporary view, holds."""
    if not _is_command(root):
        return root
    return root.optional("plan") or root.optional("query")


def _writes(root: Node, context: Context) -> Iterator[Write]:
    """The writes of a command; of each in turn where one statement has several targets."""
    for node in _single_commands(root):
        rule = rule_registry.command.find(node.kind)
        if rule is None:
            continue
        trace = Trace(context)
        for write in rule(node, trace):
            yield replace(write, lineage=_with_inputs(write.lineage, trace))


def _single_commands(root: Node) -> tuple[Node, ...]:
    if root.kind == "CommandResult":
        return _single_commands(root.node("commandLogicalPlan"))
    if root.kind == "WithCTE" and _is_command(root.node("plan")):
        return _single_commands(root.node("plan"))
    if root.kind == "Union" and root.children and all(_is_command(child) for child in root.children):
        return root.children
    return (root,)


def _is_command(node: Node) -> bool:
    return node.kind in rule_registry.command.kinds or node.kind.endswith("Command")


def _query_lineage(root: Node, context: Context) -> ColumnLineage:
    trace = Trace(context)
    relation = trace(root)
    context.memory.remember(relation, trace.findings.inputs.values())
    names = output_names(root)
    columns = map_by_position(relation, names if len(names) == len(relation.output) else relation.output)
    fields = {name: dependency_entries(flow.dependencies, flow.description) for name, flow in columns.items()}
    return _with_inputs(ColumnLineage(fields, dependency_entries(relation.row_dependencies)), trace)


def _with_inputs(found: ColumnLineage, trace: Trace) -> ColumnLineage:
    """With the inputs: what was scanned, and what a checkpoint or an RDD leads back to."""
    reads = _columns_read(found)
    scanned = trace.findings.inputs
    recalled = {name: _earlier_input(name, trace) for name in reads if name not in scanned}
    inputs = tuple(replace(held, reads=reads.get(name, ())) for name, held in {**scanned, **recalled}.items())
    return replace(found, inputs=inputs, opaque=tuple(trace.findings.opaque))


def _earlier_input(name: DatasetName, trace: Trace) -> DatasetRead:
    return trace.context.memory.dataset(name) or DatasetRead(name, Source(SourceKind.OTHER))


def _columns_read(found: ColumnLineage) -> dict[DatasetName, tuple[ColumnRead, ...]]:
    """Per dataset, the columns that any output or the rows depend on, and how each is used."""
    uses: dict[ColumnRef, dict[Use, None]] = {}
    for entries in (*found.fields.values(), found.dataset):
        for entry in entries:
            known = uses.setdefault(entry.column, {})
            known.update(
                dict.fromkeys(_USES.get(transformation.effect, Use.VALUE) for transformation in entry.transformations)
            )
    reads: dict[DatasetName, list[ColumnRead]] = {}
    for column, dependencies in uses.items():
        ordered = tuple(use for use in Use if use in dependencies)
        reads.setdefault(column.dataset, []).append(ColumnRead(column.field, ordered))
    return {name: tuple(columns) for name, columns in reads.items()}


def _statement(writes: tuple[Write, ...]) -> Statement:
    inputs = _merge_inputs(dataset for write in writes for dataset in write.lineage.inputs)
    opaque: dict[OpaqueStep, None] = dict.fromkeys(step for write in writes for step in write.lineage.opaque)
    return Statement(writes, inputs, tuple(opaque))


def _merge_inputs(datasets: Iterable[DatasetRead]) -> tuple[DatasetRead, ...]:
    united: dict[DatasetName, DatasetRead] = {}
    for dataset in datasets:
        known = united.get(dataset.name)
        united[dataset.name] = (
            dataset if known is None else replace(known, reads=_merge_reads(known.reads, dataset.reads))
        )
    return tuple(united.values())


def _merge_reads(first: tuple[ColumnRead, ...], second: tuple[ColumnRead, ...]) -> tuple[ColumnRead, ...]:
    uses: dict[str, set[Use]] = {}
    for read in (*first, *second):
        uses.setdefault(read.field, set()).update(read.uses)
    return tuple(ColumnRead(name, tuple(use for use in Use if use in found)) for name, found in uses.items())
