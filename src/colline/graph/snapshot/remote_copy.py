"""A lake that is not on this machine: what answers are made of, copied once a version to a folder that is.

The copy has the shape of a lake, so that everything else reads it as one. A published snapshot is all it needs; where
nobody published one, the tables are copied (their log, and the files that count now) and the snapshot is made here.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from colline.errors import CollineError, LakeError
from colline.graph.snapshot import publish
from colline.graph.snapshot.staleness import News, before_rebuild, is_newer, told
from colline.lake.layout import CURRENT_SNAPSHOT, REBUILD_VERSIONS, SNAPSHOT
from colline.lake.location import fsspec_filesystem

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,99}")
_TRIES = 5


class Remote:
    """A lake elsewhere, and its copy in `home`."""

    def __init__(self, lake: str) -> None:
        self.lake = lake.rstrip("/")
        self.home = _cache() / hashlib.sha256(self.lake.encode()).hexdigest()[:24]
        with self._telling("cannot open"):
            self._files, self._root = fsspec_filesystem(self.lake)

    def refresh(self) -> None:
        """Bring what is newer over there; nothing is copied twice."""
        with self._telling("cannot read"):
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._pointer() is not None:
                self._bring_snapshot()
            elif self._files.exists(f"{self._root}/gold/columns/_delta_log"):
                self._make_snapshot()
            else:
                raise LakeError(f"no lake at {self.lake}, or it is empty", hint="check --lake, or run `colline ingest`")

    def news(self, tables: Mapping[str, int]) -> News | None:
        """What was committed over there beyond the versions a snapshot is made of."""
        with self._telling("cannot read"):
            marker = f"{self._root}/{REBUILD_VERSIONS}"
            text = self._files.cat_file(marker).decode("utf-8") if self._files.exists(marker) else None
            last = before_rebuild(text)
            newer = [path for name, version in tables.items() for path in self._newer(name, version, last(name))]
            return told(newer, lambda place: self._files.cat_file(newer[place]).decode("utf-8"))

    def _newer(self, name: str, version: int, last: float) -> list[str]:
        try:
            found: list[str] = self._files.ls(f"{self._root}/{name}/_delta_log", detail=False)
        except FileNotFoundError:
            return []
        return [path for path in found if is_newer(path.rstrip("/").rpartition("/")[2], version, last)]

    def bring(self, name: str) -> None:
        """A table's log and the files that count now; a table that is not there is not here either."""
        log, place = f"{self._root}/{name}/_delta_log", self.home / name
        with self._telling("cannot read"):
            if not self._files.exists(log):
                return
            (place / "_delta_log").mkdir(parents=True, exist_ok=True)
            for path in sorted(self._files.ls(log, detail=False)):
                file = path.rstrip("/").rpartition("/")[2]
                if file == "_last_checkpoint" or (file[:1].isdigit() and not (place / "_delta_log" / file).exists()):
                    self._copy(f"{name}/_delta_log/{file}")
            self._bring_files(name, place)

    def _bring_files(self, name: str, place: Path) -> None:
        from deltalake import DeltaTable

        wanted = {Path(uri.removeprefix("file://")) for uri in DeltaTable(str(place)).file_uris()}
        for path in sorted(wanted):
            if not path.is_relative_to(place) or ".." in path.parts:
                raise LakeError(
                    f"{self.lake}/{name} names a file outside of the table: {path.name}",
                    hint="no file is taken from elsewhere; look who wrote this table",
                )
            if not path.exists():
                self._copy(f"{name}/{path.relative_to(place).as_posix()}")
        for old in set(place.rglob("*.parquet")) - wanted - set((place / "_delta_log").rglob("*")):
            old.unlink(missing_ok=True)

    def _make_snapshot(self) -> None:
        """The tables' copy, and a snapshot of it."""
        from colline.graph.snapshot.staleness import is_published
        from colline.lake.table_reader import ANSWER_TABLES

        for table in ANSWER_TABLES:
            self.bring(table.path)
        if not is_published(self.home):
            publish.publish(self.home)

    def _pointer(self) -> str | None:
        try:
            text: str = self._files.cat_file(f"{self._root}/{CURRENT_SNAPSHOT}").decode().strip()
        except FileNotFoundError:
            return None
        if not _VERSION.fullmatch(text):
            raise LakeError(f"the snapshot of {self.lake} has no proper name", hint="run `colline ingest` on it")
        return text

    def _bring_snapshot(self) -> None:
        """The version that is current there; one that is replaced while it is copied is asked for again."""
        for _ in range(_TRIES):
            name = self._pointer()
            if name is None:
                break
            if (self.home / SNAPSHOT / name / "LOCK").exists():
                if publish.pointed(self.home) != name:
                    publish.point(self.home, name)
                return
            with contextlib.suppress(FileNotFoundError):
                self._copy_version(name)
        raise LakeError(f"the snapshot of {self.lake} is not there", hint="run `colline ingest` on it")

    def _copy_version(self, name: str) -> None:
        folder = self.home / SNAPSHOT
        building = folder / f".building-{uuid.uuid4().hex}"
        building.mkdir(parents=True)
        try:
            for file in ("arrays", "meta.json"):
                self._files.get_file(f"{self._root}/{SNAPSHOT}/{name}/{file}", str(building / file))
            (building / "LOCK").touch()
            with contextlib.suppress(OSError):  # another process was faster, with the same bytes
                building.rename(folder / name)
            publish.point(self.home, name)
            publish.clean(self.home)
        finally:
            shutil.rmtree(building, ignore_errors=True)

    def _copy(self, path: str) -> None:
        """One file, whole or not at all."""
        target = self.home / path
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}-{uuid.uuid4().hex}")
        try:
            self._files.get_file(f"{self._root}/{path}", str(part))
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _telling(self, what: str) -> Iterator[None]:
        """Drivers raise what they like: told as one sentence of ours."""
        try:
            yield
        except CollineError:
            raise
        except ImportError as error:
            hint = "install `colline[files]` and the fsspec driver of that scheme (s3fs, adlfs, gcsfs, …)"
            raise LakeError(f"{what} {self.lake}: {error}", hint=hint) from error
        except Exception as error:
            said = str(error) or type(error).__name__
            raise LakeError(f"{what} {self.lake}: {said}", hint="is the address right, and may you read it?") from error


def _cache() -> Path:
    """Where copies lie: COLLINE_CACHE, else the user's cache folder."""
    home = os.environ.get("COLLINE_CACHE")
    if home:
        return Path(home) / "lakes"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "colline" / "lakes"
