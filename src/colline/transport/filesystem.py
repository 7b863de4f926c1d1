"""Writing one file whole, on the file systems that need no Spark session: local disk, and anything fsspec knows.

A reader never sees half a file. Where a rename is atomic the bytes go under a hidden name first; on object stores one
put is atomic by itself and a rename would be a copy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from colline.errors import TransportError
from colline.lake.location import FSSPEC_SCHEMES, scheme_of

# One put makes the object visible whole; a rename would be a copy.
PUT_IS_ATOMIC = frozenset({"s3", "s3a", "s3n", "gs", "gcs", "az", "abfs", "abfss", "oss", "memory"})


class PeerGoneError(TransportError):
    """The way there is gone for good in this process: trying again makes no sense, waiting at the end neither."""


class Files(Protocol):
    """A place where whole files can be put."""

    def write_whole(self, path: str, data: bytes) -> None:
        """Afterwards the file is there with all its bytes; on any error it is not there at all."""


def hidden(path: str) -> str:
    """The name a file has until it is whole: readers skip names that start with a dot."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.part"


def local_path(path: str) -> Path:
    """The path on this machine that a plain path or a `file:` address means."""
    return Path(unquote(urlsplit(path).path)) if scheme_of(path) == "file" else Path(path).expanduser()


class LocalFiles:
    """Files on this machine."""

    def write_whole(self, path: str, data: bytes) -> None:
        """Written under a hidden name, then renamed."""
        target = local_path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        try:
            part.write_bytes(data)
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


class MemoryFiles:
    """The in-memory twin: `written` maps each path to its bytes."""

    def __init__(self) -> None:
        self.written: dict[str, bytes] = {}

    def write_whole(self, path: str, data: bytes) -> None:
        """Kept in `written`."""
        self.written[path] = data


class FsspecFiles:
    """Files on whatever fsspec reaches, with the credentials its own configuration has."""

    def __init__(self, base: str, options: dict[str, Any] | None = None) -> None:
        try:
            import fsspec
        except ImportError as error:
            raise TransportError(
                f"cannot write to {base}: there is no Spark session and fsspec is not installed",
                hint="pip install 'colline[files]', or attach to a Spark session",
            ) from error
        scheme = scheme_of(base)
        try:
            self._files = fsspec.filesystem(FSSPEC_SCHEMES.get(scheme, scheme), **(options or {}))
        except (ImportError, ValueError) as error:
            raise TransportError(
                f"cannot write to {base}: {error}", hint="attach to a Spark session, or install that fsspec driver"
            ) from error
        self._put = scheme in PUT_IS_ATOMIC

    def write_whole(self, path: str, data: bytes) -> None:
        """One atomic put, or a hidden name and a rename."""
        plain = self._files._strip_protocol(path)
        if self._put:
            self._files.pipe_file(plain, data)
            return
        self._files.makedirs(plain.rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(hidden(plain), data)
        self._files.mv(hidden(plain), plain)
