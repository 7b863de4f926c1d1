"""Whole files through the Spark session's own Hadoop file system: its schemes, its credentials, no secrets of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

from colline.errors import TransportError
from colline.events.redact import redact
from colline.lake.location import scheme_of
from colline.transport.filesystem import Files, PeerGoneError, hidden

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

# An object appears whole when its stream is closed; a rename would be a copy.
CLOSE_IS_ATOMIC = frozenset({"s3", "s3a", "s3n", "gs", "oss", "cosn", "obs"})


class HadoopFiles:
    """Files at one address, reached from inside the driver's JVM."""

    def __init__(self, spark: SparkSession, base: str) -> None:
        self._atomic = scheme_of(base) in CLOSE_IS_ATOMIC
        try:
            self._path = spark._jvm.org.apache.hadoop.fs.Path
            configuration = spark._jsparkSession.sessionState().newHadoopConf()
            self._files = self._path(base).getFileSystem(configuration)
        except (Py4JError, AttributeError, TypeError) as error:
            raise TransportError(
                f"cannot write to {redact(base)}: {reason(error)}",
                hint="the Spark session must be live and know this kind of address and its credentials",
            ) from error

    def write_whole(self, path: str, data: bytes) -> None:
        """Written under a hidden name and renamed, or in one put where that is atomic."""
        try:
            if self._atomic:
                self._write(path, data)
            else:
                self._write(hidden(path), data)
                self._publish(hidden(path), path)
        except (Py4JNetworkError, ConnectionError) as error:  # the second: nobody listens any more
            raise PeerGoneError("the driver's JVM is gone") from error
        except Py4JJavaError as error:
            raise OSError(reason(error)) from error

    def _write(self, path: str, data: bytes) -> None:
        stream = self._files.create(self._path(path), True)
        try:
            stream.write(data)
        finally:
            stream.close()

    def _publish(self, part: str, path: str) -> None:
        """A rename that says no after an earlier try had worked is no failure: the name is ours alone."""
        if self._files.rename(self._path(part), self._path(path)):
            return
        there = self._files.exists(self._path(path))
        self._files.delete(self._path(part), False)
        if not there:
            raise OSError(f"cannot rename to {redact(path)}")


def files_for(spark: SparkSession) -> Callable[[str], Files]:
    """The session's files at any address."""
    return lambda base: HadoopFiles(spark, base)


def reason(error: BaseException) -> str:
    """One line of what the JVM said, without secrets."""
    java: Any = getattr(error, "java_exception", None)
    text = str(java.toString()) if java is not None else str(error)
    return redact(text.strip().splitlines()[0] if text.strip() else type(error).__name__)
