"""Writes files through the Spark session's Hadoop file systems, with the session's own schemes and credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from colline.errors import TransportError
from colline.events.redact import redact
from colline.lake.location import scheme_of
from colline.transport.filesystem import FileSystem, hidden_name
from colline.transport.interfaces import DestinationLostError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

# object stores: an object becomes visible, complete, when its stream is closed; a rename would copy it
CLOSE_IS_ATOMIC = frozenset({"s3", "s3a", "s3n", "gs", "oss", "cosn", "obs"})


class HadoopFileWriter:
    """Writes files below one base path, from inside the driver's JVM."""

    def __init__(self, spark: SparkSession, base: str) -> None:
        from py4j.protocol import Py4JError

        self._close_is_atomic = scheme_of(base) in CLOSE_IS_ATOMIC
        try:
            self._path = spark._jvm.org.apache.hadoop.fs.Path
            configuration = spark._jsparkSession.sessionState().newHadoopConf()
            self._files = self._path(base).getFileSystem(configuration)
        except (Py4JError, AttributeError, TypeError) as error:
            raise TransportError(
                f"cannot write to {redact(base)}: {error_line(error)}",
                hint="check that the session is running and has the file system and credentials for this address",
            ) from error

    def write_atomically(self, path: str, data: bytes) -> None:
        """Write a file so that readers see it only when it is complete: under a hidden name, then renamed."""
        from py4j.protocol import Py4JJavaError, Py4JNetworkError

        try:
            if self._close_is_atomic:
                self._write(path, data)
            else:
                self._write(hidden_name(path), data)
                self._publish(hidden_name(path), path)
        except (Py4JNetworkError, ConnectionError) as error:  # ConnectionError: the JVM no longer accepts connections
            raise DestinationLostError("the driver's JVM has ended") from error
        except Py4JJavaError as error:
            raise OSError(error_line(error)) from error

    def _write(self, path: str, data: bytes) -> None:
        stream = self._files.create(self._path(path), True)
        try:
            stream.write(data)
        finally:
            stream.close()

    def _publish(self, part: str, path: str) -> None:
        """Rename the hidden file. If the target exists, an earlier attempt succeeded: no other file has this name."""
        if self._files.rename(self._path(part), self._path(path)):
            return
        exists = self._files.exists(self._path(path))
        self._files.delete(self._path(part), False)
        if not exists:
            raise OSError(f"cannot rename to {redact(path)}")


def files_for(spark: SparkSession) -> Callable[[str], FileSystem]:
    """A function that opens any base path through the session."""
    return lambda base: HadoopFileWriter(spark, base)


def error_line(error: BaseException) -> str:
    """The first line of a Java error, without secrets."""
    java: Any = getattr(error, "java_exception", None)
    text = str(java.toString()) if java is not None else str(error)
    return redact(text.strip().splitlines()[0] if text.strip() else type(error).__name__)
