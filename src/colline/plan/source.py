"""What a scan reads or a command writes, as Spark describes it: the raw material of a dataset's name."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class SourceKind(Enum):
    """How Spark reaches the data, which decides the rule that names it."""

    PATH = "path"
    TABLE = "table"
    VIEW = "view"
    JDBC = "jdbc"
    KAFKA = "kafka"
    LOCAL = "local"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Source:
    """One relation or target: where it is, what the catalog calls it, and which options tell more.

    `table` is the catalog identifier from the outside in, `("spark_catalog", "sales", "orders")`; the catalog part is
    absent where Spark did not say. `options` holds only what naming needs (url, dbtable, subscribe, …).
    """

    kind: SourceKind
    provider: str = ""
    paths: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    partition_columns: tuple[str, ...] = field(default=())

    def option(self, name: str) -> str | None:
        """The option of that name, whatever its case."""
        wanted = name.lower()
        return next((value for key, value in self.options if key.lower() == wanted), None)
