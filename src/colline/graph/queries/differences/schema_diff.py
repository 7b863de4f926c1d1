"""Column changes in SQL text: two schemas, ALTER and DROP statements, a git diff, or a schema and the lake."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from colline.errors import SettingError
from colline.graph.difference_rows import SchemaChange
from colline.graph.traversal.records import View

if TYPE_CHECKING:
    from sqlglot import expressions as exp

Schema = dict[str, dict[str, str]]  # table → column → type
DIALECT = "spark"
_HUNK = re.compile(r"^@@ .* @@", re.MULTILINE)
_DROP = "drop"


def schema_changes(view: View, texts: Sequence[str], at: int | None) -> list[SchemaChange]:
    """The changes between two schemas; or those in one text, or between one schema and the lake."""
    if len(texts) > 2:
        raise SettingError(f"{len(texts)} schemas were given", hint="give one text, or the old and the new schema")
    if len(texts) == 2:
        return changes(texts[0], texts[1])
    found = changes(texts[0])
    if found or _is_diff(texts[0]):
        return found
    new = _schema(texts[0])
    return _compare({table: _schema_in_lake(view, table, at) for table in new}, new)


def changes(old: str, new: str | None = None) -> list[SchemaChange]:
    """The changes between the CREATE TABLE statements of two texts; or the ALTER and DROP statements of one."""
    if new is not None:
        return _compare(_schema(old), _schema(new)) + _statement_changes(new)
    return changes(*_sides(old)) if _is_diff(old) else _statement_changes(old)


def _is_diff(text: str) -> bool:
    """Whether the text is a unified diff."""
    return _HUNK.search(text) is not None


def _sides(diff: str) -> tuple[str, str]:
    """The text before and after a unified diff, as far as the diff shows it."""
    before: list[str] = []
    after: list[str] = []
    inside = False
    for line in diff.splitlines():
        if line.startswith("@@"):
            inside = True
        elif line.startswith(("diff ", "--- ", "+++ ", "index ")):
            inside = False
        elif inside and not line.startswith("\\"):
            if not line.startswith("+"):
                before.append(line[1:])
            if not line.startswith("-"):
                after.append(line[1:])
    return "\n".join(before), "\n".join(after)


def _statements(text: str) -> list[exp.Expression]:
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        return [statement for statement in sqlglot.parse(text, dialect=DIALECT) if statement is not None]
    except SqlglotError as error:
        reason = str(error).splitlines()[0]
        hint = "give CREATE TABLE or ALTER TABLE statements"
        raise SettingError(f"the schema cannot be read: {reason}", hint=hint) from error


def _schema(text: str) -> Schema:
    """The tables that a text creates."""
    from sqlglot import expressions as exp

    out: Schema = {}
    for statement in _statements(text):
        if isinstance(statement, exp.Create) and isinstance(statement.this, exp.Schema):
            columns = (part for part in statement.this.expressions if isinstance(part, exp.ColumnDef))
            out[_table_name(statement.this.this)] = {
                column.name: column.args["kind"].sql(DIALECT).lower() if column.args.get("kind") else ""
                for column in columns
            }
    return out


def _table_name(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts)


def _schema_in_lake(view: View, table: str, at: int | None) -> dict[str, str]:
    nodes = view.names.dataset_columns(view.names.dataset(table.split("."), table), at)
    types = view.texts("types")
    return {view.names.field(n): _normalize_type(types(int(view.arrays["node.type"][n]))) for n in nodes.tolist()}


def _normalize_type(type_name: str) -> str:
    """A type in the spelling of `_schema`."""
    from sqlglot import expressions as exp
    from sqlglot.errors import SqlglotError

    try:
        return str(exp.DataType.build(type_name, dialect=DIALECT).sql(DIALECT)).lower()
    except SqlglotError:
        return type_name.lower()


def _compare(before: Schema, after: Schema) -> list[SchemaChange]:
    out: list[SchemaChange] = []
    for table, old in before.items():
        new = {name.lower(): kind for name, kind in after.get(table, {}).items()}
        dropped = [name for name in old if name.lower() not in new]
        out += [SchemaChange(table, name, _DROP, old[name], None) for name in dropped]
        out += [
            SchemaChange(table, name, "type", kind, new[name.lower()])
            for name, kind in old.items()
            if name not in dropped and new[name.lower()] != kind
        ]
    return out


def _statement_changes(text: str) -> list[SchemaChange]:
    from sqlglot import expressions as exp

    out: list[SchemaChange] = []
    for statement in _statements(text):
        if isinstance(statement, exp.Drop) and str(statement.args.get("kind", "")).upper() in ("TABLE", "VIEW"):
            tables = statement.find_all(exp.Table)
            out += [SchemaChange(_table_name(table), "*", _DROP, None, None) for table in tables]
        elif isinstance(statement, exp.Alter):
            table = _table_name(statement.this)
            out += [row for action in statement.args.get("actions") or () for row in _action(table, action)]
    return out


def _action(table: str, action: exp.Expression) -> Iterator[SchemaChange]:
    from sqlglot import expressions as exp

    if isinstance(action, exp.Drop):
        yield from (SchemaChange(table, found.name, _DROP, None, None) for found in action.find_all(exp.Identifier))
    elif isinstance(action, exp.RenameColumn):
        yield SchemaChange(table, action.this.name, "rename", action.this.name, action.args["to"].name)
    elif isinstance(action, exp.AlterColumn):
        name, renamed = action.this.name, action.args.get("rename_to")
        if renamed is not None and renamed.name.lower() != name.lower():
            yield SchemaChange(table, name, "rename", name, renamed.name)
        elif action.args.get("dtype"):
            yield SchemaChange(table, name, "type", None, action.args["dtype"].sql().lower())
