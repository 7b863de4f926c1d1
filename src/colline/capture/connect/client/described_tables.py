"""The tables and files of a server as its plans need them: asked once, then kept for the session."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from colline.capture.connect.client.server_metadata import ServerMetadata, ServerRequestError
from colline.capture.connect.client.session_definitions import name_parts, quoted_name
from colline.capture.connect.proto_walk import Message
from colline.capture.connect.recorded_plan import TableDescription
from colline.events.redact import redact

_MAX_KEPT = 5000
_DETAILS = "# Detailed"
_PARTITIONS = "# Partition Information"
_FILE_FORMATS = ("parquet", "orc", "csv", "json", "text", "avro", "xml", "delta", "iceberg", "binaryfile")
_JDBC_CATALOG = ".JDBCTableCatalog"
_BACKTICK_DATABASES = ("jdbc:mysql:", "jdbc:mariadb:", "jdbc:databricks:")
_VIEW_TYPES = ("VIEW", "PERMANENT")


class DescribedTables:
    """The descriptions of one session."""

    def __init__(self, server: ServerMetadata, conf: Mapping[str, str] = MappingProxyType({})) -> None:
        self._server = server
        self._conf = conf
        self._tables: OrderedDict[tuple[str, ...], TableDescription] = OrderedDict()
        self._schemas: OrderedDict[bytes, str] = OrderedDict()

    def describe(self, parts: tuple[str, ...]) -> TableDescription | None:
        """The table or permanent view with this full name; None without one, or without an answer of the server."""
        key = _key(parts)
        if key not in self._tables:
            try:
                self._keep(key, self._request(parts))
            except ServerRequestError:
                return None
        return self._tables[key]

    def is_known(self, parts: tuple[str, ...]) -> bool:
        """Whether the table has been described before, so that it existed before the current request."""
        return _key(parts) in self._tables

    def forget(self, parts: tuple[str, ...]) -> None:
        """Forget a table that a request has changed."""
        self._tables.pop(_key(parts), None)

    def schema_json(self, relation: Message) -> str:
        """The JSON of the schema that the server gives a relation; empty if it gives none."""
        key = relation.SerializeToString()
        if key not in self._schemas:
            try:
                self._schemas[key] = self._server.schema_json(relation)
            except ServerRequestError:
                return ""
            while len(self._schemas) > _MAX_KEPT:
                self._schemas.popitem(last=False)
        return self._schemas[key]

    def forget_schemas(self) -> None:
        """Forget the schemas of files, because a request has written files."""
        self._schemas.clear()

    def _keep(self, key: tuple[str, ...], table: TableDescription) -> None:
        self._tables[key] = table
        while len(self._tables) > _MAX_KEPT:
            self._tables.popitem(last=False)

    def _request(self, parts: tuple[str, ...]) -> TableDescription:
        from pyspark.sql.connect.proto import relations_pb2

        if is_path(parts):  # it has no catalog, although the name was completed with the current one
            relation = relations_pb2.Relation()
            relation.read.named_table.unparsed_identifier = quoted_name(parts[-2:])
            return TableDescription(parts, self._server.schema_json(relation), parts[-2].lower(), parts[-1])
        relation = relations_pb2.Relation()
        relation.read.named_table.unparsed_identifier = quoted_name(parts)
        schema = self._server.schema_json(relation)
        if address := jdbc_address(parts[0], self._conf):
            quote = "`" if address.startswith(_BACKTICK_DATABASES) else '"'
            options = {"url": redact(address), "dbtable": ".".join(f"{quote}{part}{quote}" for part in parts[1:])}
            return TableDescription(parts, schema, "jdbc", options=options)
        return table_description(
            parts, schema, self._server.command_rows(f"DESCRIBE TABLE EXTENDED {quoted_name(parts)}")
        )


def _key(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.lower() for part in parts)


def is_path(parts: tuple[str, ...]) -> bool:
    """Whether a name is a file in SQL: ``parquet.`/data/orders` ``."""
    return len(parts) >= 2 and parts[-2].lower() in _FILE_FORMATS and "/" in parts[-1]


def jdbc_address(catalog: str, conf: Mapping[str, str]) -> str:
    """The address of the database behind a catalog of Spark's JDBC source; empty for any other catalog."""
    name = f"spark.sql.catalog.{catalog}"
    return conf.get(f"{name}.url", "") if conf.get(name, "").endswith(_JDBC_CATALOG) else ""


def table_description(parts: tuple[str, ...], schema: str, rows: list[dict[str, Any]]) -> TableDescription:
    """The table from the rows of DESCRIBE TABLE EXTENDED."""
    start = next((index for index, row in enumerate(rows) if str(row["col_name"]).startswith(_DETAILS)), len(rows))
    details = {str(row["col_name"]): str(row["data_type"] or "") for row in rows[start:]}
    if not details.get("Type", "").upper().startswith(_VIEW_TYPES):
        location, provider = details.get("Location", ""), details.get("Provider", "").lower()
        return TableDescription(parts, schema, provider, location, partitions=_partitions(rows[:start]))
    return TableDescription(
        parts,
        schema,
        view_text=details.get("View Text", ""),
        view_columns=_parse_list(details.get("View Query Output Columns", "")),
        view_namespace=name_parts(details.get("View Catalog and Namespace", "")),
    )


def _partitions(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """The columns below `# Partition Information`; transforms such as `bucket(4, id)` are left out."""
    names = [str(row["col_name"]) for row in rows]
    if _PARTITIONS not in names:
        return ()
    columns = set(names[: names.index(_PARTITIONS)])
    return tuple(name for name in names[names.index(_PARTITIONS) + 1 :] if name in columns and name)


def _parse_list(text: str) -> tuple[str, ...]:
    """`[a, b]` → a, b"""
    found = re.fullmatch(r"\[(.*)\]", text.strip(), flags=re.DOTALL)
    if not found or not found[1]:
        return ()
    return tuple(part.strip().strip("`") for part in found[1].split(", "))
