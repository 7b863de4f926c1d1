"""Small files of the lake (lock, markers), through Hadoop's file system: any path the session can reach.

This and nothing else in the pipeline talks to the JVM beside the DataFrame API.
"""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from colline.errors import LakeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# how many of a table's newest commits are looked through for one of them
COMMITS_READ = 10
_COMMIT = re.compile(r"\d{20}\.json")


class Files:
    """The file system of a lake."""

    def __init__(self, spark: SparkSession) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._conf: Any = spark.sparkContext._jsc.hadoopConfiguration()

    def _at(self, path: str) -> tuple[Any, Any]:
        at = self._jvm.org.apache.hadoop.fs.Path(path)
        return at.getFileSystem(self._conf), at

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder."""
        system, at = self._at(path)
        return bool(system.exists(at))

    def absolute(self, path: str) -> str:
        """The path with its scheme; the same for every spelling, where Hadoop keeps `file:/x` apart from `/x`."""
        system, at = self._at(path)
        return re.sub("^file:/+", "file:///", str(system.makeQualified(at).toUri().toString()))

    def unescaped(self, address: str) -> str:
        """A file's address in Spark's `_metadata` (escaped) as a path."""
        return str(self._jvm.org.apache.hadoop.fs.Path(self._jvm.java.net.URI(address)).toString())

    def write(self, path: str, text: str) -> None:
        """Put a small file, replacing the one that is there."""
        system, at = self._at(path)
        out = system.create(at, True)
        try:
            out.write(bytearray(text.encode()))
        finally:
            out.close()

    def create(self, path: str, text: str) -> bool:
        """Put a small file unless one is there; False when one is."""
        system, at = self._at(path)
        try:
            out = system.create(at, False)
        except Exception as error:  # py4j wraps every Java error; only this one is expected
            if "AlreadyExists" in str(error):
                return False
            raise
        try:
            out.write(bytearray(text.encode()))
        finally:
            out.close()
        return True

    def read(self, path: str) -> str | None:
        """A small file's text, None when there is none."""
        system, at = self._at(path)
        if not system.exists(at):
            return None
        stream = system.open(at)
        try:
            text = self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()
        return str(text)

    def age(self, path: str) -> float | None:
        """Seconds since a file was last written, by the file system's own clock; None when there is none."""
        system, at = self._at(path)
        if not system.exists(at):
            return None
        now = self._jvm.java.lang.System.currentTimeMillis()
        return float(now - system.getFileStatus(at).getModificationTime()) / 1000

    def newest_commit(self, table: str) -> tuple[int, float]:
        """The newest version of a Delta table, and how many seconds ago it was written; told by its log's names.

        Delta's own history reads the log as a table, which takes a third of a second of the processor.
        """
        found = _own_log(table) or self._log(table)
        if found is None:
            raise LakeError(f"{table} is no Delta table", hint="is the lake complete and readable?")
        return found

    def _log(self, table: str) -> tuple[int, float] | None:
        system, at = self._at(f"{literal(table) or table}/_delta_log/[0-9]*.json")
        found = system.globStatus(at)  # sorted; a log may have many thousands of files, which are not brought here
        for place in range(len(found or ()) - 1, -1, -1):
            name = str(found[place].getPath().getName())
            if _COMMIT.fullmatch(name):
                now = self._jvm.java.lang.System.currentTimeMillis()
                return int(name[:20]), float(now - found[place].getModificationTime()) / 1000
        return None

    def added(self, table: str, app: str, version: int) -> dict[str, dict[str, str]] | None:
        """The files that a stamped write added to a Delta table, with the part each is in; told by its newest commits.

        None where none of these is the write's, or a file is outside of the table.
        """
        newest = self.newest_commit(table)[0]
        for commit in range(newest, max(-1, newest - COMMITS_READ), -1):
            text = self.read(f"{table}/_delta_log/{commit:020d}.json") or ""
            actions = [json.loads(line) for line in text.splitlines() if line]
            stamps = [action["txn"] for action in actions if "txn" in action]
            if not any((stamp["appId"], stamp["version"]) == (app, version) for stamp in stamps):
                continue
            added = [action["add"] for action in actions if "add" in action]
            if any(":" in file["path"] for file in added):
                return None
            return {f"{table}/{unquote(file['path'])}": file["partitionValues"] for file in added}
        return None

    def delete(self, path: str) -> None:
        """Take a file or folder away, if it is there."""
        system, at = self._at(path)
        own = _own(system, at)
        own.unlink(missing_ok=True) if own else system.delete(at, True)

    def count(self, folder: str) -> int:
        """How many files there are in a folder and below it."""
        system, at = self._at(folder)
        return int(system.getContentSummary(at).getFileCount())

    def unpack_event_logs(self, folder: str, scratch: str) -> int:
        """Write every Spark event log in a folder as plain text below `scratch`; how many files there were."""
        reader = self._jvm.org.apache.spark.deploy.history.EventLogFileReader
        system, at = self._at(folder)
        target_system, _ = self._at(scratch)
        count = 0
        for status in system.listStatus(at):
            found = reader.apply(system, status)
            if found.isEmpty():
                continue
            parts = found.get().listEventLogFiles()
            for index in range(parts.size()):
                source = reader.openEventLog(parts.apply(index).getPath(), system)
                count += 1
                target = target_system.create(self._at(f"{scratch}/{count}.txt")[1], True)
                self._jvm.org.apache.hadoop.io.IOUtils.copyBytes(source, target, self._conf, True)
        return count

    def parts(self, folder: str) -> list[str]:
        """The files that Spark wrote into a folder."""
        system, at = self._at(folder)
        found = (str(status.getPath().toString()) for status in system.listStatus(at))
        return sorted(path for path in found if path.rsplit("/", 1)[1].startswith("part-"))

    def move(self, path: str, to: str) -> bool:
        """Rename a file or folder; whether that was possible."""
        system, at = self._at(path)
        _, target = self._at(to)
        own = _own(system, at)
        if own:
            with suppress(OSError):
                own.rename(str(target.toUri().getPath()))
                return True
            return False
        system.mkdirs(target.getParent())
        return bool(system.rename(at, target))


