"""Starts Spark's Connect server in this process with capture attached, so that queries of every client are captured."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

from colline.capture.attach import attach
from colline.capture.connect.connect_session import server_port
from colline.capture.watch import Watch
from colline.environment.listen_address import bound_socket
from colline.environment.spark_session import connect_server_profile, start_session
from colline.errors import CollineError, SettingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CHECK_SECONDS = 1.0
_NAME = "Spark Connect server"


@dataclass(frozen=True, slots=True)
class CapturedServer:
    """A running server and the watch on its application."""

    spark: SparkSession
    watch: Watch
    port: int

    def wait(self, stop: threading.Event) -> None:
        """Return when `stop` is set. Raises an error if Spark ends before."""
        while not stop.wait(_CHECK_SECONDS):
            if not self._is_running():
                raise CollineError("Spark has ended", hint="see its log above; clients have lost their sessions")

    def _is_running(self) -> bool:
        from py4j.protocol import Py4JError

        try:
            return not self.spark.sparkContext._jsc.sc().isStopped()
        except (Py4JError, OSError, AttributeError):  # the JVM is gone, or the context has been cleared
            return False


@contextmanager
def captured_server(
    host: str, port: int, conf: Mapping[str, str], settings_for: Callable[[SparkSession], Mapping[str, Any]]
) -> Iterator[CapturedServer]:
    """A server on this address (port 0 picks one). At the end of the block, all events are delivered and Spark stops.

    `conf` has Spark properties; `settings_for` returns the settings of colline for the session.
    """
    bound_socket(host, port).close()  # Spark would start for seconds and then print a page of Java
    spark = start_session(conf.get("spark.app.name", _NAME), connect_server_profile(host, port, conf))
    try:
        watch = attach(spark, **settings_for(spark))
        if not isinstance(watch, Watch):
            raise SettingError(f"the server cannot be captured: {watch.reason}", hint="correct this setting")
        yield CapturedServer(spark, watch, server_port(spark))
        watch.detach()
    finally:
        spark.stop()


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set inside the block."""
    stop = threading.Event()

    def handle(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
