"""Recognizes Spark Connect sessions, and finds the classic session that serves one of them in this process."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from colline.errors import CollineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CONNECT_PACKAGE = "pyspark.sql.connect."
_PACKAGES = ("grpc", "grpc_status", "google.rpc", "google.protobuf", "zstandard", "sqlglot")


class MissingPackageError(CollineError):
    """A Python package that Spark Connect needs is not installed."""


def require_packages() -> None:
    """Raise an error that names the extra unless all packages of the extra `connect` are installed."""
    for name in _PACKAGES:
        try:
            import_module(name)
        except ImportError as error:
            raise MissingPackageError(
                f"Spark Connect needs the Python package {error.name}", hint="pip install 'colline[connect]'"
            ) from error


def is_connect(value: Any) -> bool:
    """Whether a session or DataFrame belongs to Spark Connect. databricks-connect uses the same classes."""
    return any(base.__module__.startswith(_CONNECT_PACKAGE) for base in type(value).__mro__)


def classic_session(spark: SparkSession) -> SparkSession | None:
    """The classic session whose JVM serves this Connect session; None if the server is another process."""
    from pyspark.sql.session import SparkSession as ClassicSession

    classic: SparkSession | None = ClassicSession._instantiatedSession
    jvm = classic._jvm if classic is not None else None
    return classic if jvm is not None and _is_served_by(jvm, spark) else None


def session_holder(jvm: Any, client: Any) -> Any:
    """The server's own object for a client's session (Java); None if the server in this JVM has no such session."""
    from py4j.protocol import Py4JError

    service = _service(jvm)
    if service is None:
        return None
    user, session = client._user_id or "", client._session_id
    with suppress(Py4JError, TypeError):
        key = jvm.org.apache.spark.sql.connect.service.SessionKey(user, session)
        found = service.sessionManager().getIsolatedSessionIfPresent(key)
        return found.get() if found.isDefined() else None
    with suppress(Py4JError, TypeError):  # Spark 3.5 has no session manager
        return service.getIsolatedSession(user, session)
    return None


def server_port(classic: SparkSession) -> int:
    """The port of the Connect server in the JVM of a classic session; 0 if it runs no server."""
    service = _service(classic._jvm)
    return int(service.localPort()) if service is not None else 0


def _is_served_by(jvm: Any, spark: SparkSession) -> bool:
    if session_holder(jvm, spark.client) is not None:
        return True
    if not _has_port_of(jvm, spark.client):
        return False
    # the server creates its object with the first request of a session
    return bool(spark.version) and session_holder(jvm, spark.client) is not None


def _has_port_of(jvm: Any, client: Any) -> bool:
    """Whether the server in this JVM listens on the port that the client connects to."""
    from py4j.protocol import Py4JError

    service = _service(jvm)
    try:
        return service is not None and str(client._builder.endpoint).endswith(f":{service.localPort()}")
    except Py4JError:  # the server has been stopped
        return False


def _service(jvm: Any) -> Any:
    """The Connect server in this JVM, a Scala object; None if Spark has no Connect or has not started it."""
    from py4j.protocol import Py4JError

    try:
        service = getattr(getattr(jvm.org.apache.spark.sql.connect.service, "SparkConnectService$"), "MODULE$")
        return service if service.server() is not None else None
    except (Py4JError, AttributeError, TypeError):
        return None
