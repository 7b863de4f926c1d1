"""Landed files that cannot be read: Spark's error says which one it was, and one that is broken is set aside.

A stranger's half-written archive must not keep everything else out of the lake.
"""

from __future__ import annotations

import re
from typing import Any

from colline.environment.hadoop_files import HadoopFiles
from colline.errors import LakeError
from colline.pipeline.landing import BROKEN

_FILE = re.compile(r"error while reading file (\S+?)\.(?:\s|$)")
_PACKED = re.compile(r"\.(gz|zst)$")
# what unpacking says of bytes that are no archive, or half of one; a network or a disk that fails says other things
_BROKEN = re.compile(r"ZstdIOException|ZipException|Unexpected end of input|gzip|invalid |incorrect |too many length")


def set_aside(error: Exception, files: HadoopFiles) -> str | None:
    """What there is to tell of the broken file that ended a batch, after it got a name that is not looked for.

    None for an error about anything else. Raises where a file cannot be read for any other reason.
    """
    address, reason = _told(error)
    if address is None:
        return None
    path = files.decode_uri(address)
    is_broken = bool(_PACKED.search(path) and _BROKEN.search(reason))
    if is_broken and files.move(path, f"{path}{BROKEN}"):
        return f"{path}{BROKEN} cannot be read: {reason}"
    hint = "it is broken: take it away, and ingest again" if is_broken else "the next ingest tries it again"
    raise LakeError(f"cannot read {path}: {reason}", hint=hint) from error


def _told(error: Exception) -> tuple[str | None, str]:
    """The file that an error of Spark's is about, and the words of what it came from."""
    address, reason = None, ""
    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None:
        said = _FILE.search(str(cause.getMessage()))
        address, reason = (said[1] if said else address), str(cause.toString())
        cause = cause.getCause()
    return address, reason
