"""Finds the datasets and columns behind a scan of several datasets, or of a query that another database runs."""

from __future__ import annotations

from colline.naming.dataset import NameContext
from colline.naming.jdbc import jdbc_query, qualified_table_name
from colline.naming.jdbc_queries import ColumnOrigin, QueryColumns, Table, query_columns
from colline.naming.rules import identify_all
from colline.plan.source import Source
from colline.trace import ColumnRef, DatasetName
from colline.trace.scan_inputs import ColumnEffects, ScanInputs


def find_scan_inputs(source: Source, context: NameContext) -> ScanInputs | None:
    """The datasets and columns of a scan; None if it is one dataset, or a query that cannot be read."""
    datasets = tuple(each.name for each in identify_all(source, context))
    query = jdbc_query(source)
    if query is None:
        return ScanInputs(datasets, datasets) if len(datasets) > 1 else None
    columns = query_columns(query)
    return _query_inputs(columns, source, context, datasets) if columns is not None else None


def _query_inputs(
    columns: QueryColumns, source: Source, context: NameContext, datasets: tuple[DatasetName, ...]
) -> ScanInputs:
    def dataset(table: Table) -> DatasetName:
        return qualified_table_name(table, source, context)

    def effects(origins: tuple[ColumnOrigin, ...]) -> ColumnEffects:
        return tuple((ColumnRef(dataset(origin.table), origin.column), origin.effect) for origin in origins)

    return ScanInputs(
        datasets,
        default_datasets=tuple(dataset(table) for table in columns.star_tables),
        columns={name: effects(origins) for name, origins in columns.outputs.items()},
        row_effects=effects(columns.row_origins),
    )
