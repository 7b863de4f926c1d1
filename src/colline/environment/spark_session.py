"""Starts local Spark sessions. A profile holds the settings for each use: the pipeline, `colline explain`, the demo."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colline.environment.jar_downloads import one_download_at_a_time
from colline.environment.java import SHORT_LIVED_JVM, collector_option, ensure_java, stderr_options
from colline.environment.jvm_output import hide_startup_output, redirect_output
from colline.errors import CollineError, LakeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Their errors are also raised in Python, where colline reports them; the log would add a page of Java for each.
STREAM_LOGGER = "org.apache.spark.sql.execution.streaming"
NOISY_LOGGERS = (
    STREAM_LOGGER,
    "org.apache.spark.executor.Executor",
    "org.apache.spark.scheduler.TaskSetManager",
    "org.apache.spark.sql.delta.files.DeltaFileFormatWriter",
    "org.apache.spark.util.Utils",
)

_LOCAL_DRIVER = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


@dataclass(frozen=True)
class SessionProfile:
    """The settings of a local session for one use.

    The JVM's output goes to `log_file` as long as it runs. Without a file, it goes to stderr once Spark has started.
    """

    master: str
    settings: Mapping[str, str]
    java_options: tuple[str, ...]
    needs_delta: bool = True
    adds_delta: bool = True
    log_file: Path | None = None
    log_level: str = "OFF"
    silent_loggers: tuple[str, ...] = ()


def pipeline_profile(*, short_lived: bool = False, packages: Sequence[str] = ()) -> SessionProfile:
    """A session that writes a lake on this machine; `short_lived` for a JVM with little to do.

    `packages` are Maven coordinates, or paths of jars.
    """
    jars = [package for package in packages if package.endswith(".jar")]
    coordinates = [package for package in packages if package not in jars]
    settings = {
        **_LOCAL_DRIVER,
        **_DELTA,
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.shuffle.partitions": "4",
        # Spark keeps finished queries for its web UI, which is off; a batch has 70 queries with plans of up to 40 KB
        "spark.sql.ui.retainedExecutions": "20",
        "spark.ui.retainedJobs": "50",
        "spark.ui.retainedStages": "50",
        "spark.ui.retainedTasks": "500",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": f"{_driver_gigabytes()}g",
        **({"spark.jars.packages": ",".join(coordinates)} if coordinates else {}),
        **({"spark.jars": ",".join(jars)} if jars else {}),
    }
    # an ingest takes 14 % less time than with the JVM's default collector; longer pauses do not matter here
    java_options = (collector_option("Parallel"), stderr_options(version("pyspark")))
    return SessionProfile(
        master=os.environ.get("COLLINE_SPARK_MASTER", "local[*]"),
        settings=settings,
        java_options=(*java_options, SHORT_LIVED_JVM) if short_lived else java_options,
        log_level="ERROR",
        silent_loggers=NOISY_LOGGERS,
    )


def explain_profile(folder: Path, *, uses_delta: bool = True) -> SessionProfile:
    """A session that analyzes SQL on empty tables in `folder`, with Delta if it is used and installed."""
    delta = {
        **_DELTA,
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.sources.default": "delta",  # MERGE and UPDATE need a table format that supports them
    }
    return SessionProfile(
        master="local[1]",
        settings={
            **_LOCAL_DRIVER,
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            **(delta if uses_delta and _has_delta() else {"spark.sql.sources.default": "parquet"}),
            "spark.sql.legacy.createHiveTableByDefault": "false",
        },
        java_options=(_derby_home(folder), *_small_jvm(), stderr_options(version("pyspark"))),
        needs_delta=False,
        adds_delta=uses_delta,
        log_file=folder / "spark.log",
    )


def resolver_profile(folder: Path) -> SessionProfile:
    """A session that only analyzes plans, with all its files in `folder`."""
    deep_plans = "-Xss64m"  # every nested expression of a plan is a few frames of Spark's analyzer
    return SessionProfile(
        master="local[1]",
        settings={
            **_LOCAL_DRIVER,
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.local.dir": str(folder),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.shuffle.partitions": "1",
        },
        java_options=(deep_plans, SHORT_LIVED_JVM, collector_option("Serial")),
        needs_delta=False,
        adds_delta=False,
        log_file=folder / "spark.log",
    )


def connect_server_profile(host: str, port: int, settings: Mapping[str, str]) -> SessionProfile:
    """A session that serves Spark Connect on this address, with Delta if installed; `settings` have precedence."""
    packages = settings.get("spark.jars.packages", "")
    if version("pyspark").startswith("3."):  # later versions include the server
        packages = ",".join(filter(None, (packages, f"org.apache.spark:spark-connect_2.12:{version('pyspark')}")))
    plugins = ",".join(
        filter(None, (settings.get("spark.plugins", ""), "org.apache.spark.sql.connect.SparkConnectPlugin"))
    )
    uses_delta = _has_delta() and not settings.keys() & _DELTA.keys()
    return SessionProfile(
        master=settings.get("spark.master") or os.environ.get("COLLINE_SPARK_MASTER", "local[*]"),
        settings={
            **(_DELTA if uses_delta else {}),
            "spark.ui.showConsoleProgress": "false",
            "spark.connect.grpc.binding.address": host,
            "spark.connect.grpc.binding.port": str(port),
            "spark.colline.connect_server": "true",
            **settings,
            "spark.plugins": plugins,
            **({"spark.jars.packages": packages} if packages else {}),
        },
        java_options=(settings.get("spark.driver.extraJavaOptions", ""), stderr_options(version("pyspark"))),
        needs_delta=False,
        log_level="WARN",
    )


def demo_profile(folder: Path, event_log: Path | None) -> SessionProfile:
    """A session that runs the demo's jobs on tables in `folder`, with or without a Spark event log."""
    history = (
        {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": event_log.resolve().as_uri(),
            "spark.eventLog.compress": "false",
        }
        if event_log
        else {"spark.eventLog.enabled": "false"}
    )
    return SessionProfile(
        master="local[2]",
        settings={
            **_LOCAL_DRIVER,
            **_DELTA,
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.default.parallelism": "2",
            "spark.sql.shuffle.partitions": "2",
            "spark.databricks.delta.snapshotPartitions": "2",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.sql.adaptive.enabled": "false",
            **history,
        },
        java_options=(_derby_home(folder), *_small_jvm()),
        log_file=folder / "spark.log",
    )


