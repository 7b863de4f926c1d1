"""Copies a lake from object storage to a folder of this machine, as far as answers need it.

The copy has the layout of a lake, so that every other module reads it as one. A published snapshot is copied once per
version. If the lake has none, its tables are copied (logs and current files) and the snapshot is built here.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from colline.errors import CollineError, LakeError
from colline.graph.snapshot.array_file import COPIED_FILES, LOCK, verify
from colline.graph.snapshot.publish import make_current, publish
from colline.graph.snapshot.snapshot_versions import current_version, is_version_name
from colline.graph.snapshot.staleness import (
    UnpublishedCommits,
    is_newer_commit,
    is_published,
    summarize_commits,
    versions_before_rebuild,
)
from colline.lake.layout import CURRENT_SNAPSHOT, REBUILD_VERSIONS, SNAPSHOT
from colline.lake.location import fsspec_driver
from colline.lake.remote_files import FsspecFiles, RemoteFiles

_ATTEMPTS = 5
_PARALLEL_DOWNLOADS = 8


class RemoteLake:
    """A lake in object storage, and the folder `home` with its copy."""

    def __init__(self, lake: str, files: RemoteFiles | None = None) -> None:
        self.lake = lake.rstrip("/")
        self.home = _cache_folder() / hashlib.sha256(self.lake.encode()).hexdigest()[:24]
        with self.lake_errors("cannot open"):
            self.files: RemoteFiles = FsspecFiles(self.lake) if files is None else files

    def refresh(self) -> None:
        """Copies what is newer than the copy."""
        with self.lake_errors("cannot read"):
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.published_version() is not None:
                self._copy_snapshot()
            elif self.files.names("gold/columns/_delta_log"):
                self.copy_tables()
                if not is_published(self.home):
                    publish(self.home)
            else:
                raise LakeError(f"no lake at {self.lake}, or it is empty", hint="check --lake, or run `colline ingest`")

    def unpublished_commits(self, tables: Mapping[str, int]) -> UnpublishedCommits | None:
        """The commits after the table versions of a snapshot; None without such commits."""
        with self.lake_errors("cannot read"):
            last = versions_before_rebuild(self._text_or_none(REBUILD_VERSIONS))
            newer = [
                f"{name}/_delta_log/{file}"
                for name, version in tables.items()
                for file in self.files.names(f"{name}/_delta_log")
                if is_newer_commit(file, version, last(name))
            ]
            return summarize_commits(newer, lambda place: self.files.read(newer[place]).decode("utf-8"))

    def copy_tables(self) -> None:
        """Copies what is new of the tables that answers are made of."""
        from colline.flat.flat_tables import SNAPSHOT_TABLES

        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        for table in SNAPSHOT_TABLES:
            self.copy_table(table.path)

    def copy_table(self, name: str) -> None:
        """Copies the log of a table from its last checkpoint on, and its current files, if the table exists."""
        log = self.home / name / "_delta_log"
        with self.lake_errors("cannot read"):
            checkpoint = self._text_or_none(f"{name}/_delta_log/_last_checkpoint")
            files = self.files.names(f"{name}/_delta_log")
            if not files:
                return
            self._delete_other_table(name, files)
            log.mkdir(parents=True, exist_ok=True)
            first = f"{_checkpoint_version(checkpoint):020d}"
            new = [file for file in files if file[:1].isdigit() and file >= first and not (log / file).exists()]
            self._copy_files(f"{name}/_delta_log/{file}" for file in sorted(new))
            if checkpoint is not None:
                _write_atomically(log / "_last_checkpoint", checkpoint)
            self._copy_data_files(name)

    def _delete_other_table(self, name: str, files: list[str]) -> None:
        """Deletes the copy of a table that was deleted and created again at the same address."""
        copied = sorted(path.name for path in (self.home / name / "_delta_log").glob("*.json"))
        last = copied[-1] if copied else None
        if last is None:
            return
        content = (self.home / name / "_delta_log" / last).read_bytes()
        if last not in files or self.files.read(f"{name}/_delta_log/{last}") != content:
            shutil.rmtree(self.home / name)

    def _copy_data_files(self, name: str) -> None:
        from deltalake import DeltaTable

        folder = self.home / name
        wanted = {Path(uri.removeprefix("file://")) for uri in DeltaTable(str(folder)).file_uris()}
        for path in sorted(wanted):
            if not path.is_relative_to(folder) or ".." in path.parts:
                raise LakeError(
                    f"{self.lake}/{name} refers to a file outside of the table: {path.name}",
                    hint="such files are not read; check who wrote this table",
                )
        missing = (path for path in sorted(wanted) if not path.exists())
        self._copy_files(f"{name}/{path.relative_to(folder).as_posix()}" for path in missing)
        for old in set(folder.rglob("*.parquet")) - wanted - set((folder / "_delta_log").rglob("*")):
            old.unlink(missing_ok=True)

    def _text_or_none(self, path: str) -> str | None:
        try:
            return self.files.read(path).decode("utf-8", "replace")
        except FileNotFoundError:
            return None

    def published_version(self) -> str | None:
        """The name of the lake's current snapshot version; None if nothing was published."""
        text = self._text_or_none(CURRENT_SNAPSHOT)
        name = None if text is None else text.strip()
        if name is not None and not is_version_name(name):
            hint = "run `colline ingest` on the lake to publish it again"
            raise LakeError(f"{self.lake}/{CURRENT_SNAPSHOT} does not hold the name of a snapshot", hint=hint)
        return name

    def _copy_snapshot(self) -> None:
        """Copies the current version; if it is replaced meanwhile, the next one."""
        for _ in range(_ATTEMPTS):
            name = self.published_version()
            if name is None:
                break
            with contextlib.suppress(FileNotFoundError):
                self._copy_version(name)
                if _version_or_none(self.home) != name:
                    make_current(self.home, name)
                return
        raise LakeError(f"the snapshot of {self.lake} is missing", hint="run `colline ingest` on the lake")

    def _copy_version(self, name: str) -> None:
        folder = self.home / SNAPSHOT / name
        if _is_intact(folder):
            return
        building = folder.with_name(f".building-{uuid.uuid4().hex}")
        building.mkdir(parents=True)
        try:
            for file in COPIED_FILES:
                self.files.download(f"{SNAPSHOT}/{name}/{file}", building / file)
            (building / LOCK).touch()
            verify(building)
            if folder.exists():
                shutil.rmtree(folder)
            with contextlib.suppress(OSError):  # another process copied the same version first
                building.rename(folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)

    def _copy_files(self, paths: Iterable[str]) -> None:
        """Copies several files at the same time, because each one is a request that mostly waits."""
        threads = ThreadPoolExecutor(_PARALLEL_DOWNLOADS, thread_name_prefix="colline-copy")
        try:
            for _ in threads.map(self._copy_file, paths):
                pass
        finally:
            threads.shutdown(cancel_futures=True)

    def _copy_file(self, path: str) -> None:
        """Copies one file under a temporary name and renames it."""
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}-{uuid.uuid4().hex}")
        try:
            self.files.download(path, part)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    @contextlib.contextmanager
    def lake_errors(self, what: str) -> Iterator[None]:
        """Turns the errors of fsspec drivers and of Hadoop, which can be of any class, into LakeErrors."""
        try:
            yield
        except CollineError:
            raise
        except ImportError as error:
            reason = f"the package {error.name} is not installed" if error.name else str(error)
            hint = f"pip install 'colline[files]' {fsspec_driver(self.lake)}".rstrip()
            raise LakeError(f"{what} {self.lake}: {reason}", hint=hint) from error
        except Exception as error:
            reason = str(error) or type(error).__name__
            hint = "check the URL and your read permission"
            raise LakeError(f"{what} {self.lake}: {reason}", hint=hint) from error


def _checkpoint_version(last_checkpoint: str | None) -> int:
    """The version in the content of `_last_checkpoint`; 0 without one, so that the whole log is copied."""
    try:
        return int(json.loads(last_checkpoint or "{}").get("version", 0))
    except (ValueError, TypeError, AttributeError):
        return 0


def _write_atomically(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _is_intact(folder: Path) -> bool:
    """Whether a version was copied, and the copy is not damaged."""
    try:
        verify(folder)
    except (LakeError, FileNotFoundError):
        return False
    return (folder / LOCK).exists()


def _version_or_none(home: Path) -> str | None:
    try:
        return current_version(home)
    except LakeError:
        return None


def _cache_folder() -> Path:
    """The folder of copies: COLLINE_CACHE, else the user's cache folder."""
    cache = os.environ.get("COLLINE_CACHE")
    if cache:
        return Path(cache) / "lakes"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "colline" / "lakes"
