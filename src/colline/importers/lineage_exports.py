"""The rows of Unity Catalog exports, as CSV, Parquet or Delta, in small parts: an export may be large or broken."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from colline.errors import SettingError
from colline.importers.file_tree import FileTree

Row = Mapping[str, Any]
MAX_LINE_CHARACTERS = 1_000_000
MAX_VALUE_BYTES = 100_000
MAX_GROUP_BYTES = 2 * 1024**3  # of the columns that are read, in one row group of a Parquet file
BATCH_ROWS = 1_000
_REQUIRED = frozenset(("source_table_full_name", "target_table_full_name", "event_time"))
_READ = (
    *sorted(_REQUIRED), "source_column_name", "target_column_name", "source_path", "target_path", "entity_type",
    "entity_id", "entity_run_id", "entity_metadata", "statement_id", "event_id", "created_by",
)  # fmt: skip


class _TooLargeError(Exception):
    """A value or a part of a file beyond the limits."""


def lineage_exports(tree: FileTree) -> Iterator[tuple[str, Iterable[Row]]]:
    """Each export below a path, with its rows."""
    deltas = sorted({file.split("/_delta_log/")[0] for file in tree.files if "/_delta_log/" in f"/{file}"})
    if any(file.startswith("_delta_log/") for file in tree.files):
        deltas = [""]
    for folder in deltas:
        yield from _delta(tree, folder)
    for file in tree.ending(".parquet"):
        if not any(file.startswith(f"{folder}/") or not folder for folder in deltas):
            yield from _parquet(tree, file)
    for file in tree.ending(".csv"):
        yield from _csv(tree, file)


def _has_lineage(names: Iterable[str]) -> bool:
    return {name.strip().lower() for name in names} >= _REQUIRED


# CSV


def _csv(tree: FileTree, file: str) -> Iterator[tuple[str, Iterable[Row]]]:
    with tree.path(file).open(encoding="utf-8-sig", errors="replace") as opened:
        header = opened.readline(100_000)
    if _has_lineage(header.strip().replace('"', "").split(",")):
        yield file, _csv_rows(tree, file)


def _csv_rows(tree: FileTree, file: str) -> Iterator[Row]:
    with tree.path(file).open(encoding="utf-8-sig", errors="replace", newline="") as opened:
        reader = csv.DictReader(_lines(opened))
        try:
            for row in reader:
                yield {(key or "").strip().lower(): value or None for key, value in row.items()}
        except (csv.Error, _TooLargeError) as error:
            tree.problems.add(file, reader.line_num + 1, f"expected CSV: {error}")


def _lines(opened: Any) -> Iterator[str]:
    while line := opened.readline(MAX_LINE_CHARACTERS):
        if len(line) == MAX_LINE_CHARACTERS:
            raise _TooLargeError(f"a line has more than {MAX_LINE_CHARACTERS:,} characters")
        yield line


# Parquet and Delta


def _parquet(tree: FileTree, file: str) -> Iterator[tuple[str, Iterable[Row]]]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise SettingError("Parquet files need pyarrow", hint="pip install 'colline[graph]'") from error
    try:
        names = parquet.read_schema(tree.path(file)).names
    except (pa.ArrowException, OSError) as error:
        tree.problems.add(file, 1, f"expected Parquet: {error}")
        return
    if _has_lineage(names):
        yield file, _rows_of(tree, file, _parquet_batches(tree, file, _columns(names)))


def _columns(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.lower() in _READ]


def _parquet_batches(tree: FileTree, file: str, columns: list[str]) -> Iterator[Any]:
    """Parts of a file. Repeated texts stay a dictionary, so that a small file cannot become very large in memory."""
    from pyarrow import parquet

    with parquet.ParquetFile(tree.path(file), read_dictionary=columns) as opened:
        for number in range(opened.metadata.num_row_groups):
            group = opened.metadata.row_group(number)
            chunks = (group.column(at) for at in range(group.num_columns))
            size = sum(
                chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema.split(".")[0] in columns
            )
            if size > MAX_GROUP_BYTES:
                raise _TooLargeError(f"row group {number} has more than {MAX_GROUP_BYTES / 1e9:.0f} GB")
        yield from opened.iter_batches(batch_size=BATCH_ROWS, columns=columns)


def _delta(tree: FileTree, folder: str) -> Iterator[tuple[str, Iterable[Row]]]:
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    except ImportError as error:
        raise SettingError("Delta tables need deltalake", hint="pip install 'colline[graph]'") from error
    try:
        dataset = DeltaTable(str(tree.path(folder))).to_pyarrow_dataset()
    except (DeltaError, OSError) as error:
        tree.problems.add(folder, 1, f"expected a Delta table: {error}")
        return
    if _has_lineage(dataset.schema.names):
        batches = dataset.to_batches(columns=_columns(dataset.schema.names), batch_size=BATCH_ROWS, batch_readahead=1)
        yield folder or ".", _rows_of(tree, folder or ".", batches)


def _rows_of(tree: FileTree, file: str, batches: Iterable[Any]) -> Iterator[Row]:
    """The rows of all parts that can be read; what is wrong with a part is reported."""
    import pyarrow as pa

    try:
        for batch in batches:
            for column in batch.columns:
                _check_values(column)
            yield from ({name.lower(): value for name, value in row.items()} for row in batch.to_pylist())
    except (pa.ArrowException, OSError, _TooLargeError) as error:
        tree.problems.add(file, 1, f"its rows could not be read: {error}")


def _check_values(column: Any) -> None:
    """Refuse a column with a very long text."""
    import pyarrow as pa
    from pyarrow import compute

    values = column.dictionary if pa.types.is_dictionary(column.type) else column
    kind = values.type
    is_text = any(check(kind) for check in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary))
    longest = compute.max(compute.binary_length(values)).as_py() if is_text else None
    if (longest or 0) > MAX_VALUE_BYTES:
        raise _TooLargeError(f"a text has more than {MAX_VALUE_BYTES:,} bytes")
