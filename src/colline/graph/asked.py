"""What was asked, in the snapshot's terms: columns by name, a depth that makes sense, the changes a schema tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from colline.errors import ColumnError, SettingError
from colline.graph.answer import Row
from colline.graph.traversal.csr import Nodes
from colline.graph.traversal.records import View

Columns = str | Iterable[str]


def steps(depth: int | None) -> int | None:
    """How many steps a walk may take; none at all is refused."""
    if depth is not None and depth < 1:
        raise SettingError(f"a depth of {depth}", hint="at least 1")
    return depth


def schema_changes(view: View, diff: Sequence[str], at: int | None) -> list[Row]:
    """The changes told by two schemas, by ALTER statements, by a git diff, or by a schema compared with the lake."""
    from colline.graph.queries import schema_diff

    if len(diff) > 2:
        raise SettingError(f"{len(diff)} schemas", hint="give one text, or the old and the new one")
    if len(diff) == 2:
        return schema_diff.changes(diff[0], diff[1])
    rows = schema_diff.changes(diff[0])
    if rows or schema_diff.is_diff(diff[0]):
        return rows
    known = {}
    for table in schema_diff.creates(diff[0]):
        nodes = view.names.dataset_columns(view.names.dataset(table.split("."), table), at)
        types = view.arrays.strings("types")
        known[table] = {view.names.field(n): types[int(view.arrays["node.type"][n])] for n in nodes.tolist()}
    return schema_diff.against(diff[0], known)


def resolve(view: View, columns: Columns, at: int | None) -> Nodes:
    """The columns meant, at least one."""
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise ColumnError("no column was given", hint="write dataset.column")
    return view.names.resolve(names, at)
