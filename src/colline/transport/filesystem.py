"""Writes complete files without a Spark session: to the local disk, to memory, and through fsspec.

A reader never sees an incomplete file. Where a rename is atomic, the data is written to a hidden file that is renamed
at the end. In an object store one put is atomic, and a rename would be a copy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from colline.errors import TransportError
from colline.events.redact import redact
from colline.lake.location import FSSPEC_SCHEMES, scheme_of

# schemes of object stores, where one put makes the complete object visible
PUT_IS_ATOMIC = frozenset({"s3", "s3a", "s3n", "gs", "gcs", "az", "abfs", "abfss", "oss", "memory"})


class FileSystem(Protocol):
    """Writes complete files."""

    def write_atomically(self, path: str, data: bytes) -> None:
        """Write a file. If that fails, no file with this name exists."""


def hidden_name(path: str) -> str:
    """The name of a file until it is complete. Readers skip names that start with a dot."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.part"


def expand_local_path(path: str) -> Path:
    """The local path of a `file:` address, or of a plain path that may start with `~`."""
    return Path(unquote(urlsplit(path).path)) if scheme_of(path) == "file" else Path(path).expanduser()


class LocalFileSystem:
    """Files on this machine."""

    def write_atomically(self, path: str, data: bytes) -> None:
        """Write to a hidden file, then rename it."""
        target = expand_local_path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        try:
            part.write_bytes(data)
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


class MemoryFileSystem:
    """Files in memory, for tests. `files` maps each path to its content."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def write_atomically(self, path: str, data: bytes) -> None:
        """Keep the data in `files`."""
        self.files[path] = data


class FsspecFileSystem:
    """Files on any file system that fsspec supports, with the credentials in `options` or in fsspec's own config."""

    def __init__(self, base: str, options: dict[str, Any] | None = None) -> None:
        try:
            import fsspec
        except ImportError as error:
            raise TransportError(
                f"cannot write to {redact(base)}: there is no Spark session and fsspec is not installed",
                hint="pip install 'colline[files]', or attach to a Spark session",
            ) from error
        scheme = scheme_of(base)
        try:
            self._files = fsspec.filesystem(FSSPEC_SCHEMES.get(scheme, scheme), **(options or {}))
        except (ImportError, ValueError) as error:
            raise TransportError(
                f"cannot write to {redact(base)}: {error}",
                hint="attach to a Spark session, or install the fsspec package for this scheme",
            ) from error
        self._put_is_atomic = scheme in PUT_IS_ATOMIC

    def write_atomically(self, path: str, data: bytes) -> None:
        """Put the file in one request, or write to a hidden file and rename it."""
        plain = self._files._strip_protocol(path)
        if self._put_is_atomic:
            self._files.pipe_file(plain, data)
            return
        self._files.makedirs(plain.rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(hidden_name(plain), data)
        self._files.mv(hidden_name(plain), plain)
