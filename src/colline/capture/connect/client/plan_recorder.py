"""Makes recorded plans of a client's requests: complete, without data and code, with the tables they refer to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import msgspec

from colline.capture.connect.client.described_tables import DescribedTables, is_path
from colline.capture.connect.client.plan_datasets import PlanDatasets, plan_datasets, view_tables
from colline.capture.connect.client.plan_stripping import opened_plan, strip_plan
from colline.capture.connect.client.session_definitions import (
    SessionDefinitions,
    is_create_if_not_exists,
    is_drop_if_exists,
    is_without_run,
    sql_text,
)
from colline.capture.connect.proto_walk import Message, messages, type_name
from colline.capture.connect.recorded_plan import ANALYSIS_CONF, EarlierCommand, RecordedPlan, TableDescription
from colline.capture.connect.resolver.plan_rewriting import make_opaque
from colline.events.redact import pick_properties
from colline.naming.dataset import NameContext
from colline.naming.rules import identify_all
from colline.plan.source import Source, SourceKind
from colline.trace import ColumnLineage, DatasetRead, Statement, Write

_MAX_VIEW_DEPTH = 20
_MAX_COMMAND_RESULTS = 1000
_MAX_CHECKPOINTS = 1000
_MAX_VIEWS = 1000
_DISPLAYS = ("show_string", "html_string", "limit", "tail")
# properties that change the names of datasets
_NAMING_CONF = (
    "spark.sql.catalog.", "spark.sql.warehouse.dir", "spark.sql.catalogImplementation", "spark.sql.defaultCatalog",
    "spark.hadoop.fs.defaultFS", "spark.hadoop.hive.metastore.", "spark.hive.metastore.", "hive.metastore.",
    "spark.glue.", "spark.databricks.workspaceUrl", "spark.databricks.unityCatalog.enabled",
)  # fmt: skip


@dataclass(frozen=True)
class RecordedRequest:
    """A request: its plan for the resolver, what it reads and writes by name, and its SQL text.

    `opened` is the plan as a message; None if it cannot be read. `is_run` is false for a query as SQL text, which the
    server only parses; `has_no_run` is true if the request executes nothing of interest. `targets` and `reads` are full
    names of tables.
    """

    plan: RecordedPlan
    opened: Message | None
    named: Statement
    sql: str = ""
    is_run: bool = True
    has_no_run: bool = False
    targets: tuple[tuple[str, ...], ...] = ()
    reads: tuple[tuple[str, ...], ...] = ()


class PlanRecorder:
    """Records the requests of one session. Used by one thread."""

    def __init__(
        self,
        tables: DescribedTables,
        session: SessionDefinitions,
        names: NameContext,
        masking_functions: Iterable[str] = (),
    ) -> None:
        self.session = session
        self._tables = tables
        self._names = names
        self._masking_functions = tuple(masking_functions)
        self._checkpoints: dict[str, Message] = {}
        self._view_inputs: dict[str, tuple[DatasetRead, ...]] = {}
        self._command_results: OrderedDict[int, None] = OrderedDict()

    def record(self, plan: Message) -> RecordedRequest:
        """The record of a request's plan. Asks the server for tables that are not known yet."""
        opened = opened_plan(plan)
        text = sql_text(opened)
        has_no_run = is_without_run(text) or self._shows_result(opened)
        parts = messages(opened)
        if self._replace_checkpoints(parts) or self._replace_models(parts):
            parts = messages(opened)
        self._fill_schemas(parts)
        strip_plan(parts)
        datasets = plan_datasets(opened, parts)
        if is_create_if_not_exists(text) or _ignores_existing(opened):
            has_no_run = any(self._tables.is_known(self.session.full_name(each)) for each in datasets.target_tables)
        definitions = self.session.used_by(parts)
        inherited = [table for each in definitions for table in each.tables]
        described = self._describe_all([*datasets.tables, *datasets.target_tables, *inherited])
        if is_drop_if_exists(text) and described.keys().isdisjoint(self._keys(datasets.target_tables)):
            has_no_run = True
        named = self._named_statement(datasets, described)
        recorded = RecordedPlan(
            opened.SerializeToString(),
            earlier=tuple(EarlierCommand(each.command, each.namespace) for each in definitions),
            tables=tuple(described.values()),
            catalogs=tuple(sorted(self.session.catalogs)),
            namespace=self.session.namespace,
            conf={name: value for name, value in self.session.conf.items() if name.startswith(ANALYSIS_CONF)},
            working_directory=self._names.working_directory,
            naming=self._naming_conf(),
            databases=self._database_locations(),
            masking=self._masking_functions,
        )
        targets = tuple(self.session.full_name(parts) for parts in datasets.target_tables)
        reads = tuple(self.session.full_name(parts) for parts in datasets.tables if not self.session.is_defined(parts))
        is_run = datasets.is_run and not has_no_run
        return RecordedRequest(recorded, opened, named, text, is_run, has_no_run, targets, reads)

    def add_missing(self, recorded: RecordedPlan, missing: Iterable[tuple[str, ...]]) -> RecordedPlan | None:
        """The plan with tables that its analysis looked up; None if the server does not have any."""
        known = {_key(table.parts) for table in recorded.tables}
        wanted = [parts for parts in missing if _key(parts) not in known]
        found = self._describe_all(wanted)
        if not found:
            return None
        return msgspec.structs.replace(recorded, tables=(*recorded.tables, *found.values()))

    def finish(self, request: RecordedRequest, results: dict[str, Any]) -> None:
        """Note what a request that succeeded has changed: definitions, tables, checkpoints."""
        if request.opened is None:
            return
        if view := self.session.apply(request.opened, request.reads):
            self._note_view(view, request.named.inputs)
        self._note_command_result(results.get("sql_command_result"))
        if request.is_run and request.opened.WhichOneof("op_type") == "command":
            self._tables.forget_schemas()
        for parts in () if request.has_no_run else request.targets:
            self._tables.forget(parts)
        self._note_checkpoint(request.opened, results)

    def _note_view(self, view: str, inputs: tuple[DatasetRead, ...]) -> None:
        if len(self._view_inputs) >= _MAX_VIEWS:  # forget those that have been dropped
            self._view_inputs = {
                name: each for name, each in self._view_inputs.items() if self.session.is_defined((name,))
            }
        self._view_inputs[view] = inputs

    def _naming_conf(self) -> dict[str, str]:
        chosen = (name for name in self.session.conf if name.startswith(_NAMING_CONF))
        return pick_properties(self.session.conf, chosen)

    def _database_locations(self) -> dict[str, str]:
        """The locations of databases that have been needed for names so far."""
        known = self._names.databases
        return {name: location for name in tuple(known) if (location := known.get(name))}

    def _shows_result(self, plan: Message) -> bool:
        """Whether a plan only fetches the rows that a command has returned."""
        if plan.WhichOneof("op_type") != "root":
            return False
        relation = plan.root
        while relation.WhichOneof("rel_type") in _DISPLAYS:
            relation = getattr(relation, relation.WhichOneof("rel_type")).input
        is_local = relation.WhichOneof("rel_type") == "local_relation"
        return is_local and crc32(relation.local_relation.data) in self._command_results

    def _note_command_result(self, relation: Message | None) -> None:
        if relation is None or relation.WhichOneof("rel_type") != "local_relation":
            return
        self._command_results[crc32(relation.local_relation.data)] = None
        while len(self._command_results) > _MAX_COMMAND_RESULTS:
            self._command_results.popitem(last=False)

    def _note_checkpoint(self, plan: Message, results: dict[str, Any]) -> None:
        frame = results.get("checkpoint_command_result")
        key = getattr(getattr(frame, "_plan", None), "_relation_id", None)
        if key and plan.WhichOneof("op_type") == "command":
            self._checkpoints[key] = plan.command.checkpoint_command.relation
            while len(self._checkpoints) > _MAX_CHECKPOINTS:
                del self._checkpoints[next(iter(self._checkpoints))]

    def _replace_checkpoints(self, parts: Iterable[Message]) -> bool:
        """Put the query of a checkpoint in the place of the checkpoint. Returns whether there was one."""
        has_any = False
        for relation in parts:
            if type_name(relation) != "Relation" or relation.WhichOneof("rel_type") != "cached_remote_relation":
                continue
            known = self._checkpoints.get(relation.cached_remote_relation.relation_id)
            if known is not None:
                relation.CopyFrom(known)
                has_any = True
        return has_any

    def _fill_schemas(self, parts: Iterable[Message]) -> None:
        """Ask for the schemas of files and of local data on the server, which the plan does not contain."""
        for relation in parts:
            if type_name(relation) != "Relation":
                continue
            kind = relation.WhichOneof("rel_type")
            if kind == "read" and relation.read.HasField("data_source") and not relation.read.data_source.schema:
                relation.read.data_source.schema = self._tables.schema_json(relation)
            elif kind in ("cached_local_relation", "chunked_cached_local_relation"):
                schema = self._tables.schema_json(relation)
                if schema:
                    relation.Clear()
                    relation.local_relation.schema = schema

    def _replace_models(self, parts: Iterable[Message]) -> bool:
        """Put an opaque step with the model's columns in the place of a model. Returns whether there was one."""
        models = [
            each for each in parts if type_name(each) == "Relation" and each.WhichOneof("rel_type") == "ml_relation"
        ]
        transforms = [each for each in models if each.ml_relation.WhichOneof("ml_type") == "transform"]
        # all are asked for before any is replaced: a model may be the input of another one
        schemas = [self._tables.schema_json(relation) for relation in transforms]
        for relation, schema in zip(transforms, schemas, strict=True):
            if schema:
                inner = type(relation)()
                inner.CopyFrom(relation.ml_relation.transform.input)
                make_opaque(relation, inner, "model", dict.fromkeys(column_names(schema), "string"))
        return any(schemas)

    def _describe_all(self, names: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], TableDescription]:
        """The tables with these names, and those that their views read."""
        found: dict[tuple[str, ...], TableDescription] = {}
        wanted = [self.session.full_name(parts) for parts in names if not self.session.is_defined(parts)]
        for _ in range(_MAX_VIEW_DEPTH):
            new = [parts for parts in dict.fromkeys(wanted) if _key(parts) not in found]
            wanted = []
            for parts in new:
                table = self._tables.describe(parts)
                if table is not None:
                    found[_key(parts)] = table
                    wanted += [_in_namespace(each, table.view_namespace) for each in view_tables(table.view_text)]
            if not wanted:
                break
        return found

    def _named_statement(self, datasets: PlanDatasets, described: dict[tuple[str, ...], TableDescription]) -> Statement:
        """What the request reads and writes as far as names show. Tables that do not exist are not read."""
        sources = [_table_source(described[key]) for key in self._keys(datasets.tables) if key in described]
        sources += datasets.sources
        targets = [
            _table_source(described.get(_key(parts)) or TableDescription(parts, ""))
            for parts in (self.session.full_name(each) for each in datasets.target_tables)
            if datasets.creates or _key(parts) in described
        ]
        targets += datasets.targets
        reads = {named.name: DatasetRead(named.name, each) for each in sources for named in self._identify(each)}
        for parts in datasets.tables:
            if self.session.is_defined(parts):
                reads |= {found.name: found for found in self._view_inputs.get(parts[-1].lower(), ())}
        writes = {
            named.name: Write(named.name, each, ColumnLineage()) for each in targets for named in self._identify(each)
        }
        return Statement(tuple(writes.values()), tuple(reads.values()), has_columns=False)

    def _keys(self, names: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
        return [_key(self.session.full_name(parts)) for parts in names if not self.session.is_defined(parts)]

    def _identify(self, source: Source) -> Any:
        return identify_all(source, self._names)


def _key(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.lower() for part in parts)


def column_names(schema: str) -> list[str]:
    """The names of the columns in the JSON of a schema."""
    return [str(field["name"]) for field in msgspec.json.decode(schema)["fields"]]


def _ignores_existing(plan: Message) -> bool:
    """`df.write.mode("ignore")`"""
    write = plan.command.write_operation
    return plan.WhichOneof("op_type") == "command" and bool(write.mode == write.SAVE_MODE_IGNORE)


def _in_namespace(parts: tuple[str, ...], namespace: tuple[str, ...]) -> tuple[str, ...]:
    """The full name of a table in the text of a view."""
    if len(parts) == 1:
        return (*namespace, *parts)
    return parts if len(parts) > 2 else (*namespace[:1], *parts)


def _table_source(table: TableDescription) -> Source:
    if table.view_text:
        return Source(SourceKind.VIEW, table=table.parts)
    if "url" in table.options:
        return Source(SourceKind.JDBC, table.provider, table=table.parts, options=tuple(table.options.items()))
    paths = (table.location,) if table.location else ()
    if is_path(table.parts):
        return Source(SourceKind.PATH, table.provider, paths=paths)
    return Source(SourceKind.TABLE, table.provider, paths=paths, table=table.parts)