def _own(system: Any, at: Any) -> Path | None:
    """A file that Python must see to: Hadoop would look for its checksum too, by a name that it cannot spell."""
    odd = ":" in str(at.getName()) and str(system.getScheme()) == "file"
    return Path(str(at.toUri().getPath())) if odd else None


def _own_log(table: str) -> tuple[int, float] | None:
    """The newest version of a table on this machine, and how old it is: a pattern of Hadoop's knows no colon."""
    where = local_path(table)
    log = None if where is None else Path(where, "_delta_log")
    if log is None or not log.is_dir():
        return None
    newest = max((file for file in log.iterdir() if _COMMIT.fullmatch(file.name)), default=None)
    return None if newest is None else (int(newest.stem), time.time() - newest.stat().st_mtime)


def literal(path: str) -> str | None:
    """The path as a pattern of Hadoop's that only it matches; None where it has a colon too: patterns know none."""
    pattern = re.sub(r"[\\{}\[\]*?]", r"\\\g<0>", path)
    names = re.sub(r"^\w[\w+.-]*:(//[^/]*)?", "", path)
    return None if pattern != path and ":" in names else pattern


def spelled(path: str) -> str:
    """The path as Hadoop takes it, which reads `%20` in a `file:` address as three letters."""
    return f"file:{local_path(path)}".rstrip("/") if path.startswith("file:") else path.rstrip("/")


def is_readable(path: str) -> bool:
    """Whether delta-rs finds tables below a path with slashes: it takes `%20` for a blank, a backslash for a slash."""
    return unquote(path) == path and "\\" not in path and path.isprintable()


def local_path(path: str) -> str | None:
    """The path on this machine that an address means; None for any other file system."""
    if "://" not in path and not path.startswith("file:"):
        return path
    parts = urlsplit(path)
    return unquote(parts.path) if parts.scheme == "file" else None
