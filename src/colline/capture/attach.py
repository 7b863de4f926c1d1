"""`colline.attach`: starts capture for a Spark application. Calls after the first return the same watch."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from colline.capture.analyze import application_context, plan_analyzer, tracing_context
from colline.capture.connect.connect_session import classic_session, is_connect, require_packages
from colline.capture.connect.operation_tags import add_captured_client
from colline.capture.error_boundary import ErrorBoundary
from colline.capture.hadoop_writer import files_for
from colline.capture.runs.application import Application, outer_parent
from colline.capture.runs.job_labels import tag_current_thread
from colline.capture.runs.run_tracker import RunTracker
from colline.capture.runs.write_statistics import commit_reader
from colline.capture.session_names import name_context, spark_conf
from colline.capture.watch import Watch, WatchStats
from colline.config import Settings, settings_from, transport_from
from colline.environment.extras import require_package
from colline.environment.platforms import find_platform, notebook_runtime
from colline.errors import CollineError
from colline.events.event_context import Engine, RunName
from colline.events.lineage_facets import LineageForm
from colline.events.redact import as_is, pick_properties, redact, redact_literals
from colline.events.run_ids import run_id
from colline.naming.dataset import NameContext
from colline.terminal_text import get_logger

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from colline.graph.lineage import Lineage

log = get_logger("colline")

_MAX_PLAIN_WORD_CHARS = 16
_REDACTION_CACHE_SIZE = 20_000

_lock = threading.Lock()
_watches: dict[str, Watch] = {}  # application id → its watch
_settings: dict[str, Mapping[str, Any]] = {}  # application id → the arguments of its watch


def attach(
    spark: SparkSession,
    transport: Any = None,
    namespace: str | None = None,
    *,
    lake: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Watch | InactiveWatch:
    """Capture the lineage of every query of the session's application from now on.

    `attach(spark, "/data/lake")` writes the events to a lake. Without a transport they stay in memory, and each write
    prints one line. A second call returns the same watch, and warns if its settings differ. `attach` never fails the
    job: an error is logged, and the returned watch has `is_attached = False`. It raises an error only where PySpark is
    not installed.
    """
    require_package("pyspark")
    if lake is not None and transport is None:
        transport = {"type": "lake", "base": os.fspath(lake)}
    given = {"transport": transport, "namespace": namespace, "lake": lake and os.fspath(lake), **settings}
    with _lock:
        return ErrorBoundary().run(
            "attaching", lambda: _attach(spark, given), lambda error: InactiveWatch(_describe(error))
        )


def _describe(error: Exception) -> str:
    return str(error) if isinstance(error, CollineError) else f"{type(error).__name__}: {error}"


def _attach(spark: SparkSession, given: Mapping[str, Any]) -> Watch | InactiveWatch:
    from colline.capture.listener import QueryListener, java_classes

    if is_connect(spark):
        require_packages()
        classic = classic_session(spark)
        if classic is None:
            return _attach_remote(spark, given)
        add_captured_client(spark.client)
        spark = classic
    java_classes(spark)  # raises for a session without a JVM, before its application id is read
    key = spark.sparkContext.applicationId
    _forget_detached()
    if key in _watches:
        _warn_about_ignored_settings(key, given)
        return _watches[key]
    conf = spark_conf(spark)
    settings = settings_from(given, spark=conf)
    if settings.disabled:
        return InactiveWatch("the setting `disabled` is on")
    application = _read_application(spark, conf, settings)
    transport = transport_from(settings, files_for(spark))
    analyze = plan_analyzer(application_context(spark, application.names, tuple(settings.masking_functions)))
    tracker = RunTracker(application, analyze, read_commits=commit_reader(spark))
    tag_current_thread()
    watch = Watch(QueryListener(spark), transport, tracker, owns_transport=transport is not settings.transport)
    _watches[key], _settings[key] = watch, given
    return watch


def _attach_remote(spark: SparkSession, given: Mapping[str, Any]) -> Watch | InactiveWatch:
    """Capture the requests of a Spark Connect client whose server is another process."""
    from colline.capture.connect.client.remote_capture import remote_names, remote_session

    key = f"{spark.client._session_id}@{spark.client._builder.endpoint}"
    _forget_detached()
    if key in _watches:
        _warn_about_ignored_settings(key, given)
        return _watches[key]
    session = remote_session(spark)
    settings = settings_from(given, spark=session.conf)
    if settings.disabled:
        return InactiveWatch("the setting `disabled` is on")
    if settings.connect_server:
        return InactiveWatch("the server captures the queries of its clients")
    name = settings.app_name or session.conf.get("spark.app.name") or "spark-connect"
    application = _application(name, session.version, remote_names(session), session.conf, settings=settings)
    transport = transport_from(settings)
    masking = tuple(settings.masking_functions)
    context = tracing_context(application.names, masking)
    tracker = RunTracker(application, analyze=lambda found: found)  # messages of this listener have statements
    analyze = plan_analyzer(context)
    listener = session.listener(
        spark,
        application.names,
        analyze,
        tracker.errors,
        removes_literals=settings.redact_literals,
        masking_functions=masking,
    )
    watch = Watch(listener, transport, tracker, owns_transport=transport is not settings.transport)
    _watches[key], _settings[key] = watch, given
    return watch


def _forget_detached() -> None:
    for known in [known for known, watch in _watches.items() if not watch.is_attached]:
        del _watches[known], _settings[known]


def _warn_about_ignored_settings(key: str, given: Mapping[str, Any]) -> None:
    """A second call with another lake would capture nothing there, so it must not pass in silence."""
    first = _settings[key]
    names = [name for name, value in given.items() if value not in (None, first.get(name))]
    if names:
        log.warning(
            "already attached with other settings; ignored: %s\nhint: call `detach()` on the watch, then attach again",
            ", ".join(names),
        )


def _read_application(spark: SparkSession, conf: Mapping[str, str], settings: Settings) -> Application:
    name = settings.app_name or spark.sparkContext.appName
    return _application(name, spark.version, name_context(spark, conf), conf, settings=settings)


def _application(
    name: str, version: str, names: NameContext, conf: Mapping[str, str], *, settings: Settings
) -> Application:
    platform = find_platform(conf, os.environ, notebook_runtime())
    return Application(
        run=RunName(settings.namespace, name, run_id()),
        engine=Engine(version),
        names=names,
        outer=outer_parent(settings.parent),
        job=settings.job or platform.job,
        form=_lineage_form(settings),
        job_tags=settings.tags.job,
        run_tags={**platform.tags, **settings.tags.run},
        properties=pick_properties(conf, settings.spark_properties),
        redact=_cache_redaction(redact),
        redact_sql=_cache_redaction(redact_literals) if settings.redact_literals else as_is,
    )


def _lineage_form(settings: Settings) -> LineageForm:
    if settings.lineage_facet != "old":
        return LineageForm.BOTH if settings.lineage_facet == "both" else LineageForm.JOB_FACET
    return LineageForm.LEGACY if settings.cartesian else LineageForm.COMPACT


def _cache_redaction(redaction: Callable[[str], str]) -> Callable[[str], str]:
    """The same redaction with a cache, because every event repeats the same names.

    A short identifier cannot be a secret, so most column names skip the redaction.
    """
    redact_once = lru_cache(maxsize=_REDACTION_CACHE_SIZE)(redaction)

    def redact_text(text: str) -> str:
        return text if len(text) <= _MAX_PLAIN_WORD_CHARS and text.isidentifier() else redact_once(text)

    return redact_text


class InactiveWatch:
    """The watch that `attach` returns when it cannot capture. It does nothing; `reason` explains why."""

    is_attached = False

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.events: list[dict[str, Any]] = []

    @property
    def stats(self) -> WatchStats:
        """All counters are 0."""
        return WatchStats()

    def lineage(self) -> Lineage:
        """Raises a CollineError with the reason."""
        raise CollineError(f"no lineage was captured: {self.reason}", hint="correct it, and call `attach` again")

    def flush(self, timeout: float = 10.0) -> bool:  # noqa: ARG002 - same signature as Watch.flush
        """True: there is nothing to deliver."""
        return True

    def detach(self, timeout: float = 5.0) -> None:
        """Do nothing."""

    def __repr__(self) -> str:
        return f"<not attached: {self.reason}>"
