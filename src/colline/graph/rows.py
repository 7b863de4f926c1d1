"""The rows that all answers share: columns, datasets, jobs and edges. A class lists its keys in the order of the JSON.

A class that adds keys to another one is built from its rows: `SchemaColumn.extend(column, ordinal=1)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import astuple

if TYPE_CHECKING:
    from typing_extensions import Self

Relation = Literal["direct", "indirect"]


class Row(msgspec.Struct, frozen=True, gc=False):
    """A value with named fields that is also read by its JSON keys: `row["label"]`, `dict(row)`."""

    @classmethod
    def extend(cls, row: Row, **values: object) -> Self:
        """The values of another row, with further values."""
        construct: Callable[..., Self] = cls
        return construct(*astuple(row), **values)

    def keys(self) -> tuple[str, ...]:
        """The JSON keys."""
        tag = self.__struct_config__.tag_field
        return (tag, *self.__struct_encode_fields__) if tag else self.__struct_encode_fields__

    def __getitem__(self, key: str) -> object:
        if key not in self.keys():
            raise KeyError(key)
        if key == self.__struct_config__.tag_field:
            return self.__struct_config__.tag
        return getattr(self, self.__struct_fields__[self.__struct_encode_fields__.index(key)])


class Unknown(Row, frozen=True):
    """Something the answer cannot know, and why."""

    what: str
    why: str
    count: int = 1


class ColumnIdentity(Row, frozen=True):
    """The identity of a column. `label` is its short name."""

    id: int
    namespace: str
    name: str
    field: str
    label: str


class ColumnRow(ColumnIdentity, frozen=True):
    """A column with its type, tags and layer. `up` and `down` count its direct neighbours."""

    type: str | None
    tags: list[str]
    layer: str | None
    up: int
    down: int


class CountedColumn(ColumnRow, frozen=True):
    """A column that also has the number of columns that decide it (filter, join, …), and that it decides."""

    up_conditions: int
    down_conditions: int


class JobIdentity(Row, frozen=True):
    """The identity of a job."""

    namespace: str
    name: str


class JobRow(Row, frozen=True):
    """A job with the times and the outcome of its runs."""

    id: int
    namespace: str
    name: str
    integration: str | None
    owner: str | None
    last_run: str | None
    last_state: str | None
    last_error: str | None
    first_seen: str | None
    last_started: str | None
    last_ended: str | None
    last_success: str | None
    last_failure: str | None
    changed_at: str | None
    runs: int


class DatasetRow(Row, frozen=True):
    """A dataset and when it was written and read."""

    id: int
    namespace: str
    name: str
    label: str
    kind: str | None
    layer: str | None
    owner: str | None
    domain: str | None
    tags: list[str]
    symlinks: list[str]
    first_seen: str | None
    last_seen: str | None
    last_written: str | None
    last_read: str | None
    dropped_at: str | None


class EdgeRow(Row, frozen=True, rename={"from_": "from"}):
    """An edge between two columns of the answer, by their ids."""

    from_: int
    to: int
    type: Literal["DIRECT", "INDIRECT"]
    subtype: str
    masking: bool
    job: JobIdentity | None
    last_run: str | None
    last_state: str | None
    last_seen: str | None
    first_seen: str | None
    retired_at: str | None
    description: str
    level: Literal["column", "dataset"]
    implied: bool


class DatasetIdentity(Row, frozen=True):
    """The identity of a dataset. `label` is its short name."""

    namespace: str
    name: str
    label: str
    layer: str | None