def session_for(name: str = "colline", *, short_lived: bool = False, packages: Sequence[str] = ()) -> SparkSession:
    """The session of this process, or a new one with the pipeline's profile."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    # a thread that Python started has no active session, but must not change the settings of the one there is
    if SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    return start_session(name, pipeline_profile(short_lived=short_lived, packages=packages))


def require_classic(spark: SparkSession) -> SparkSession:
    """The session; raises if it is one of Spark Connect, which has no JVM for Delta's and Hadoop's APIs."""
    if not hasattr(spark, "_jsparkSession"):
        raise LakeError(
            "a lake cannot be written over Spark Connect, because the session has no JVM in this process",
            hint="use compute with a Spark driver of its own (on Databricks a dedicated cluster), or `colline ingest`",
        )
    return spark


def start_session(name: str, profile: SessionProfile) -> SparkSession:
    """A new local session for an application of that name."""
    from pyspark.sql import SparkSession

    ensure_java(version("pyspark"))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(profile.master).appName(name)
    java_options = {"spark.driver.extraJavaOptions": " ".join(option for option in profile.java_options if option)}
    for key, value in {**profile.settings, **java_options}.items():
        builder = builder.config(key, value)
    packages = [name for name in profile.settings.get("spark.jars.packages", "").split(",") if name]
    if profile.adds_delta:
        builder = _with_delta(builder, packages, is_required=profile.needs_delta)
    if profile.log_file is None and sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("starting Spark; the first start on a computer downloads its jars\n")
    output = redirect_output(profile.log_file) if profile.log_file else hide_startup_output()
    downloads = one_download_at_a_time([*packages, *(delta_packages() if profile.adds_delta else ())])
    with _report_packages(packages), downloads, output:
        session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel(profile.log_level)
    silence(session, *profile.silent_loggers)
    return session


@contextmanager
def _report_packages(packages: Sequence[str]) -> Iterator[None]:
    """Name the setting in the error of a session that did not start with the connector for Kafka."""
    try:
        yield
    except CollineError as error:
        if not any("kafka" in package for package in packages):
            raise
        hint = "the setting `kafka.package` names other coordinates, or the paths of jars"
        raise LakeError(f"{error.message}; needed: {', '.join(packages)}", hint=hint) from error


def delta_packages() -> list[str]:
    """The package of Delta that PySpark downloads, if delta-spark is installed."""
    return [f"io.delta:delta-spark_*:{version('delta-spark')}"] if _has_delta() else []


def silence(spark: SparkSession, *loggers: str) -> None:
    """Turn off these loggers of the JVM. Does nothing where Spark does not log with Log4j 2."""
    from py4j.protocol import Py4JError

    log4j = spark.sparkContext._jvm.org.apache.logging.log4j
    with suppress(TypeError, Py4JError):
        for name in loggers:
            log4j.core.config.Configurator.setLevel(name, log4j.Level.OFF)


def _with_delta(builder: Any, packages: list[str], *, is_required: bool) -> Any:
    """The builder with Delta's jars next to these packages, if the delta-spark package is installed."""
    if _has_delta():
        from delta import configure_spark_with_delta_pip

        return configure_spark_with_delta_pip(builder, extra_packages=packages)
    if is_required:
        raise LakeError("delta-spark is not installed", hint="pip install 'colline[spark]'")
    return builder


def _has_delta() -> bool:
    return find_spec("delta") is not None


def _derby_home(folder: Path) -> str:
    """Keeps the files of Spark's embedded metastore out of the working directory."""
    escaped = str(folder).replace("\\", "\\\\").replace('"', '\\"')
    return f'"-Dderby.system.home={escaped}"'  # Spark splits the options as a shell does


def _small_jvm() -> tuple[str, str]:
    """Options for small data and a short run."""
    return SHORT_LIVED_JVM, collector_option("Serial")


def _driver_gigabytes() -> int:
    """A sixth of the machine's memory, between 1 and 16 GB."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 2
    return max(1, min(16, total // (6 * 1024**3)))
