"""What a scan reads or a command writes, as Spark describes it, before it has an OpenLineage name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class SourceKind(Enum):
    """How Spark accesses the data. It decides which naming rule applies."""

    PATH = "path"
    TABLE = "table"
    VIEW = "view"
    JDBC = "jdbc"
    KAFKA = "kafka"
    PYTHON = "python"
    LOCAL = "local"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Source:
    """A relation that is read, or a target that is written.

    `table` is the catalog identifier, outermost part first: `("spark_catalog", "sales", "orders")`. The catalog is
    missing where Spark does not report it. `options` has only what naming needs: url, dbtable, subscribe, …
    """

    kind: SourceKind
    provider: str = ""
    paths: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    partition_columns: tuple[str, ...] = ()

    def option(self, name: str) -> str | None:
        """The value of an option; names are case-insensitive."""
        wanted = name.lower()
        return next((value for key, value in self.options if key.lower() == wanted), None)
