"""The value every question returns: a verdict first, totals, rows nearest first, what is unknown, what was left out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

from colline.errors import SettingError
from colline.graph.queries.registry import DEFAULT_LIMIT

Row = dict[str, Any]


class KeptRow(dict[str, Any]):
    """A row that stands in many answers as it is: nobody changes it, and its JSON was written once."""

    __slots__ = ("json",)
    json: str

    @classmethod
    def of(cls, row: Row) -> KeptRow:
        """The row and its JSON."""
        import msgspec

        kept = cls(row)
        kept.json = msgspec.json.encode(row).decode()
        return kept


class LateRows(Sequence[Row]):
    """Rows that are made when somebody looks at them. Their JSON is written without them, row by row."""

    def __init__(self, make: Callable[[], list[Row]], write: Callable[[], list[str]]) -> None:
        self._make, self._write = make, write

    @cached_property
    def rows(self) -> list[Row]:
        """The rows, made once."""
        return self._make()

    @property
    def json(self) -> list[str]:
        """The JSON of each."""
        return self._write()

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        return self.rows[place]

    def __eq__(self, other: object) -> bool:
        return self.rows == (other.rows if isinstance(other, LateRows) else other)

    __hash__ = None  # type: ignore[assignment]  # as a list: it may be changed

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Row]:
        return copy.deepcopy(self.rows, memo)

    def __reduce__(self) -> tuple[type[list[Row]], tuple[list[Row]]]:
        return list, (self.rows,)


@dataclass(frozen=True)
class Answer:
    """One answer. `to_dict()` is its JSON, `str()` a readable table; each section an attribute (`answer.columns`)."""

    question: str
    verdict: str
    as_of: str
    of: tuple[Row, ...] = ()
    totals: Mapping[str, Any] = field(default_factory=dict)
    sections: Mapping[str, Any] = field(default_factory=dict)
    unknown: tuple[Row, ...] = ()
    left_out: int = 0
    cursor: str | None = None
    snapshot: str = ""
    main: str = "columns"  # the section whose rows are the answer
    holds: bool = True  # False: the verdict is a "no" or a violation, the command line ends with 1

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, the same as `--json` and the REST interface give."""
        plain: dict[str, Any] = _plain(self._whole(self.sections))
        return plain

    def to_json(self) -> bytes:
        """The JSON of `to_dict()`, without making that copy of every row first."""
        parts: list[str] = []
        plain: Row = {}  # what has no rows of its own, encoded together with its neighbours
        for name, value in self._whole(self.sections).items():
            rows = _written_rows(value)
            if rows is None:
                plain[name] = value
                continue
            parts += _members(plain)
            parts += enclosed(f'"{name}":[', rows, "]")
            plain.clear()
        # tens of kilobytes, joined once
        return ",".join(enclosed("{", parts + _members(plain), "}")).encode()

    def _whole(self, sections: Mapping[str, Any]) -> dict[str, Any]:
        head = {"question": self.question, "of": self.of, "as_of": self.as_of, "verdict": self.verdict}
        tail = {"unknown": self.unknown, "left_out": self.left_out, "cursor": self.cursor, "snapshot": self.snapshot}
        return {**head, "totals": self.totals, **sections, **tail}

    @property
    def main_rows(self) -> list[Row]:
        """The rows that answer the question."""
        return list(self.sections.get(self.main) or ())

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame, nested values spread over dotted columns."""
        import pandas as pd

        return pd.DataFrame(self.flat_rows())

    def to_arrow(self) -> Any:
        """The rows as an Arrow table."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.flat_rows())

    def flat_rows(self) -> list[Row]:
        """The rows with `job.name` instead of a value inside a value; lists are kept."""
        return [_flat(row) for row in self.main_rows]

    def __getattr__(self, name: str) -> Any:
        sections = self.__dict__.get("sections") or {}
        if name in sections:
            return copy.deepcopy(sections[name])
        raise AttributeError(f"the answer to {self.__dict__.get('question')!r} has no {name!r}")

    def __str__(self) -> str:
        from colline.graph.render.text import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        from colline.graph.render.text import to_html

        return to_html(self)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, LateRows)):
        return [_plain(item) for item in value]
    return value.item() if hasattr(value, "item") else value


def _written_rows(value: Any) -> list[str] | None:
    """The JSON of each row, where it was written already or is written without making the row."""
    if isinstance(value, LateRows):
        return value.json
    if isinstance(value, list) and value and isinstance(value[0], KeptRow):  # a list has all or none of those
        return [row.json for row in value]
    return None


def _members(plain: Row) -> list[str]:
    """The members of a JSON object without what encloses them, as one text; none if it has none."""
    import msgspec

    return [msgspec.json.encode(plain, enc_hook=_simple).decode()[1:-1]] if plain else []


def enclosed(start: str, parts: list[str], end: str) -> list[str]:
    """The parts with what encloses them, which goes into the first and the last; the list is used up."""
    if not parts:
        return [start + end]
    parts[0] = start + parts[0]
    parts[-1] += end
    return parts


def _simple(value: Any) -> Any:
    """A number of numpy as a number of Python; a mapping as a dict."""
    return value.item() if hasattr(value, "item") else dict(value)


def _flat(row: Row, prefix: str = "") -> Row:
    out: Row = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            out |= _flat(dict(value), f"{prefix}{key}.")
        else:
            out[prefix + key] = value
    return out


def counted(number: int, word: str, plural: str | None = None) -> str:
    """`1 column`, `2 columns`."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


@dataclass(frozen=True)
class Page:
    """Which part of the rows is wanted."""

    offset: int = 0
    limit: int | None = DEFAULT_LIMIT

    def next(self, total: int, version: str) -> tuple[int, str | None]:
        """How many rows come after this page, and the cursor that continues there."""
        end = total if self.limit is None else min(total, self.offset + self.limit)
        return total - end, f"{version}~{end}" if end < total else None


def page_of(limit: int | None, cursor: str | None, version: str) -> Page:
    """The page that a limit and a cursor ask for; a cursor of another snapshot is refused, not mixed in."""
    size = DEFAULT_LIMIT if limit is None else limit
    if size < 0:
        raise SettingError(f"a limit of {size}", hint="0 means all, a positive number that many")
    offset = 0
    if cursor:
        made, _, place = cursor.partition("~")
        if not place.isdigit():
            raise SettingError(f"{cursor!r} is not a cursor", hint="use the `cursor` of the answer before")
        if made != version:
            raise SettingError("newer lineage was published since the first page", hint="ask again from the start")
        offset = int(place)
    return Page(offset, size or None)
