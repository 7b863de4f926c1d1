"""Lake addresses: whether one is on this machine, and how Hadoop, fsspec and delta-rs spell it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote, urlsplit

# Hadoop's scheme → fsspec's scheme, where they differ
FSSPEC_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfss": "abfs", "wasb": "abfs", "wasbs": "abfs"}
# fsspec's scheme → the package with its driver
DRIVERS = {"s3": "s3fs", "abfs": "adlfs", "az": "adlfs", "gs": "gcsfs", "gcs": "gcsfs", "hdfs": "pyarrow"}


def scheme_of(address: str) -> str:
    """`s3a://bucket/x` → `s3a`, `file:/x` → `file`, `/tmp/x` → an empty string."""
    head, separator, _ = address.partition("://")
    if separator:
        return head.lower()
    return "file" if address.lower().startswith("file:") else ""


def is_remote(address: str) -> bool:
    """Whether the address is on another file system than this machine's."""
    return scheme_of(address) not in {"", "file"}


def local_path(address: str) -> str | None:
    """The path on this machine of a plain path or a `file:` address; None for any other file system."""
    if is_remote(address):
        return None
    return unquote(urlsplit(address).path) if scheme_of(address) == "file" else address


def hadoop_path(address: str) -> str:
    """The address without a trailing slash, as Hadoop reads it: in a `file:` address it does not decode `%20`."""
    path = f"file:{local_path(address)}" if scheme_of(address) == "file" else address
    return path.rstrip("/")


def hadoop_glob(path: str) -> str | None:
    """A Hadoop glob pattern that matches only this path; None for a path that needs escapes and has a colon."""
    pattern = re.sub(r"[\\{}\[\]*?]", r"\\\g<0>", path)
    names = re.sub(r"^\w[\w+.-]*:(//[^/]*)?", "", path)
    return None if pattern != path and ":" in names else pattern


def is_readable_by_delta_rs(path: str) -> bool:
    """Whether delta-rs finds tables below this path: it decodes `%20` and takes a backslash for a slash."""
    return unquote(path) == path and "\\" not in path and path.isprintable()


def fsspec_driver(address: str) -> str:
    """The package with fsspec's driver of an address; empty if fsspec needs none or it is not known."""
    scheme = scheme_of(address)
    return DRIVERS.get(FSSPEC_SCHEMES.get(scheme, scheme), "")


def fsspec_filesystem(address: str) -> tuple[Any, str]:
    """The fsspec file system of an address, without a listings cache, and the path in it."""
    from fsspec.core import url_to_fs

    scheme, _, rest = address.partition("://")
    files, root = url_to_fs(f"{FSSPEC_SCHEMES.get(scheme.lower(), scheme)}://{rest}", use_listings_cache=False)
    return files, str(root).rstrip("/")
