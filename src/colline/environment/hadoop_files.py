"""Small files (locks, markers, logs) on any file system that the Spark session can reach, through Hadoop's API."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class HadoopFiles:
    """The Hadoop file systems of a Spark session."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._conf: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._gateway: Any = spark.sparkContext._gateway

    def _resolve(self, path: str) -> tuple[Any, Any]:
        """The Java file system and path object of a path."""
        resolved = self._jvm.org.apache.hadoop.fs.Path(path)
        return resolved.getFileSystem(self._conf), resolved

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder at this path."""
        system, resolved = self._resolve(path)
        return bool(system.exists(resolved))

    def absolute_path(self, path: str) -> str:
        """The path with its scheme, equal for every spelling: Hadoop itself distinguishes `file:/x` from `/x`."""
        system, resolved = self._resolve(path)
        return re.sub("^file:/+", "file:///", str(system.makeQualified(resolved).toUri().toString()))

    def decode_uri(self, uri: str) -> str:
        """The path of a file whose URI is escaped, as in Spark's `_metadata.file_path`."""
        return str(self._jvm.org.apache.hadoop.fs.Path(self._jvm.java.net.URI(uri)).toString())

    def write(self, path: str, text: str) -> None:
        """Write a small file, replacing an existing one."""
        system, resolved = self._resolve(path)
        self._write(system.create(resolved, True), text)

    def create(self, path: str, text: str) -> bool:
        """Write a small file unless it exists; False if it does."""
        system, resolved = self._resolve(path)
        try:
            stream = system.create(resolved, False)
        except Exception as error:  # py4j wraps every Java error; only this one is expected
            if _java_class(error).endswith("FileAlreadyExistsException"):
                return False
            raise
        self._write(stream, text)
        return True

    @staticmethod
    def _write(stream: Any, text: str) -> None:
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def read(self, path: str) -> str | None:
        """The text of a small file; None if there is no such file."""
        system, resolved = self._resolve(path)
        if not system.exists(resolved):
            return None
        stream = system.open(resolved)
        try:
            text = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()
        return str(text)

    def age_seconds(self, path: str) -> float | None:
        """Seconds since a file was last written, by the file system's own clock; None if there is no such file."""
        system, resolved = self._resolve(path)
        return self._age(system.getFileStatus(resolved)) if system.exists(resolved) else None

    def _age(self, status: Any) -> float:
        now = self._jvm.java.lang.System.currentTimeMillis()
        return float(now - status.getModificationTime()) / 1000

    def last_match(self, glob: str, accepts: Callable[[str], object]) -> tuple[str, float] | None:
        """Name and age in seconds of the last accepted file, by name, that a glob pattern matches.

        A Delta log may have many thousands of files: only names from the end are transferred from the JVM.
        """
        system, resolved = self._resolve(glob)
        statuses = system.globStatus(resolved)  # sorted by name
        for position in range(len(statuses or ()) - 1, -1, -1):
            name = str(statuses[position].getPath().getName())
            if accepts(name):
                return name, self._age(statuses[position])
        return None

    def delete(self, path: str) -> None:
        """Delete a file or folder, if it exists."""
        system, resolved = self._resolve(path)
        local = _local_path_with_colon(system, resolved)
        local.unlink(missing_ok=True) if local else system.delete(resolved, True)

    def count(self, folder: str) -> int:
        """The number of files in a folder and its subfolders."""
        system, resolved = self._resolve(folder)
        return int(system.getContentSummary(resolved).getFileCount())

    def unpack_event_logs(self, folder: str, scratch: str) -> int:
        """Write every Spark event log of a folder as plain text below `scratch`; returns the number of files."""
        reader = self._jvm.org.apache.spark.deploy.history.EventLogFileReader
        system, resolved = self._resolve(folder)
        target_system, _ = self._resolve(scratch)
        count = 0
        for status in system.listStatus(resolved):
            found = reader.apply(system, status)
            if found.isEmpty():
                continue
            parts = found.get().listEventLogFiles()
            for index in range(parts.size()):
                source = reader.openEventLog(parts.apply(index).getPath(), system)
                count += 1
                target = target_system.create(self._resolve(f"{scratch}/{count}.txt")[1], True)
                self._jvm.org.apache.hadoop.io.IOUtils.copyBytes(source, target, self._conf, True)
        return count

    def names(self, folder: str) -> list[str]:
        """The names in a folder; empty if there is no such folder. One call transfers all of them from the JVM."""
        system, resolved = self._resolve(folder)
        if not system.exists(resolved):
            return []
        # py4j refuses the array type that S3A returns for one folder; for an array of folders Hadoop makes its own
        folders = self._gateway.new_array(self._jvm.org.apache.hadoop.fs.Path, 1)
        folders[0] = resolved
        paths = self._jvm.org.apache.hadoop.fs.FileUtil.stat2Paths(system.listStatus(folders))
        if not len(paths):
            return []
        parent = f"{paths[0].getParent().toString()}/"
        text = str(self._jvm.org.apache.commons.lang3.ArrayUtils.toString(paths))  # `{hdfs://a/b,hdfs://a/c}`
        return text[1 + len(parent) : -1].split(f",{parent}")

    def download(self, path: str, target: Path) -> None:
        """Copy a file to the disk of the driver."""
        system, resolved = self._resolve(path)
        try:
            system.copyToLocalFile(False, resolved, self._resolve(f"file:{target.absolute()}")[1], True)
        except Exception as error:  # py4j wraps every Java error; only this one is expected
            if _java_class(error).endswith("FileNotFoundException"):
                raise FileNotFoundError(path) from None
            raise

    def upload(self, source: Path, path: str) -> None:
        """Copy a file from the disk of the driver, replacing an existing one."""
        system, resolved = self._resolve(path)
        system.copyFromLocalFile(False, True, self._resolve(f"file:{source.absolute()}")[1], resolved)

    def replace(self, path: str, to: str) -> None:
        """Rename a file over another one, in one step where the file system has such a rename."""
        system, resolved = self._resolve(path)
        _, target = self._resolve(to)
        overwrite = getattr(self._jvm.org.apache.hadoop.fs, "Options$Rename").OVERWRITE
        options = self._gateway.new_array(getattr(self._jvm.org.apache.hadoop.fs, "Options$Rename"), 1)
        options[0] = overwrite
        try:
            context = self._jvm.org.apache.hadoop.fs.FileContext.getFileContext(resolved.toUri(), self._conf)
            context.rename(resolved, target, options)
        except Exception as error:  # py4j wraps every Java error; only this one is expected
            if not _java_class(error).endswith("UnsupportedFileSystemException"):
                raise
            system.delete(target, False)
            system.rename(resolved, target)

    def part_files(self, folder: str) -> list[str]:
        """The files that Spark wrote into a folder."""
        system, resolved = self._resolve(folder)
        paths = (str(status.getPath().toString()) for status in system.listStatus(resolved))
        return sorted(path for path in paths if path.rsplit("/", 1)[1].startswith("part-"))

    def move(self, path: str, to: str) -> bool:
        """Rename a file or folder; returns whether that succeeded."""
        system, resolved = self._resolve(path)
        _, target = self._resolve(to)
        local = _local_path_with_colon(system, resolved)
        if local:
            with suppress(OSError):
                local.rename(str(target.toUri().getPath()))
                return True
            return False
        system.mkdirs(target.getParent())
        return bool(system.rename(resolved, target))


def _java_class(error: Exception) -> str:
    java_error = getattr(error, "java_exception", None)
    return "" if java_error is None else str(java_error.getClass().getName())


def _local_path_with_colon(system: Any, resolved: Any) -> Path | None:
    """The local path of a file whose name has a colon: Hadoop fails on it, because of the name of its checksum file."""
    has_colon = ":" in str(resolved.getName()) and str(system.getScheme()) == "file"
    return Path(str(resolved.toUri().getPath())) if has_colon else None
