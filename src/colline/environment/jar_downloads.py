"""Lets one process at a time download Spark's packages: Ivy, which does it, damages a cache that two processes fill."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# Ivy's folders in the home directory: of Spark 4, and of Spark 3.5
IVY_FOLDERS = (".ivy2.5.2", ".ivy2")


def downloaded_jars(pattern: str) -> list[Path]:
    """The jars of this name, a glob pattern, that Spark has downloaded."""
    return [jar for folder in IVY_FOLDERS for jar in sorted((Path.home() / folder / "jars").glob(pattern))]


@contextmanager
def one_download_at_a_time(packages: Sequence[str]) -> Iterator[None]:
    """Wait until no other process downloads, unless these packages are here already.

    A package is `group:artifact:version`, in which `*` stands for any text.
    """
    if all(downloaded_jars("_".join(package.split(":", 1)).replace(":", "-") + ".jar") for package in packages):
        yield
        return
    lock = Path.home() / ".cache" / "colline" / "jar-download.lock"
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = lock.open("a")
    except OSError:  # a home directory that cannot be written, so Ivy has no cache there either
        yield
        return
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
