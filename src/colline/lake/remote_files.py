"""The files of a lake on another file system, through fsspec or through the Hadoop file systems of a Spark session."""

from __future__ import annotations

import contextlib
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from colline.lake.location import fsspec_filesystem, hadoop_path, scheme_of

if TYPE_CHECKING:
    from colline.environment.hadoop_files import HadoopFiles

# Object stores: one put makes the complete object visible, and a rename is a copy. On other file systems a file is
# written under another name and renamed.
PUT_IS_ATOMIC = frozenset({"s3", "s3a", "s3n", "gs", "gcs", "az", "abfs", "abfss", "oss", "memory"})


class RemoteFiles(Protocol):
    """The files of one lake, by their paths below its root. A missing file raises a FileNotFoundError."""

    def names(self, folder: str) -> list[str]:
        """The names of the files and folders in a folder; empty if there is no such folder."""

    def read(self, path: str) -> bytes:
        """The content of a small file."""

    def download(self, path: str, target: Path) -> None:
        """Copies a file to this machine."""

    def upload(self, source: Path, path: str) -> None:
        """Copies a file of this machine to a path that no reader uses yet."""

    def replace(self, path: str, text: str) -> None:
        """Writes a small file so that readers see its previous content or the new one."""

    def delete(self, folder: str) -> None:
        """Deletes a folder with its files, if it exists."""


class FsspecFiles:
    """Files through fsspec, with the credentials of its driver."""

    def __init__(self, lake: str) -> None:
        self._files, self._root = fsspec_filesystem(lake)
        self._put_is_atomic = scheme_of(lake) in PUT_IS_ATOMIC

    def _path(self, path: str) -> str:
        return f"{self._root}/{path}"

    def names(self, folder: str) -> list[str]:
        """As in the protocol."""
        try:
            found = self._files.ls(self._path(folder), detail=False)
        except FileNotFoundError:
            return []
        return [str(path).rstrip("/").rpartition("/")[2] for path in found]

    def read(self, path: str) -> bytes:
        """As in the protocol."""
        return bytes(self._files.cat_file(self._path(path)))

    def download(self, path: str, target: Path) -> None:
        """As in the protocol."""
        self._files.get_file(self._path(path), str(target))

    def upload(self, source: Path, path: str) -> None:
        """As in the protocol."""
        self._make_parent(path)
        self._files.put_file(str(source), self._path(path))

    def replace(self, path: str, text: str) -> None:
        """As in the protocol."""
        if self._put_is_atomic:
            self._files.pipe_file(self._path(path), text.encode())
            return
        self._make_parent(path)
        part = f"{self._path(path)}-{uuid.uuid4().hex}"
        self._files.pipe_file(part, text.encode())
        self._files.mv(part, self._path(path))

    def _make_parent(self, path: str) -> None:
        if not self._put_is_atomic:  # an object store has no folders, and a driver may try to create the bucket
            self._files.makedirs(self._path(path).rpartition("/")[0], exist_ok=True)

    def delete(self, folder: str) -> None:
        """As in the protocol."""
        with contextlib.suppress(FileNotFoundError):
            self._files.rm(self._path(folder), recursive=True)


class SessionFiles:
    """Files through the Hadoop file systems of a Spark session, with the credentials of the session."""

    def __init__(self, lake: str, files: HadoopFiles) -> None:
        self._files, self._root = files, hadoop_path(lake)
        self._put_is_atomic = scheme_of(lake) in PUT_IS_ATOMIC - {"abfs", "abfss"}  # Hadoop appends to files there

    def _path(self, path: str) -> str:
        return f"{self._root}/{path}"

    def names(self, folder: str) -> list[str]:
        """As in the protocol."""
        return self._files.names(self._path(folder))

    def read(self, path: str) -> bytes:
        """As in the protocol."""
        text = self._files.read(self._path(path))
        if text is None:
            raise FileNotFoundError(self._path(path))
        return text.encode()

    def download(self, path: str, target: Path) -> None:
        """As in the protocol."""
        self._files.download(self._path(path), target)

    def upload(self, source: Path, path: str) -> None:
        """As in the protocol."""
        self._files.upload(source, self._path(path))

    def replace(self, path: str, text: str) -> None:
        """As in the protocol."""
        if self._put_is_atomic:
            self._files.write(self._path(path), text)
            return
        part = f"{self._path(path)}-{uuid.uuid4().hex}"
        self._files.write(part, text)
        self._files.replace(part, self._path(path))

    def delete(self, folder: str) -> None:
        """As in the protocol."""
        self._files.delete(self._path(folder))
