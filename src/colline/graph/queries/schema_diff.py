"""Two schemas in SQL → what changed: columns dropped, renamed, given another type. Read with sqlglot, in any order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from colline.errors import SettingError
from colline.graph.answer import Row

Schema = dict[str, dict[str, str]]
_HUNK = re.compile(r"^@@ .* @@", re.MULTILINE)
_GONE = "drop"


def changes(old: str, new: str | None = None, *, dialect: str = "spark") -> list[Row]:
    """The changes between two sets of CREATE TABLE; of one text, those its ALTER and DROP statements or diff tell."""
    if new is None:
        if is_diff(old):
            before, after = sides(old)
            return changes(before, after, dialect=dialect)
        return _altered(old, dialect)
    before_schema, after_schema = _schema(old, dialect), _schema(new, dialect)
    return _compared(before_schema, after_schema) + _altered(new, dialect)


def is_diff(text: str) -> bool:
    """Whether the text is a unified diff."""
    return _HUNK.search(text) is not None


def sides(diff: str) -> tuple[str, str]:
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


def _statements(text: str, dialect: str) -> list[Any]:
    try:
        import sqlglot
        from sqlglot.errors import SqlglotError
    except ImportError as error:
        raise SettingError("reading SQL needs sqlglot", hint="pip install 'colline[sql]'") from error
    try:
        return [statement for statement in sqlglot.parse(text, dialect=dialect) if statement is not None]
    except SqlglotError as error:
        told = str(error).splitlines()[0]
        raise SettingError(
            f"the schema cannot be read: {told}", hint="give CREATE TABLE or ALTER TABLE statements"
        ) from error


def _schema(text: str, dialect: str) -> Schema:
    from sqlglot import expressions as exp

    out: Schema = {}
    for statement in _statements(text, dialect):
        if isinstance(statement, exp.Create) and isinstance(statement.this, exp.Schema):
            columns = {
                c.name: c.args["kind"].sql(dialect).lower() if c.args.get("kind") else "" for c in _columns(statement)
            }
            out[_table(statement.this.this)] = columns
    return out


def _columns(statement: Any) -> Iterator[Any]:
    from sqlglot import expressions as exp

    return (part for part in statement.this.expressions if isinstance(part, exp.ColumnDef))


def _table(table: Any) -> str:
    return ".".join(part.name for part in table.parts)


def _compared(before: Schema, after: Schema) -> list[Row]:
    out: list[Row] = []
    for table, old in before.items():
        new = after.get(table)
        if new is None:
            out += [_change(table, name, _GONE, kind, None) for name, kind in old.items()]
            continue
        folded = {name.lower(): kind for name, kind in new.items()}
        gone = [name for name in old if name.lower() not in folded]
        out += [_change(table, name, _GONE, old[name], None) for name in gone]
        out += [
            _change(table, name, "type", kind, folded[name.lower()])
            for name, kind in old.items()
            if name.lower() in folded and folded[name.lower()] != kind
        ]
    return out


def _change(table: str, column: str, change: str, before: str | None, after: str | None) -> Row:
    return {"dataset": table, "column": column, "change": change, "from": before, "to": after}


def _altered(text: str, dialect: str) -> list[Row]:
    from sqlglot import expressions as exp

    out: list[Row] = []
    for statement in _statements(text, dialect):
        if isinstance(statement, exp.Drop) and str(statement.args.get("kind", "")).upper() in ("TABLE", "VIEW"):
            out += [_change(_table(table), "*", _GONE, None, None) for table in statement.find_all(exp.Table)]
        elif isinstance(statement, exp.Alter):
            out += [
                row for action in statement.args.get("actions") or () for row in _action(_table(statement.this), action)
            ]
    return out


def _action(table: str, action: Any) -> Iterator[Row]:
    from sqlglot import expressions as exp

    if isinstance(action, exp.Drop):
        yield from (_change(table, found.name, _GONE, None, None) for found in action.find_all(exp.Identifier))
    elif isinstance(action, exp.RenameColumn):
        yield _change(table, action.this.name, "rename", action.this.name, action.args["to"].name)
    elif isinstance(action, exp.AlterColumn):
        name, renamed = action.this.name, action.args.get("rename_to")
        if renamed is not None and renamed.name.lower() != name.lower():
            yield _change(table, name, "rename", name, renamed.name)
        elif action.args.get("dtype"):
            yield _change(table, name, "type", None, action.args["dtype"].sql().lower())


def creates(text: str, *, dialect: str = "spark") -> Schema:
    """The tables a text creates, for comparing with what the lake knows."""
    return _schema(text, dialect)


def against(text: str, known: Schema, *, dialect: str = "spark") -> list[Row]:
    """What changes if tables that are known get the schema that a text creates."""
    from sqlglot import expressions as exp
    from sqlglot.errors import SqlglotError

    def spelled(kind: str) -> str:
        try:
            return str(exp.DataType.build(kind, dialect=dialect).sql(dialect)).lower()
        except SqlglotError:
            return kind.lower()

    wanted = creates(text, dialect=dialect)
    before = {table: {name: spelled(kind) for name, kind in columns.items()} for table, columns in known.items()}
    return _compared(before, {table: columns for table, columns in wanted.items() if table in before})
