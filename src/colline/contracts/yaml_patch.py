"""Changes a YAML text only where its values changed: every other line stays as people wrote it."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from colline.contracts.yaml_tree import YamlPlace, dump_yaml, list_offset_of, round_trip_yaml, yaml_places

# the keys that identify an item of a list of a contract
_IDENTITIES = ("name", "property", "id")
_MERGE_KEY = "<<"
_NO_FOLDING = 1 << 20  # characters in a line


class _CannotPatchError(Exception):
    """A text in a form whose parts cannot be replaced one by one."""


def patch_yaml(text: str, after: Any) -> str:
    """The text with the values of `after`. A text that cannot be changed in parts is written as a whole."""
    from ruamel.yaml.error import YAMLError

    before = round_trip_yaml().load(text)
    if before == after:
        return text
    patch = _Patch(text)
    try:
        patched = patch.apply(before, after)
        if round_trip_yaml().load(patched) == after:
            return patched
    except (_CannotPatchError, YAMLError):
        pass
    return dump_yaml(after, patch.list_offset)


class _Patch:
    """Collects the edits of one text: parts to replace, in the order of the text."""

    def __init__(self, text: str) -> None:
        self._line_end = "\r\n" if "\r\n" in text else "\n"
        self._text = text if text.endswith("\n") else text + self._line_end
        self._root = yaml_places(self._text)
        self.list_offset = list_offset_of(self._root)
        self._edits: list[tuple[int, int, str]] = []

    def apply(self, before: Any, after: Any) -> str:
        """The text after all edits."""
        self._value(self._root, before, after)
        parts, place = [], 0
        for start, end, new in sorted(self._edits, key=lambda edit: (edit[0], edit[1] > edit[0])):
            if start < place:
                raise _CannotPatchError
            parts += [self._text[place:start], new]
            place = end
        return "".join([*parts, self._text[place:]])

    def _value(self, place: YamlPlace, before: Any, after: Any) -> bool:
        """Change a value in its place; False if it must be written again with its key."""
        if before == after:
            return True
        if place.is_block and before and after and place.kind != "scalar":
            if isinstance(before, Mapping) and isinstance(after, Mapping):
                self._mapping(place, before, after)
                return True
            if _is_list(before) and _is_list(after):
                self._sequence(place, before, after)
                return True
        return not place.is_block and self._on_its_line(place, after)

    def _on_its_line(self, place: YamlPlace, after: Any) -> bool:
        """Replace a scalar, or a list in brackets, by another one."""
        if place.kind == "alias" or "\n" in self._text[place.start : place.end] or place.start == place.end:
            return False
        is_flow = place.kind == "sequence" and _is_list(after) and not any(map(_is_collection, after))
        if (_is_collection(after) and not is_flow) or (isinstance(after, str) and "\n" in after):
            return False
        written = _inline(after)
        if "\n" in written:
            return False
        self._edits.append((place.start, place.end, written))
        return True

    # mappings

    def _mapping(self, place: YamlPlace, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> None:
        pairs = {key.text: (key, value) for key, value in place.pairs()}
        for name, (key, value) in pairs.items():
            if name != _MERGE_KEY and name not in after:
                self._delete_lines(key.start, value.end)
        end: int | None = None  # of the key before, in the new order
        for name, new in after.items():
            if name in pairs:
                key, value = pairs[name]
                if not self._value(value, before[name], new):
                    rest = self._render({name: new}, key.column).lstrip(" ")
                    self._edits.append((key.start, self._next_line(value.end), rest))
                end = value.end
            elif name not in before or before[name] != new:  # an equal value comes from a merged mapping
                if end is None:
                    raise _CannotPatchError
                self._insert(self._next_line(end), self._render({name: new}, place.column))

    # sequences

    def _sequence(self, place: YamlPlace, before: Sequence[Any], after: Sequence[Any]) -> None:
        old, new = _identities(before), _identities(after)
        for tag, first, last, new_first, new_last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag == "equal":
                for at, new_at in zip(range(first, last), range(new_first, new_last), strict=True):
                    self._item(place, at, before[at], after[new_at])
                continue
            for item in place.items[first:last]:
                self._delete_lines(self._dash(item), item.end)
            at = self._next_line(place.items[first - 1].end) if first else self._line_start(place.items[0].start)
            for item in after[new_first:new_last]:
                self._insert(at, self._render([item], place.column))

    def _item(self, place: YamlPlace, at: int, before: Any, after: Any) -> None:
        item = place.items[at]
        if not self._value(item, before, after):
            start = self._line_start(self._dash(item))
            self._edits.append((start, self._next_line(item.end), self._render([after], place.column)))

    def _dash(self, item: YamlPlace) -> int:
        """The place of the dash of an item, which must be the first one on its line."""
        lead = self._text[self._line_start(item.start) : item.start]
        if lead.strip() != "-":
            raise _CannotPatchError
        return self._line_start(item.start) + lead.index("-")

    # lines

    def _line_start(self, place: int) -> int:
        return self._text.rfind("\n", 0, place) + 1

    def _next_line(self, place: int) -> int:
        return self._text.index("\n", place) + 1

    def _delete_lines(self, start: int, end: int) -> None:
        first = self._line_start(start)
        if self._text[first:start].strip():  # the first key of an item is on the line of its dash
            raise _CannotPatchError
        self._edits.append((first, self._next_line(end), ""))

    def _insert(self, place: int, lines: str) -> None:
        self._edits.append((place, place, lines))

    def _render(self, value: Any, column: int) -> str:
        """The lines of a mapping or list that begins in a column."""
        text = textwrap.dedent(dump_yaml(_without_comments(value), self.list_offset))
        return textwrap.indent(text, " " * column).replace("\n", self._line_end)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_collection(value: Any) -> bool:
    return isinstance(value, Mapping | list)


def _inline(value: Any) -> str:
    """A scalar, or a list of scalars in brackets, as it is written after a key."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(value, list):
        value = CommentedSeq(value)
        value.fa.set_flow_style()
    return dump_yaml(CommentedMap(v=value), width=_NO_FOLDING).removeprefix("v:").strip()


def _identities(items: Sequence[Any]) -> list[str]:
    """A text for each item that stays the same when the rest of the item changes, if it has one of its own."""
    found = [_identity(item) for item in items]
    counts = Counter(found)
    return [
        name if name and counts[name] == 1 else json.dumps(item, default=str, sort_keys=True)
        for name, item in zip(found, items, strict=True)
    ]


def _identity(item: Any) -> str:
    if not isinstance(item, Mapping):
        return ""
    return next((f"{key}: {item[key]}" for key in _identities_of(item)), "")


def _identities_of(item: Mapping[Any, Any]) -> Iterator[str]:
    return (key for key in _IDENTITIES if isinstance(item.get(key), str))


def _without_comments(value: Any) -> Any:
    """The value as a tree of its own, without the comments of the file."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if isinstance(value, Mapping):
        return CommentedMap((key, _without_comments(each)) for key, each in value.items())
    return CommentedSeq(map(_without_comments, value)) if isinstance(value, list) else value
