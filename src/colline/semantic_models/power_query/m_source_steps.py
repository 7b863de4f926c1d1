"""M functions that open a source: databases, files, native queries, tables of literals."""

from __future__ import annotations

from collections.abc import Mapping

from colline.semantic_models.power_query.m_connectors import (
    DATABASES,
    DOCUMENTS,
    FILES,
    OTHER_SOURCES,
    dialect_of,
    table_address,
)
from colline.semantic_models.power_query.m_functions import MCallArguments, OpaqueStepError, m_rule, register_all
from colline.semantic_models.power_query.m_values import (
    UNKNOWN,
    ListValue,
    MValue,
    RecordValue,
    ScalarValue,
    SourcePlace,
    TableValue,
    dependencies_of,
    text_of,
)
from colline.semantic_models.source_address import SourceLookup
from colline.sql_lineage.named_relation import NamedRelation
from colline.sql_lineage.table_schema import TableParts, TableSchema
from colline.trace import Effect
from colline.trace.flow import EMPTY_FLOW, Flow, apply_effect


def _open_source(call: MCallArguments) -> MValue:
    """`Sql.Database(server, database, [Query = "…"])` → a place in the database, or the result of the query."""
    texts = tuple(text_of(value) or "" for value in call.values if not isinstance(value, RecordValue))
    place = SourcePlace(call.function, texts, _options(call))
    query = place.options.get("Query") or (texts[-1] if call.function.endswith(".Query") else "")
    return _query_result(call, place, query) if query else place


def _options(call: MCallArguments) -> Mapping[str, str]:
    records = [value.fields for value in call.values if isinstance(value, RecordValue)]
    return {name: text_of(value) or "" for record in records for name, value in record.items()}


register_all([*DATABASES, *FILES, *OTHER_SOURCES], _open_source)


def _document(call: MCallArguments) -> MValue:
    """`Parquet.Document(File.Contents(path))` → the table in the file."""
    value = call.value(0)
    return value if isinstance(value, (SourcePlace, TableValue)) else call.table(0)


register_all(DOCUMENTS, _document)


@m_rule("Value.NativeQuery")
def _native_query(call: MCallArguments) -> MValue:
    """`Value.NativeQuery(Sql.Database(…), "select …")` → the columns of the query."""
    place = call.value(0)
    query = text_of(call.value(1))
    if not isinstance(place, SourcePlace) or query is None:
        raise OpaqueStepError("the query is computed when it runs")
    return _query_result(call, place, query)


def _query_result(call: MCallArguments, place: SourcePlace, query: str) -> MValue:
    try:
        from colline.sql_lineage.script_lineage import query_lineage
        from colline.sql_lineage.script_statements import ScriptError
    except ImportError as error:
        raise OpaqueStepError("its SQL needs sqlglot: pip install 'colline[sql]'") from error
    tables = _TablesAt(place, call.evaluator.sources)
    try:
        found = query_lineage(query, dialect_of(place), tables)
    except ScriptError as error:
        raise OpaqueStepError(f"its SQL could not be read: {error.message}") from error
    call.evaluator.findings.inputs.update(dict.fromkeys(found.inputs))
    for problem in found.problems:
        call.evaluator.report(f"SQL of {place.connector}: {problem}")
    return TableValue(found.relation)


class _TablesAt:
    """The tables that a query names, in the database at a place."""

    def __init__(self, place: SourcePlace, sources: SourceLookup) -> None:
        self._place = place
        self._sources = sources

    def find(self, parts: TableParts) -> TableSchema:
        """The table with this name."""
        return self._sources.find_source(table_address(self._place, parts))


@m_rule("#table", "Table.FromRows", "Table.FromRecords", "Table.FromList", "Table.FromColumns", "Table.FromValue")
def _literal_table(call: MCallArguments) -> MValue:
    """`#table({"a", "b"}, {…})` → columns without input, unless the values come from a source."""
    position = 0 if call.function == "#table" else 1
    value = call.value(position)
    names = [text_of(item) for item in value.items] if isinstance(value, ListValue) else []
    found = apply_effect(dependencies_of(call.value(1 - position)), Effect.TRANSFORMATION)
    flow = Flow(found) if found else EMPTY_FLOW
    return TableValue(NamedRelation(tuple((name, flow) for name in names if name), fallback=flow))


@m_rule("Table.ColumnNames", "Table.Schema", "Record.FieldNames")
def _column_names(call: MCallArguments) -> MValue:
    """`Table.ColumnNames(t)` → the names that are known; unknown if the table is open."""
    relation = call.table(0).relation
    return UNKNOWN if relation.is_open else ListValue(tuple(ScalarValue(text=name) for name in relation.names))


@m_rule("Binary.Buffer", "List.Buffer", "Binary.Decompress", "Binary.Combine", "Web.Headers", "Diagnostics.Trace")
def _same_value(call: MCallArguments) -> MValue:
    """`Binary.Buffer(x)` → x."""
    return call.value(0)


@m_rule("Text.From", "Text.Trim", "Text.Clean", "Uri.Combine")
def _text(call: MCallArguments) -> MValue:
    """`Text.From(x)` → a transformation of x; a known text stays known."""
    texts = [text_of(value) for value in call.values]
    found = apply_effect(dependencies_of(ListValue(call.values)), Effect.TRANSFORMATION)
    known = [text for text in texts if text is not None]
    return ScalarValue(found, "".join(known) if len(known) == len(texts) else None)
