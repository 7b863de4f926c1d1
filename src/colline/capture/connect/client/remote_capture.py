"""Starts capture for a Spark Connect session whose server is another process."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from colline.capture.connect.client.call_lineage import CallLineage, Resolver
from colline.capture.connect.client.client_listener import ClientListener
from colline.capture.connect.client.described_tables import DescribedTables
from colline.capture.connect.client.plan_recorder import PlanRecorder
from colline.capture.connect.client.remote_streams import RemoteStreams
from colline.capture.connect.client.server_metadata import ServerMetadata, ServerRequestError
from colline.capture.connect.client.session_definitions import SESSION_CATALOG, SessionDefinitions, quoted_name
from colline.capture.connect.operation_tags import add_captured_client
from colline.capture.connect.resolver.resolver_client import SharedResolver, why_unavailable
from colline.capture.error_boundary import ErrorBoundary
from colline.errors import CollineError
from colline.naming.dataset import NameContext, context_from_conf
from colline.trace import Statement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CATALOG = re.compile(r"spark\.sql\.catalog\.([^.]+)")
_DEFAULT_WAREHOUSE = "/spark-warehouse"


@dataclass(frozen=True)
class RemoteSession:
    """What attaching reads from a server: its version and the properties of the session."""

    server: ServerMetadata
    version: str
    conf: Mapping[str, str]

    def listener(
        self,
        spark: SparkSession,
        names: NameContext,
        analyze: Callable[[Mapping[str, Any]], Statement],
        errors: ErrorBoundary,
        *,
        removes_literals: bool,
        masking_functions: tuple[str, ...],
    ) -> ClientListener:
        """A listener that has wrapped the session's client."""
        why = why_unavailable()
        resolver: Resolver | str = why or SharedResolver()
        catalogs = {found[1] for name in self.conf if (found := _CATALOG.match(name))}
        session = SessionDefinitions(_current_namespace(self.server, self.conf), catalogs, self.conf)
        recorder = PlanRecorder(DescribedTables(self.server, self.conf), session, names, masking_functions)
        lineage = CallLineage(resolver, recorder, analyze, errors, removes_literals=removes_literals)
        add_captured_client(spark.client)
        return ClientListener(spark.client, recorder, RemoteStreams(self.server), lineage, errors)


def remote_session(spark: SparkSession) -> RemoteSession:
    """The session as its server describes it. Raises an error if the server does not answer."""
    server = ServerMetadata(spark.client)
    try:
        return RemoteSession(server, server.spark_version(), server.settings())
    except ServerRequestError as error:
        raise CollineError(
            f"the Spark Connect server did not answer: {error.message}", hint="check the address and try again"
        ) from error


def remote_names(session: RemoteSession) -> NameContext:
    """Everything that dataset names depend on in a remote session."""
    context = context_from_conf(session.conf)
    return replace(
        context,
        working_directory=_working_directory(session),
        databases=RemoteDatabases(session.server),
    )


def _working_directory(session: RemoteSession) -> str:
    """The folder of relative paths, if the default warehouse is in it; otherwise a request to the server decides."""
    warehouse = session.conf.get("spark.sql.warehouse.dir", "")
    if warehouse.endswith(_DEFAULT_WAREHOUSE):
        return re.sub(r"^file:/*", "/", warehouse.removesuffix(_DEFAULT_WAREHOUSE)) or "/"
    try:
        rows = session.server.query_rows("select java_method('java.lang.System', 'getProperty', 'user.dir') as folder")
    except ServerRequestError:
        return ""
    return str(rows[0]["folder"] or "") if rows else ""


def _current_namespace(server: ServerMetadata, conf: Mapping[str, str]) -> tuple[str, ...]:
    default = conf.get("spark.sql.defaultCatalog") or SESSION_CATALOG
    try:
        rows = server.query_rows("select current_catalog() as c, current_database() as d")
    except ServerRequestError:
        return (default, "default")
    return (str(rows[0]["c"]), *str(rows[0]["d"]).split(".")) if rows else (default, "default")


class RemoteDatabases(Mapping[str, str]):
    """The location of each database of the session catalog, asked on first use."""

    def __init__(self, server: ServerMetadata) -> None:
        self._server = server
        self._known: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._known:
            try:
                rows = self._server.command_rows(f"DESCRIBE NAMESPACE {quoted_name((SESSION_CATALOG, name))}")
            except ServerRequestError as error:
                raise KeyError(name) from error
            found = {str(row["info_name"]).lower(): str(row["info_value"] or "") for row in rows}
            self._known[name] = found.get("location", "")
        if not self._known[name]:
            raise KeyError(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
