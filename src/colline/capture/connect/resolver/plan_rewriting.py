"""Rewrites a recorded plan so that Spark can analyze it without data, and refuses what would run code or read files.

Spark's planner runs some relations while it plans them: `show`, `crosstab`, a pivot without values. They are
replaced by relations with the same lineage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from colline.capture.connect.proto_walk import Message, messages, relations, type_name
from colline.errors import CollineError

# formats that Spark's planner writes with its own file commands, which need no table
_FILE_FORMATS = frozenset({"", "parquet", "orc", "csv", "json", "text", "xml"})
_SINKS_WITHOUT_DATA = ("noop", "console", "memory")
_MAP_IN_PANDAS = 205  # PythonEvalType.SQL_MAP_PANDAS_ITER_UDF
# relations that only the server can plan, with what they are
_UNKNOWN_RELATIONS = {
    "cached_local_relation": "data that is cached on the server",
    "chunked_cached_local_relation": "data that is cached on the server",
    "cached_remote_relation": "a checkpoint of another session",
    "ml_relation": "a model on the server",
    "catalog": "a call of the catalog",
    "extension": "a message of another product",
    "common_inline_user_defined_data_source": "a Python data source",
}
# messages with code that would be loaded into the JVM
_CODE = {
    "ScalarScalaUDF": "a Scala function",
    "JavaUDF": "a Java function",
    "TypedAggregateExpression": "a Scala aggregate",
}


class UnresolvablePlanError(CollineError):
    """A plan that cannot be analyzed here; the message states why."""


@dataclass(frozen=True)
class Rewriting:
    """What rewriting depends on: the format of the stub source, and names that a pivot may have as values."""

    stub_format: str
    pivot_values: tuple[str, ...] = ()

    def apply(self, plan: Message) -> None:
        """Rewrite a plan in place."""
        refuse_code(plan)
        for relation in relations(plan):
            kind = relation.WhichOneof("rel_type")
            if kind is None:
                raise UnresolvablePlanError("the plan has a message of a newer version of the protocol")
            if kind in _UNKNOWN_RELATIONS:
                raise UnresolvablePlanError(f"the plan uses {_UNKNOWN_RELATIONS[kind]}")
            rewrite = _REWRITES.get(kind)
            if rewrite is not None:
                rewrite(relation, self)
        for message in messages(plan):
            if type_name(message) == "WriteOperation":
                _rewrite_write(message, self)

    def stub_read(self, source: Message) -> None:
        """Replace a data source by the stub source, which keeps its format, paths and options."""
        paths = list(source.paths)
        source.options["colline.format"] = source.format
        source.options["colline.paths"] = "\n".join(paths)
        source.format = self.stub_format
        source.ClearField("paths")
        source.ClearField("predicates")


def refuse_code(plan: Message) -> None:
    """Raise an error if the plan contains code for the JVM, or a table function whose columns only its code knows."""
    for message in messages(plan):
        name = type_name(message)
        if name in _CODE:
            raise UnresolvablePlanError(f"the plan uses {_CODE[name]}")
        if name == "PythonUDTF" and not message.HasField("return_type"):
            raise UnresolvablePlanError("the columns of a Python table function are known to its code only")


def _read(relation: Message, rewriting: Rewriting) -> None:
    """`spark.read.format("delta").load("/d")` → a stub of the same format and path. Streams become batches."""
    read = relation.read
    read.is_streaming = False
    if read.WhichOneof("read_type") != "data_source":
        return
    if not read.data_source.schema:
        raise UnresolvablePlanError(f"the columns of {read.data_source.format or 'a data source'} are not known")
    rewriting.stub_read(read.data_source)


def _local(relation: Message, _: Rewriting) -> None:
    """Local data without its rows."""
    local = relation.local_relation
    if not local.schema:
        raise UnresolvablePlanError("the columns of local data are not known")
    local.ClearField("data")


def _show(relation: Message, _: Rewriting) -> None:
    """`df.show()` → df: to show a DataFrame reads its columns."""
    inner = _copy(getattr(relation, relation.WhichOneof("rel_type")).input)
    relation.CopyFrom(inner)


def _pivot(relation: Message, rewriting: Rewriting) -> None:
    """A pivot without values, for which Spark would run a job → a pivot over the columns that the result has."""
    pivot = relation.aggregate.pivot
    if not relation.aggregate.HasField("pivot") or pivot.values:
        return
    column = _copy(pivot.col)
    pivot.col.Clear()
    pivot.col.cast.expr.CopyFrom(column)
    pivot.col.cast.type_str = "string"
    grouping = {each.unresolved_attribute.unparsed_identifier for each in relation.aggregate.grouping_expressions}
    for value in dict.fromkeys(rewriting.pivot_values):
        if value not in grouping:
            pivot.values.add().string = value


def _quantiles(relation: Message, _: Rewriting) -> None:
    """`df.approxQuantile(["a"], …)` → an aggregate of the columns."""
    columns = list(relation.approx_quantile.cols)
    _aggregate(relation, relation.approx_quantile.input, "approx_percentile", columns)


def _frequent_items(relation: Message, _: Rewriting) -> None:
    """`df.freqItems(["a"])` → an aggregate of the columns."""
    columns = list(relation.freq_items.cols)
    _aggregate(relation, relation.freq_items.input, "collect_set", columns)


def _aggregate(relation: Message, source: Message, function: str, columns: list[str]) -> None:
    inner = _copy(source)
    relation.Clear()
    relation.aggregate.input.CopyFrom(inner)
    relation.aggregate.group_type = relation.aggregate.GROUP_TYPE_GROUPBY
    for column in columns:
        call = relation.aggregate.aggregate_expressions.add().unresolved_function
        call.function_name = function
        call.arguments.add().unresolved_attribute.unparsed_identifier = column
        if function == "approx_percentile":
            call.arguments.add().literal.double = 0.5


def _crosstab(relation: Message, rewriting: Rewriting) -> None:
    """`df.crosstab("a", "b")` → an opaque step over both columns: the values of b become columns."""
    crosstab = relation.crosstab
    first, second, inner = crosstab.col1, crosstab.col2, _copy(crosstab.input)
    names = [f"{first}_{second}", *(name for name in rewriting.pivot_values if name != f"{first}_{second}")]
    relation.Clear()
    selected = type(inner)()
    selected.project.input.CopyFrom(inner)
    for name in (first, second):
        selected.project.expressions.add().unresolved_attribute.unparsed_identifier = name
    make_opaque(relation, selected, "crosstab", dict.fromkeys(names, "string"))


def _transpose(relation: Message, rewriting: Rewriting) -> None:
    """`df.transpose()` → an opaque step: the rows become columns."""
    inner = _copy(relation.transpose.input)
    make_opaque(relation, inner, "transpose", dict.fromkeys(rewriting.pivot_values or ("key",), "string"))


def make_opaque(relation: Message, source: Message, function: str, columns: dict[str, str]) -> None:
    """Make the relation a step whose code is not known: `function` over `source`, with these columns and DDL types."""
    relation.Clear()
    step = relation.map_partitions
    step.input.CopyFrom(source)
    step.func.function_name = function
    step.func.deterministic = True
    step.func.python_udf.eval_type = _MAP_IN_PANDAS
    step.func.python_udf.python_ver = "3"
    ddl = ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in columns.items())
    step.func.python_udf.output_type.unparsed.data_type_string = ddl


def _rewrite_write(write: Message, rewriting: Rewriting) -> None:
    """Replace a format whose classes are not here: by the stub source for a path, by a known format for a table."""
    if write.WhichOneof("save_type") == "table":
        if write.HasField("source") and write.source.lower() not in _FILE_FORMATS:
            write.source = "parquet"
        return
    if write.source.lower() in _FILE_FORMATS:
        return
    write.options["colline.format"] = write.source
    write.options["colline.paths"] = write.path
    write.ClearField("path")
    write.source = rewriting.stub_format
    if write.mode != write.SAVE_MODE_OVERWRITE:
        write.mode = write.SAVE_MODE_APPEND


def batch_plan(plan: Message) -> Message:
    """A stream as a write of a batch, and the training of a model as a query: they read and write the same."""
    if plan.WhichOneof("op_type") != "command":
        return plan
    if plan.command.WhichOneof("command_type") == "ml_command":
        return _training_data(plan)
    if plan.command.WhichOneof("command_type") != "write_stream_operation_start":
        return plan
    stream = plan.command.write_stream_operation_start
    found = type(plan)()
    if stream.HasField("foreach_batch") or stream.HasField("foreach_writer"):
        name = "foreach_batch" if stream.HasField("foreach_batch") else "foreach_writer"
        make_opaque(found.root, stream.input, name.replace("_", " "), {"result": "string"})
    elif not stream.table_name and stream.format in _SINKS_WITHOUT_DATA:
        found.root.CopyFrom(stream.input)
    else:
        _copy_sink(stream, found.command.write_operation)
    return found


def _training_data(plan: Message) -> Message:
    kind = plan.command.ml_command.WhichOneof("command")
    if kind not in ("fit", "evaluate"):
        return plan
    found = type(plan)()
    found.root.CopyFrom(getattr(plan.command.ml_command, kind).dataset)
    return found


def _copy_sink(stream: Message, write: Message) -> None:
    write.input.CopyFrom(stream.input)
    write.mode = write.SAVE_MODE_APPEND
    if stream.format:
        write.source = stream.format
    for name, value in stream.options.items():
        write.options[name] = value
    if stream.table_name:
        write.table.table_name = stream.table_name
        write.table.save_method = write.SaveTable.TABLE_SAVE_METHOD_SAVE_AS_TABLE
    else:
        write.path = stream.path


def _copy(message: Message) -> Message:
    """A copy that stays when the message around it changes."""
    new = type(message)()
    new.CopyFrom(message)
    return new


_REWRITES: dict[str, Callable[[Any, Rewriting], None]] = {
    "read": _read,
    "local_relation": _local,
    "show_string": _show,
    "html_string": _show,
    "aggregate": _pivot,
    "approx_quantile": _quantiles,
    "freq_items": _frequent_items,
    "crosstab": _crosstab,
    "transpose": _transpose,
}
