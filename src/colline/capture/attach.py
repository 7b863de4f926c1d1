"""`colline.attach`: one watch per application, however often and from whichever thread it is asked for."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from colline.capture.analyze import analyser, context_of
from colline.capture.application import Application, notebook_name, outer_parent
from colline.capture.error_boundary import Containment
from colline.capture.hadoop_writer import files_for
from colline.capture.job_labels import mark_this_thread
from colline.capture.run_tracker import Runs
from colline.capture.session_names import name_context, spark_conf
from colline.capture.watch import Watch, WatchStats
from colline.capture.write_statistics import commits_of
from colline.config import Settings, settings_from, transport_from
from colline.errors import CollineError
from colline.events.event_builder import Engine, RunName, as_is
from colline.events.lineage_facets import LineageForm
from colline.events.redact import pick_properties, redact, redact_literals
from colline.events.run_ids import run_id

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("colline")

_lock = threading.Lock()
_watches: dict[str, Watch] = {}


def attach(
    spark: SparkSession, transport: Any = None, namespace: str | None = None, **settings: Any
) -> Watch | Unattached:
    """A watch over the session's application: every query from now on becomes lineage events.

    Asked twice, it is the same watch. It never fails the job: what keeps it from watching is logged, and the watch that
    comes back says `is_attached = False`.
    """
    call = {"transport": transport, "namespace": namespace, **settings}
    with _lock:
        return Containment().run("attaching", lambda: _attached(spark, call), lambda error: Unattached(_reason(error)))


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, CollineError) else f"{type(error).__name__}: {error}"


def _attached(spark: SparkSession, call: Mapping[str, Any]) -> Watch | Unattached:
    from colline.capture.listener import Tap, classes

    classes(spark)  # a session without a JVM has no application to ask for
    key = spark.sparkContext.applicationId
    for known in [known for known, watch in _watches.items() if not watch.is_attached]:
        del _watches[known]
    if key in _watches:
        _say_if_changed(call)
        return _watches[key]
    conf = spark_conf(spark)
    settings = settings_from(call, spark=conf)
    if settings.disabled:
        return Unattached("the setting `disabled` is on")
    application = _application(spark, conf, settings)
    carrier = transport_from(settings, files_for(spark))
    analyse = analyser(context_of(spark, application.names, tuple(settings.masking_functions)))
    runs = Runs(application, analyse, committed=commits_of(spark))
    mark_this_thread()
    watch = Watch(Tap(spark), carrier, runs, owns_transport=carrier is not settings.transport)
    _watches[key] = watch
    return watch


def _say_if_changed(call: Mapping[str, Any]) -> None:
    given = [name for name, value in call.items() if value is not None]
    if given:
        log.info("already attached, these settings change nothing: %s\nhint: detach first", ", ".join(given))


def _application(spark: SparkSession, conf: Mapping[str, str], settings: Settings) -> Application:
    name = settings.app_name or spark.sparkContext.appName
    return Application(
        run=RunName(settings.namespace, name, run_id()),
        engine=Engine(spark.version),
        names=name_context(spark, conf),
        outer=outer_parent(settings.parent),
        job=settings.job or notebook_name(conf),
        form=_form(settings),
        job_tags=settings.tags.job,
        run_tags=settings.tags.run,
        properties=pick_properties(conf, settings.spark_properties),
        redact=_remembering(redact),
        redact_sql=_remembering(redact_literals) if settings.redact_literals else as_is,
    )


def _form(settings: Settings) -> LineageForm:
    if settings.lineage_facet:
        return LineageForm.JOB_FACET
    return LineageForm.LEGACY if settings.cartesian else LineageForm.COMPACT


_SHORT = 16


def _remembering(redaction: Callable[[str], str]) -> Callable[[str], str]:
    """The same redaction, which looks at a text once: names come again with every event.

    A short plain word is no secret's shape, so most column names need not be looked at.
    """
    looked = lru_cache(maxsize=20_000)(redaction)

    def redacted(text: str) -> str:
        return text if len(text) <= _SHORT and text.isidentifier() else looked(text)

    return redacted


class Unattached:
    """What `attach` gives where nothing can be watched: it does nothing, and says why."""

    is_attached = False

    def __init__(self, why: str) -> None:
        self.why = why
        self.events: list[dict[str, Any]] = []

    @property
    def stats(self) -> WatchStats:
        """Nothing was seen."""
        return WatchStats()

    def flush(self, timeout: float = 10.0) -> bool:  # noqa: ARG002 - the shape of a watch
        """True: nothing waits."""
        return True

    def detach(self, timeout: float = 5.0) -> None:
        """Nothing to stop."""

    def __repr__(self) -> str:
        return f"<not attached: {self.why}>"
