"""The two entry points of this package: the lineage of a query, and what a statement reads and writes."""

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
from colline.trace.commands.variables import VARIABLE_COMMANDS, assign_variables
from colline.trace.flow import dependency_entries, values_without_inputs
from colline.trace.opaque_flow import through_steps
from colline.trace.result import ColumnLineage, ColumnRead, DatasetRead, OpaqueStep, Statement, Use, Write
from colline.trace.tracer import Context, Trace

# importing these packages registers their rules
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
    """What a plan reads and writes: one `Write` per target, and no `Write` for a query."""
    writes = tuple(_writes(plan.root, context))
    if writes:
        return _merge_writes(writes)
    is_query = plan.root.kind in STREAM_WRITES or is_noop_write(plan.root)
    root = (plan.root.optional("query") or plan.root.node("inputQuery")) if is_query else plan.root
    if _is_command(root):
        return _command_without_target(root, context)
    found = _query_lineage(root, context)
    return Statement((), found.inputs, found.opaque)


def _command_without_target(root: Node, context: Context) -> Statement:
    """An empty statement; for a command without a rule, the inputs of its query."""
    if root.kind in VARIABLE_COMMANDS:
        assign_variables(root, Trace(context))
        assigned = root.optional("sourceQuery")
        found = _query_lineage(assigned, context, is_result=False) if assigned is not None else ColumnLineage()
        datasets = tuple(each for each in found.inputs if each.source.kind is not SourceKind.LOCAL)
        return Statement((), datasets, found.opaque)
    query = root.optional("query") if rule_registry.command.find(root.kind) is None else None
    if query is None:
        return Statement((), (), ())
    found = _query_lineage(query, context)
    step = OpaqueStep(root.kind, "", "no rule for this statement: its inputs are reported, its outputs are unknown")
    return Statement((), found.inputs, (*found.opaque, step))


def _query_of(root: Node) -> Node | None:
    """The plan itself if it is a query, else the query inside a command such as CREATE TEMPORARY VIEW."""
    if not _is_command(root):
        return root
    return root.optional("plan") or root.optional("query")


def _writes(root: Node, context: Context) -> Iterator[Write]:
    """The writes of a plan, one command after the other."""
    for node in _commands(root):
        rule = rule_registry.command.find(node.kind)
        # `create table if not exists` of a table that existed, `df.write.mode("ignore")` where there are data
        if rule is None or node.get("existed") is True:
            continue
        trace = Trace(context)
        for write in rule(node, trace):
            found = replace(write, lineage=_with_inputs(write.lineage, trace))
            yield replace(found, is_conditional=node.get("ifExists") is True)


def _commands(root: Node) -> tuple[Node, ...]:
    """The commands of a plan; `from t insert into a … insert into b …` is a Union of two."""
    if root.kind == "CommandResult":
        return _commands(root.node("commandLogicalPlan"))
    if root.kind == "WithCTE" and _is_command(root.node("plan")):
        return _commands(root.node("plan"))
    if root.kind == "Union" and root.children and all(_is_command(child) for child in root.children):
        return root.children
    return (root,)


def _is_command(node: Node) -> bool:
    return bool(node.get("is_command")) or node.kind in rule_registry.command.kinds or node.kind.endswith("Command")


def _query_lineage(root: Node, context: Context, *, is_result: bool = True) -> ColumnLineage:
    trace = Trace(context)
    relation = trace(root)
    names = output_names(root)
    columns = map_by_position(relation, names if len(names) == len(relation.output) else relation.output)
    context.memory.remember(relation, trace.findings.inputs.values(), columns if is_result else None)
    fields = {name: dependency_entries(flow.dependencies, flow.description) for name, flow in columns.items()}
    rows = dependency_entries(relation.row_dependencies)
    return _with_inputs(ColumnLineage(fields, rows, values=values_without_inputs(columns)), trace)


def _with_inputs(found: ColumnLineage, trace: Trace) -> ColumnLineage:
    """Add the datasets that were scanned, and those behind a checkpoint or an RDD."""
    reads = _columns_read(found)
    scanned = trace.findings.inputs
    earlier = {name: _earlier_input(name, trace) for name in reads if name not in scanned}
    inputs = tuple(replace(each, reads=reads.get(name, ())) for name, each in {**scanned, **earlier}.items())
    return replace(found, inputs=inputs, opaque=tuple(trace.findings.opaque))


def _earlier_input(name: DatasetName, trace: Trace) -> DatasetRead:
    return trace.context.memory.dataset(name) or DatasetRead(name, Source(SourceKind.OTHER))


def _columns_read(found: ColumnLineage) -> dict[DatasetName, tuple[ColumnRead, ...]]:
    """The columns of each dataset that an output column or the rows depend on, with their uses."""
    uses: dict[ColumnRef, set[Use]] = {}
    all_entries = [entry for entries in (*found.fields.values(), found.dataset) for entry in entries]
    for entry in through_steps(all_entries):
        effects = (transformation.effect for transformation in entry.transformations)
        uses.setdefault(entry.column, set()).update(_USES.get(effect, Use.VALUE) for effect in effects)
    reads: dict[DatasetName, list[ColumnRead]] = {}
    for column, found_uses in uses.items():
        reads.setdefault(column.dataset, []).append(_column_read(column.field, found_uses))
    return {name: tuple(columns) for name, columns in reads.items()}


def _column_read(field: str, uses: set[Use]) -> ColumnRead:
    return ColumnRead(field, tuple(use for use in Use if use in uses))


def _merge_writes(writes: tuple[Write, ...]) -> Statement:
    inputs = merge_inputs(dataset for write in writes for dataset in write.lineage.inputs)
    opaque = dict.fromkeys(step for write in writes for step in write.lineage.opaque)
    return Statement(writes, inputs, tuple(opaque))


def merge_inputs(datasets: Iterable[DatasetRead]) -> tuple[DatasetRead, ...]:
    """Each dataset once, with all columns that are read of it."""
    merged: dict[DatasetName, DatasetRead] = {}
    for dataset in datasets:
        known = merged.get(dataset.name)
        reads = dataset.reads if known is None else _merge_reads((*known.reads, *dataset.reads))
        merged[dataset.name] = replace(known or dataset, reads=reads)
    return tuple(merged.values())


def _merge_reads(reads: Iterable[ColumnRead]) -> tuple[ColumnRead, ...]:
    uses: dict[str, set[Use]] = {}
    for read in reads:
        uses.setdefault(read.field, set()).update(read.uses)
    return tuple(_column_read(name, found) for name, found in uses.items())
