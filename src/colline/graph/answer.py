"""What every answer has: the verdict first, totals, rows nearest first, what is unknown, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict

import msgspec

from colline.environment.extras import require_package
from colline.errors import CursorError, SettingError
from colline.graph.queries.registry import DEFAULT_LIMIT
from colline.graph.rows import ColumnIdentity, Row, Unknown

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Json = dict[str, Any]
Totals = Mapping[str, int | bool | dict[str, int]]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one question; each question has a subclass with its rows (`colline.graph.results`)."""

    main: ClassVar[str] = "rows"
    question: str
    of: tuple[ColumnIdentity, ...] = ()
    as_of: str
    verdict: str
    totals: Totals = {}
    unknown: tuple[Unknown, ...] = ()
    left_out: int = 0
    cursor: str | None = None
    snapshot: str
    holds: bool = True  # False: the verdict is a "no" or a violation, and the command exits with 1; not in the JSON

    @classmethod
    def json_fields(cls) -> dict[str, str]:
        """The JSON keys in their order, each with the name of its attribute: the verdict first, then the rows."""
        keys = dict(zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True))
        own = [name for name in keys if name not in Answer.__struct_fields__]
        return {keys[name]: name for name in (*_BEFORE_ROWS, *own, *_AFTER_ROWS)}

    def _json(self) -> Json:
        return {key: getattr(self, name) for key, name in self.json_fields().items()}

    def to_dict(self) -> Json:
        """The answer as plain JSON types, equal to the output of `--json` and of the REST API."""
        plain: Json = msgspec.json.decode(self.to_json())
        return plain

    def to_json(self) -> bytes:
        """The JSON of `to_dict()`."""
        return msgspec.json.encode(self._json())

    @property
    def main_rows(self) -> list[Row]:
        """The rows that answer the question."""
        rows: list[Row] = getattr(self, self.main)
        return rows

    def flat_rows(self) -> list[Json]:
        """The rows as flat dicts: the name of a row's job is `job.name`. Lists stay lists."""
        return [_flatten(msgspec.json.decode(msgspec.json.encode(row))) for row in self.main_rows]

    def to_pandas(self) -> pd.DataFrame:
        """The flat rows as a pandas DataFrame."""
        require_package("pandas")
        import pandas as pd

        frame: pd.DataFrame = pd.DataFrame(self.flat_rows())
        return frame

    def to_arrow(self) -> pa.Table:
        """The flat rows as an Arrow table."""
        require_package("pyarrow")
        import pyarrow as pa

        return pa.Table.from_pylist(self.flat_rows())

    def __str__(self) -> str:
        from colline.graph.render.text import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from colline.graph.render.notebook_html import to_html

        return to_html(self)


_BEFORE_ROWS = ("question", "of", "as_of", "verdict", "totals")
_AFTER_ROWS = ("unknown", "left_out", "cursor", "snapshot")


def _flatten(row: Json, prefix: str = "") -> Json:
    out: Json = {}
    for key, value in row.items():
        if isinstance(value, dict):
            out |= _flatten(value, f"{prefix}{key}.")
        else:
            out[prefix + key] = value
    return out


def count_of(number: int, word: str, plural: str | None = None) -> str:
    """`1 column`, `2 columns`."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def show_duration(seconds: float | None) -> str:
    """`0.4 s`, `12 s`, `3 min`, `2.5 h`, `12 days`."""
    if seconds is None:
        return ""
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 2 * 86400:
        return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:,.0f} days"


class PageFields(TypedDict):
    """The fields that every answer with pages has."""

    as_of: str
    left_out: int
    cursor: str | None
    snapshot: str


@dataclass(frozen=True)
class Page:
    """The part of the rows that was asked for, of one snapshot. A limit of None is all rows."""

    offset: int = 0
    limit: int | None = DEFAULT_LIMIT
    snapshot: str = ""

    @property
    def rows(self) -> slice:
        """The rows of the page."""
        return slice(self.offset, None if self.limit is None else self.offset + self.limit)

    def answer_fields(self, total: int, as_of: str) -> PageFields:
        """The time, the number of rows after this page, and the cursor of the next page, for the answer."""
        end = total if self.limit is None else min(total, self.offset + self.limit)
        cursor = f"{self.snapshot}~{end}" if end < total else None
        return {"as_of": as_of, "left_out": total - end, "cursor": cursor, "snapshot": self.snapshot}


def page_at(limit: int, cursor: str | None, snapshot: str) -> Page:
    """The page that a limit and a cursor ask for. A cursor from another snapshot is an error."""
    if limit < 0:
        raise SettingError(f"the limit is {limit}", hint="use a positive number, or 0 for all rows")
    offset = 0
    if cursor:
        version, _, place = cursor.partition("~")
        if not place.isdigit():
            raise CursorError(f"{cursor!r} is not a cursor", hint="use the `cursor` of the previous answer")
        if version != snapshot:
            raise CursorError("a newer snapshot was published since the first page", hint="start again without cursor")
        offset = int(place)
    return Page(offset, limit or None, snapshot)
