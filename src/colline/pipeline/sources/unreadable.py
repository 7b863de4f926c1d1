"""Renames corrupt landed files, which Spark's error names, so that the other files can be ingested."""

from __future__ import annotations

import re
from typing import Any

from colline.environment.hadoop_files import HadoopFiles
from colline.errors import LakeError
from colline.pipeline.sources.landing import BROKEN

_FILE = re.compile(r"error while reading file (\S+?)\.(?:\s|$)")
_PACKED = re.compile(r"\.(gz|zst)$")
# messages for bytes that are not a complete archive; failures of networks and disks have other messages
_BROKEN = re.compile(r"ZstdIOException|ZipException|Unexpected end of input|gzip|invalid |incorrect |too many length")


def rename_corrupt_file(error: Exception, files: HadoopFiles) -> str | None:
    """Rename the corrupt file that ended a batch, and return a message about it.

    None for an error about anything else. Raises if a file cannot be read for another reason.
    """
    address, reason = _file_and_cause(error)
    if address is None:
        return None
    path = files.decode_uri(address)
    is_broken = bool(_PACKED.search(path) and _BROKEN.search(reason))
    if is_broken and files.move(path, f"{path}{BROKEN}"):
        return f"{path}{BROKEN} cannot be read: {reason}"
    hint = "the file is corrupt: move it away, and ingest again" if is_broken else "the next ingest tries it again"
    raise LakeError(f"cannot read {path}: {reason}", hint=hint) from error


def _file_and_cause(error: Exception) -> tuple[str | None, str]:
    """The file in Spark's error, and the text of its cause."""
    address, reason = None, ""
    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None:
        named = _FILE.search(str(cause.getMessage()))
        address, reason = (named[1] if named else address), str(cause.toString())
        cause = cause.getCause()
    return address, reason
