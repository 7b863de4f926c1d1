"""Reads events from a landing folder."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pyspark.sql import DataFrame

from colline.errors import CollineError
from colline.lake.location import local_path
from colline.pipeline.sources import landing, pending

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# the coarsest clock of a file system: FAT has 2 s
CLOCK_TICK_NS = 2_000_000_000


class EventSource(Protocol):
    """A place that events are read from, each exactly once."""

    @property
    def address(self) -> str:
        """What `--from` names."""

    def stream(self, spark: SparkSession) -> DataFrame:
        """Its lines as a stream; `landing.with_positions` adds missing positions."""

    def contents(self, spark: SparkSession) -> dict[str, Any] | None:
        """What is in it now, to be recorded after its ingest; None if that is not known."""

    def state(self, spark: SparkSession) -> object | None:
        """A value that changes when events arrive, found without Spark; None if that is not known."""

    def explain(self, error: Exception) -> CollineError | None:
        """What an error that ended the stream means, if it is about this place."""


@dataclass(frozen=True)
class FolderSource:
    """A landing folder."""

    address: str
    # subfolder → when it was changed, how many entries it has, and its subfolders
    _listed: dict[str, tuple[int, int, list[str]]] = field(default_factory=dict, repr=False, compare=False)

    def stream(self, spark: SparkSession) -> DataFrame:
        """The lines of its files. Their positions are known in a batch only."""
        return landing.stream(spark, self.address)

    def contents(self, _spark: SparkSession) -> dict[str, Any] | None:
        """The names of its files, on this machine."""
        return pending.landed_files(self.address)

    def state(self, _spark: SparkSession) -> object | None:
        """When each of its subfolders was changed, and how many entries each has; None for a remote folder.

        Only subfolders that were changed are listed again: a week of files is too much to list every second.
        """
        where = local_path(self.address)
        if where is None or not Path(where).is_dir():
            return None
        found: dict[str, tuple[int, int]] = {}
        unseen = [where]
        while unseen:
            folder = unseen.pop()
            with suppress(FileNotFoundError):
                changed_at, entries, subfolders = self._list(folder)
                found[folder] = changed_at, entries
                unseen += subfolders
        return found

    def _list(self, folder: str) -> tuple[int, int, list[str]]:
        changed_at = Path(folder).stat().st_mtime_ns
        known = self._listed.get(folder)
        # two changes of one tick of the file system's clock have the same time
        if known is not None and known[0] == changed_at < time.time_ns() - CLOCK_TICK_NS:
            return known
        with os.scandir(folder) as entries:
            rows = [(entry.path, entry.is_dir()) for entry in entries]
        self._listed[folder] = changed_at, len(rows), [path for path, is_folder in rows if is_folder]
        return self._listed[folder]

    def explain(self, _error: Exception) -> CollineError | None:
        """Nothing: corrupt files are renamed."""
        return None
