"""Which datasets and columns one scan is made of, where it is more than one dataset or a query of its own."""

from __future__ import annotations

from colline.naming.dataset import NameContext
from colline.naming.jdbc import query_of, table_name
from colline.naming.rules import identify_all
from colline.naming.subqueries import Columns, Origin, columns_of
from colline.plan.source import Source
from colline.trace import ColumnRef, DatasetName
from colline.trace.scan_inputs import ColumnEffects, ScanInputs


def find_scan_inputs(source: Source, context: NameContext) -> ScanInputs | None:
    """The makeup of a scan; None where it is one dataset and its columns are that dataset's."""
    found = tuple(named.name for named in identify_all(source, context))
    query = query_of(source)
    if query is None:
        return ScanInputs(found, found) if len(found) > 1 else None
    columns = columns_of(*query)
    return _query(columns, source, context, found) if columns is not None else None


def _query(columns: Columns, source: Source, context: NameContext, found: tuple[DatasetName, ...]) -> ScanInputs:
    def name(table: tuple[str, ...]) -> DatasetName:
        return table_name(table, source, context)

    def made(origins: tuple[Origin, ...]) -> ColumnEffects:
        return tuple((ColumnRef(name(origin.table), origin.column), origin.effect) for origin in origins)

    outputs = {output: made(origins) for output, origins in columns.outputs.items()}
    return ScanInputs(found, tuple(name(table) for table in columns.whole), outputs, made(columns.rows))
