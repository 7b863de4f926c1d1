"""The tables and files that a plan names: what it reads and writes, without its columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from colline.capture.connect.client.session_definitions import name_parts, sql_text
from colline.capture.connect.proto_walk import Message, type_name
from colline.plan.source import Source, SourceKind
from colline.sql_lineage.sql_table_names import NO_TABLES, SqlTableNames, TableParts, table_names

_DIALECT = "databricks"
# options that naming needs; others may contain secrets
_NAMING_OPTIONS = frozenset(
    {"url", "dbtable", "query", "path", "topic", "subscribe", "subscribepattern", "assign", "kafka.bootstrap.servers",
     "table", "project", "dataset", "sfurl", "sfdatabase", "sfschema", "keyspace", "collection", "database"}
)  # fmt: skip
SINKS_WITHOUT_DATA = ("noop", "console", "memory")
# commands that change the session, or that only look at it
_SESSION_COMMANDS = frozenset(
    {"create_dataframe_view", "register_function", "register_table_function", "register_data_source",
     "get_resources_command", "streaming_query_command", "streaming_query_manager_command",
     "streaming_query_listener_bus_command", "create_resource_profile_command", "pipeline_command",
     "remove_cached_remote_relation_command"}
)  # fmt: skip


@dataclass
class PlanDatasets:
    """The datasets of a plan: names of tables as they are written, and sources that are not tables.

    `is_run` is false for requests that execute nothing: a query as SQL text, which the server only parses, and
    commands of the session. `creates` is false if the target tables must exist.
    """

    tables: dict[TableParts, None] = field(default_factory=dict)
    sources: dict[Source, None] = field(default_factory=dict)
    target_tables: dict[TableParts, None] = field(default_factory=dict)
    targets: dict[Source, None] = field(default_factory=dict)
    is_run: bool = True
    creates: bool = True


def plan_datasets(plan: Message, parts: Iterable[Message]) -> PlanDatasets:
    """What a plan reads and writes, by name; `parts` are all its messages."""
    found = PlanDatasets()
    text = sql_text(plan)
    if text:
        named = table_names(text, _DIALECT) or SqlTableNames(is_query=_starts_like_query(text))
        _add_sql(found, named)
        found.is_run, found.creates = not named.is_query, named.creates
    elif plan.WhichOneof("op_type") == "command":
        _add_command(found, plan.command)
    elif plan.root.WhichOneof("rel_type") == "catalog":
        found.is_run = plan.root.catalog.WhichOneof("cat_type") in ("create_table", "create_external_table")
    _add_parts(found, parts, text)
    return found


def _add_parts(found: PlanDatasets, parts: Iterable[Message], text: str) -> None:
    """Add what is read inside of a plan; `text` is the SQL text that is the whole plan."""
    aliases: set[TableParts] = set()
    for message in parts:
        name = type_name(message)
        if name == "NamedTable":
            found.tables[name_parts(message.unparsed_identifier)] = None
        elif name == "DataSource":
            found.sources[_data_source(message)] = None
        elif name == "SQL" and message.query != text:
            _add_sql(found, table_names(message.query, _DIALECT) or NO_TABLES)
        elif name == "WithRelations":  # spark.sql("select * from {df}", df=df)
            aliases.update((each.subquery_alias.alias,) for each in message.references)
    for alias in aliases:
        found.tables.pop(alias, None)


def view_tables(text: str) -> tuple[TableParts, ...]:
    """The tables in the text of a view."""
    return (table_names(text, _DIALECT) or NO_TABLES).reads


def _add_sql(found: PlanDatasets, named: SqlTableNames) -> None:
    for parts in named.reads:
        found.tables[parts] = None
    for parts in named.writes:
        found.target_tables[parts] = None


def _starts_like_query(text: str) -> bool:
    words = text.split(None, 1)
    return bool(words) and words[0].lower().lstrip("(") in ("select", "with", "from", "values", "table", "")


def _add_command(found: PlanDatasets, command: Message) -> None:
    kind = command.WhichOneof("command_type")
    found.is_run = kind is not None and kind not in _SESSION_COMMANDS
    if kind == "ml_command":
        found.is_run = command.ml_command.WhichOneof("command") in ("fit", "evaluate")
    if kind == "write_operation":
        _add_write(found, command.write_operation)
    elif kind == "write_operation_v2":
        found.target_tables[name_parts(command.write_operation_v2.table_name)] = None
    elif kind == "write_stream_operation_start":
        _add_stream(found, command.write_stream_operation_start)
    elif kind == "merge_into_table_command":
        found.target_tables[name_parts(command.merge_into_table_command.target_table_name)] = None


def _add_write(found: PlanDatasets, write: Message) -> None:
    if write.WhichOneof("save_type") == "table":
        found.target_tables[name_parts(write.table.table_name)] = None
    elif write.source not in SINKS_WITHOUT_DATA:
        paths = (write.path,) if write.path else ()
        found.targets[_source(write.source, paths, write.options)] = None


def _add_stream(found: PlanDatasets, stream: Message) -> None:
    if stream.table_name:
        found.target_tables[name_parts(stream.table_name)] = None
    elif stream.format not in SINKS_WITHOUT_DATA and stream.format:
        paths = (stream.path,) if stream.path else ()
        found.targets[_source(stream.format, paths, stream.options)] = None


def _data_source(read: Message) -> Source:
    return _source(read.format, tuple(read.paths), read.options)


def _source(provider: str, paths: tuple[str, ...], options: Any) -> Source:
    kept = tuple((name, value) for name, value in sorted(options.items()) if name.lower() in _NAMING_OPTIONS)
    if not paths and (path := next((value for name, value in kept if name.lower() == "path"), "")):
        paths = (path,)
    kind = SourceKind.PATH if paths else SourceKind.KAFKA if provider.lower() == "kafka" else SourceKind.OTHER
    if kind is SourceKind.OTHER and any(name.lower() == "url" for name, _ in kept):
        kind = SourceKind.JDBC
    return Source(kind, provider, paths=paths, options=kept)
