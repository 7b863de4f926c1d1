"""Remembers what the requests of a session defined: temporary views, functions, variables, the current database."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from colline.capture.connect.proto_walk import Message, messages, type_name

MAX_DEFINITION_BYTES = 64 * 1024 * 1024
_MAX_EARLIER = 500
SESSION_CATALOG = "spark_catalog"

_SPACE = r"(?:\s|--[^\n]*\n|/\*.*?\*/)"
_NAME = r"((?:`(?:[^`]|``)+`|[\w$]+)(?:\s*\.\s*(?:`(?:[^`]|``)+`|[\w$]+))*)"
_DEFINES = re.compile(
    rf"{_SPACE}*(?:create{_SPACE}+(?:or{_SPACE}+replace{_SPACE}+)?(?:global{_SPACE}+)?temp(?:orary)?{_SPACE}+"
    rf"(?:view|function)|declare(?:{_SPACE}+or{_SPACE}+replace)?(?:{_SPACE}+var(?:iable)?)?)"
    rf"{_SPACE}+(?:if{_SPACE}+not{_SPACE}+exists{_SPACE}+)?{_NAME}",
    re.IGNORECASE | re.DOTALL,
)
_CACHES = re.compile(
    rf"{_SPACE}*cache{_SPACE}+(?:lazy{_SPACE}+)?table{_SPACE}+{_NAME}(?:{_SPACE}+options{_SPACE}*\([^)]*\))?"
    rf"{_SPACE}+(?:as{_SPACE}+)?(?=\(|select\b|with\b|from\b|values\b)",
    re.IGNORECASE | re.DOTALL,
)
_DROPS = re.compile(
    rf"{_SPACE}*drop{_SPACE}+(?:temporary{_SPACE}+)?(?:view|function|variable){_SPACE}+"
    rf"(?:if{_SPACE}+exists{_SPACE}+)?{_NAME}",
    re.IGNORECASE | re.DOTALL,
)
_USES = re.compile(
    rf"{_SPACE}*(?:(use)|set{_SPACE}+(catalog))(?:{_SPACE}+(namespace|database|schema))?{_SPACE}+['\"]?{_NAME}",
    re.IGNORECASE | re.DOTALL,
)
_SETS = re.compile(rf"{_SPACE}*set{_SPACE}+([\w.\-]+)\s*=\s*(.*)", re.IGNORECASE | re.DOTALL)
_CREATES_IF_NOT_EXISTS = re.compile(
    rf"{_SPACE}*create{_SPACE}+table{_SPACE}+if{_SPACE}+not{_SPACE}+exists\b", re.IGNORECASE
)
_DROPS_IF_EXISTS = re.compile(rf"{_SPACE}*drop{_SPACE}+\w+{_SPACE}+if{_SPACE}+exists\b", re.IGNORECASE)
# statements that read only the session or a catalog, or change only the session
_SESSION_STATEMENT = re.compile(
    rf"{_SPACE}*(?:cache|uncache|clear{_SPACE}+cache|desc|describe|explain|show|set(?!{_SPACE}+var)|reset|use|refresh)\b",
    re.IGNORECASE,
)
_PART = re.compile(r"\s*(?:`((?:[^`]|``)*)`|([^.`]+))\s*(?:\.|$)")
_WORD = re.compile(r"[\w$]+")
# messages and their fields that contain SQL text, or the name of a table or function
TEXT_FIELDS = {
    "SQL": "query",
    "SqlCommand": "sql",
    "NamedTable": "unparsed_identifier",
    "UnresolvedFunction": "function_name",
    "CallFunction": "function_name",
    "UnresolvedTableValuedFunction": "function_name",
    "ExpressionString": "expression",
    "WriteOperationV2": "table_name",
    "MergeIntoTableCommand": "target_table_name",
}


@dataclass(frozen=True)
class Definition:
    """A command that defined a name, with the tables that it reads and the earlier definitions that it uses itself.

    `namespace` is the current one of that time, in which the names in the command are resolved.
    """

    number: int
    command: bytes
    namespace: tuple[str, ...]
    tables: tuple[tuple[str, ...], ...] = ()
    uses: tuple[Definition, ...] = ()


class SessionDefinitions:
    """The state of one session as far as its own requests changed it."""

    def __init__(self, namespace: tuple[str, ...], catalogs: Iterable[str], conf: Mapping[str, str]) -> None:
        self.namespace = namespace
        self.catalogs = {SESSION_CATALOG, *catalogs}
        self.conf = dict(conf)
        self._known: dict[str, Definition] = {}
        self._count = 0
        self._bytes = 0

    def is_defined(self, parts: tuple[str, ...]) -> bool:
        """Whether a table name is that of a temporary view of this session."""
        return _key(parts) in self._known

    def used_by(self, parts: Iterable[Message]) -> tuple[Definition, ...]:
        """The definitions that a plan may use, in the order in which they were made: every name in its texts.

        `parts` are all messages of the plan.
        """
        if not self._known:
            return ()
        text = "\n".join(_referring_texts(parts)).lower()
        words = set(_WORD.findall(text))
        direct = [each for name, each in self._known.items() if name in words or (" " in name and name in text)]
        return _with_uses(direct)

    def apply(self, plan: Message, tables: tuple[tuple[str, ...], ...] = ()) -> str:
        """Note what a request that succeeded has changed. Returns the name that it defined, in lower case, if any.

        `tables` are the full names of the tables that the plan reads.
        """
        if plan.WhichOneof("op_type") == "root":
            self._apply_catalog_call(plan.root)
            return ""
        command = plan.command
        kind = command.WhichOneof("command_type")
        if kind == "create_dataframe_view":
            return self._define(command.create_dataframe_view.name, plan, tables)
        if kind in ("register_function", "register_table_function"):
            return self._define(getattr(command, kind).function_name, plan, tables)
        return self._apply_sql(sql_text(plan), plan, tables) if kind == "sql_command" else ""

    def full_name(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """The name with its catalog first, as Spark completes it."""
        if len(parts) == 1:
            return (*self.namespace, *parts)
        if parts[0] in self.catalogs or parts[0].lower() == SESSION_CATALOG:
            return parts
        return (self.namespace[0], *parts)

    def _apply_catalog_call(self, relation: Message) -> None:
        """`spark.catalog.setCurrentDatabase("sales")`"""
        if relation.WhichOneof("rel_type") != "catalog":
            return
        call = relation.catalog
        kind = call.WhichOneof("cat_type")
        if kind == "set_current_database":
            self._use(name_parts(call.set_current_database.db_name), is_catalog=False, is_namespace=True)
        elif kind == "set_current_catalog":
            self._use((call.set_current_catalog.catalog_name,), is_catalog=True, is_namespace=False)
        elif kind == "drop_temp_view":
            self._known.pop(call.drop_temp_view.view_name.lower(), None)

    def _apply_sql(self, text: str, plan: Message, tables: tuple[tuple[str, ...], ...]) -> str:
        if found := _DEFINES.match(text):
            return self._define(name_parts(found[1])[-1], plan, tables)
        if found := _CACHES.match(text):
            view = f"create temporary view {found[1]} as {text[found.end() :]}"
            return self._define(name_parts(found[1])[-1], _with_text(plan, view), tables)
        if found := _DROPS.match(text):
            self._known.pop(_key(name_parts(found[1])), None)
        elif found := _USES.match(text):
            self._use(name_parts(found[4]), is_catalog=bool(found[2]), is_namespace=bool(found[3]))
        elif found := _SETS.match(text):
            self.conf[found[1]] = found[2].strip().rstrip(";")
        return ""

    def _use(self, parts: tuple[str, ...], *, is_catalog: bool, is_namespace: bool) -> None:
        if not is_namespace and (is_catalog or parts[0] in self.catalogs):
            rest = parts[1:] or (("default",) if parts[0] == SESSION_CATALOG else ())
            self.namespace = (parts[0], *rest)
        else:
            self.namespace = (self.namespace[0], *parts)

    def _define(self, name: str, plan: Message, tables: tuple[tuple[str, ...], ...]) -> str:
        command = plan.SerializeToString()
        if self._bytes + len(command) > MAX_DEFINITION_BYTES:  # some may have been replaced since
            self._bytes = sum(len(each.command) for each in _with_uses(self._known.values()))
        if self._bytes + len(command) > MAX_DEFINITION_BYTES:
            self._known.pop(name.lower(), None)
            return ""
        self._bytes += len(command)
        self._count += 1
        # a definition keeps those that it uses, also after their names have been defined again
        uses = self.used_by(messages(plan))[-_MAX_EARLIER:]
        self._known[name.lower()] = Definition(self._count, command, self.namespace, tables, uses)
        return name.lower()


def _with_uses(direct: Iterable[Definition]) -> tuple[Definition, ...]:
    found: dict[int, Definition] = {}
    stack = list(direct)
    while stack:
        definition = stack.pop()
        if definition.number not in found:
            found[definition.number] = definition
            stack.extend(definition.uses)
    return tuple(found[number] for number in sorted(found))


def _key(parts: tuple[str, ...]) -> str:
    is_temporary = len(parts) == 1 or (len(parts) == 2 and parts[0].lower() in ("global_temp", "session"))
    return parts[-1].lower() if is_temporary else "\0".join(parts)


def _referring_texts(parts: Iterable[Message]) -> Iterable[str]:
    """The texts of a plan in which names of tables, views and functions occur."""
    for message in parts:
        field = TEXT_FIELDS.get(type_name(message))
        if field is not None:
            yield getattr(message, field)


def sql_text(plan: Message) -> str:
    """The text of a request that is one SQL statement; empty for any other request."""
    if plan.WhichOneof("op_type") != "command" or plan.command.WhichOneof("command_type") != "sql_command":
        return ""
    text: str = getattr(*_text_field(plan.command.sql_command))
    return text


def _text_field(command: Message) -> tuple[Message, str]:
    """The message that has the text of a SQL command, and the name of its field."""
    if "input" not in command.DESCRIPTOR.fields_by_name:  # a client of Spark 3.5
        return command, "sql"
    relation = command.input
    if relation.WhichOneof("rel_type") == "with_relations":
        relation = relation.with_relations.root
    return relation.sql, "query"


def _with_text(plan: Message, text: str) -> Message:
    """The request with another SQL text."""
    changed = type(plan)()
    changed.CopyFrom(plan)
    setattr(*_text_field(changed.command.sql_command), text)
    return changed


def is_definition(text: str) -> bool:
    """Whether SQL text defines a temporary view, a function or a variable of the session."""
    return _DEFINES.match(text) is not None or _CACHES.match(text) is not None


def is_without_run(text: str) -> bool:
    """Whether SQL text is a statement that neither reads nor writes the data of tables."""
    return is_definition(text) or _SESSION_STATEMENT.match(text) is not None


def is_create_if_not_exists(text: str) -> bool:
    """`create table if not exists t as select …`"""
    return _CREATES_IF_NOT_EXISTS.match(text) is not None


def is_drop_if_exists(text: str) -> bool:
    """`drop table if exists t`"""
    return _DROPS_IF_EXISTS.match(text) is not None


def name_parts(identifier: str) -> tuple[str, ...]:
    """``a.`b.c` `` → a, b.c"""
    found = _PART.findall(identifier.strip())
    return tuple(quoted.replace("``", "`") if quoted else plain.strip() for quoted, plain in found) or (identifier,)


def quoted_name(parts: Iterable[str]) -> str:
    """The identifier of a table in SQL."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)
