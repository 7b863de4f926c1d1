"""Copies a lake from object storage to a folder of this machine, as far as answers need it.

The copy has the layout of a lake, so that every other module reads it as one. A published snapshot is copied once per
version. If the lake has none, its tables are copied (logs and current files) and the snapshot is built here.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from colline.errors import CollineError, LakeError
from colline.graph.snapshot.array_file import COPIED_FILES, LOCK, verify
from colline.graph.snapshot.publish import publish
from colline.graph.snapshot.snapshot_versions import (
    current_version,
    delete_old_versions,
    is_version_name,
    set_current_version,
)
from colline.graph.snapshot.staleness import (
    UnpublishedCommits,
    is_newer_commit,
    is_published,
    summarize_commits,
    versions_before_rebuild,
)
from colline.lake.layout import CURRENT_SNAPSHOT, REBUILD_VERSIONS, SNAPSHOT
from colline.lake.location import fsspec_filesystem

_ATTEMPTS = 5


class RemoteLake:
    """A lake in object storage, and the folder `home` with its copy."""

    def __init__(self, lake: str) -> None:
        self.lake = lake.rstrip("/")
        self.home = _cache_folder() / hashlib.sha256(self.lake.encode()).hexdigest()[:24]
        with self._as_lake_errors("cannot open"):
            self._files, self._root = fsspec_filesystem(self.lake)

    def refresh(self) -> None:
        """Copies what is newer than the copy."""
        with self._as_lake_errors("cannot read"):
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._current_version() is not None:
                self._copy_snapshot()
            elif self._files.exists(f"{self._root}/gold/columns/_delta_log"):
                self._build_snapshot()
            else:
                raise LakeError(f"no lake at {self.lake}, or it is empty", hint="check --lake, or run `colline ingest`")

    def unpublished_commits(self, tables: Mapping[str, int]) -> UnpublishedCommits | None:
        """The commits after the table versions of a snapshot; None without such commits."""
        with self._as_lake_errors("cannot read"):
            marker = f"{self._root}/{REBUILD_VERSIONS}"
            text = self._files.cat_file(marker).decode("utf-8") if self._files.exists(marker) else None
            last = versions_before_rebuild(text)
            newer = [path for name, version in tables.items() for path in self._newer(name, version, last(name))]
            return summarize_commits(newer, lambda place: self._files.cat_file(newer[place]).decode("utf-8"))

    def _newer(self, name: str, version: int, last: float) -> list[str]:
        try:
            found: list[str] = self._files.ls(f"{self._root}/{name}/_delta_log", detail=False)
        except FileNotFoundError:
            return []
        return [path for path in found if is_newer_commit(_file_name(path), version, last)]

    def copy_table(self, name: str) -> None:
        """Copies a table's log and its current files, if the table exists."""
        log, folder = f"{self._root}/{name}/_delta_log", self.home / name
        with self._as_lake_errors("cannot read"):
            if not self._files.exists(log):
                return
            (folder / "_delta_log").mkdir(parents=True, exist_ok=True)
            for file in sorted(_file_name(path) for path in self._files.ls(log, detail=False)):
                is_new = file[:1].isdigit() and not (folder / "_delta_log" / file).exists()
                if is_new or file == "_last_checkpoint":
                    self._copy_file(f"{name}/_delta_log/{file}")
            self._copy_data_files(name, folder)

    def _copy_data_files(self, name: str, folder: Path) -> None:
        from deltalake import DeltaTable

        wanted = {Path(uri.removeprefix("file://")) for uri in DeltaTable(str(folder)).file_uris()}
        for path in sorted(wanted):
            if not path.is_relative_to(folder) or ".." in path.parts:
                raise LakeError(
                    f"{self.lake}/{name} refers to a file outside of the table: {path.name}",
                    hint="such files are not read; check who wrote this table",
                )
            if not path.exists():
                self._copy_file(f"{name}/{path.relative_to(folder).as_posix()}")
        for old in set(folder.rglob("*.parquet")) - wanted - set((folder / "_delta_log").rglob("*")):
            old.unlink(missing_ok=True)

    def _build_snapshot(self) -> None:
        from colline.lake.table_reader import ANSWER_TABLES

        for table in ANSWER_TABLES:
            self.copy_table(table.path)
        if not is_published(self.home):
            publish(self.home)

    def _current_version(self) -> str | None:
        try:
            name: str = self._files.cat_file(f"{self._root}/{CURRENT_SNAPSHOT}").decode("utf-8", "replace").strip()
        except FileNotFoundError:
            return None
        if not is_version_name(name):
            hint = "run `colline ingest` on the lake to publish it again"
            raise LakeError(f"{self.lake}/{CURRENT_SNAPSHOT} does not hold the name of a snapshot", hint=hint)
        return name

    def _copy_snapshot(self) -> None:
        """Copies the current version; if it is replaced meanwhile, the next one."""
        for _ in range(_ATTEMPTS):
            name = self._current_version()
            if name is None:
                break
            with contextlib.suppress(FileNotFoundError):
                self._copy_version(name)
                if _version_or_none(self.home) != name:
                    set_current_version(self.home, name)
                    delete_old_versions(self.home)
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
                self._files.get_file(f"{self._root}/{SNAPSHOT}/{name}/{file}", str(building / file))
            (building / LOCK).touch()
            verify(building)
            if folder.exists():
                shutil.rmtree(folder)
            with contextlib.suppress(OSError):  # another process copied the same version first
                building.rename(folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)

    def _copy_file(self, path: str) -> None:
        """Copies one file under a temporary name and renames it."""
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}-{uuid.uuid4().hex}")
        try:
            self._files.get_file(f"{self._root}/{path}", str(part))
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _as_lake_errors(self, what: str) -> Iterator[None]:
        """Turns the errors of fsspec drivers, which can be of any class, into LakeErrors."""
        try:
            yield
        except CollineError:
            raise
        except ImportError as error:
            hint = "install `colline[files]` and the fsspec driver of that scheme (s3fs, adlfs, gcsfs, …)"
            raise LakeError(f"{what} {self.lake}: {error}", hint=hint) from error
        except Exception as error:
            reason = str(error) or type(error).__name__
            hint = "check the URL and your read permission"
            raise LakeError(f"{what} {self.lake}: {reason}", hint=hint) from error


def _file_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


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
