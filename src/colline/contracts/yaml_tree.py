"""YAML text → the places of its values in the text, and values → YAML text in the same layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, Any

from colline.errors import SettingError

if TYPE_CHECKING:
    from ruamel.yaml import YAML

WIDTH = 120
LIST_OFFSET = 2  # blanks before the dashes of a list in a mapping
_TRAILING_BLANKS = re.compile(r"[ \t]+$", re.MULTILINE)


@dataclass(slots=True)
class YamlPlace:
    """Where a value is in a text. A mapping has pairs, a sequence items; `is_block`: on lines of its own."""

    kind: str  # mapping, sequence, scalar, alias
    start: int
    end: int
    column: int
    is_block: bool = False
    text: str = ""
    items: list[YamlPlace] = field(default_factory=list)

    def pairs(self) -> Iterator[tuple[YamlPlace, YamlPlace]]:
        """The keys of a mapping with their values."""
        return zip(self.items[::2], self.items[1::2], strict=True)


def round_trip_yaml(list_offset: int = LIST_OFFSET, width: int = WIDTH) -> YAML:
    """A reader and writer that keeps comments, quotes and the order of keys."""
    try:
        from ruamel.yaml import YAML
    except ImportError as error:
        raise SettingError("ruamel.yaml is not installed", hint="pip install 'colline[contracts]'") from error
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = width
    yaml.indent(mapping=2, sequence=list_offset + 2, offset=list_offset)
    return yaml


def dump_yaml(tree: Any, list_offset: int = LIST_OFFSET, width: int = WIDTH) -> str:
    """The YAML of a tree, without blanks at the ends of lines where these mean nothing."""
    out = StringIO()
    round_trip_yaml(list_offset, width).dump(tree, out)
    text = out.getvalue()
    stripped = _TRAILING_BLANKS.sub("", text)
    return stripped if stripped == text or round_trip_yaml().load(stripped) == tree else text


def yaml_places(text: str) -> YamlPlace:
    """The places of all values of a YAML text, which has at least one."""
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, ScalarEvent

    root = YamlPlace("sequence", 0, len(text), 0)
    open_places = [root]
    for event in round_trip_yaml().parse(text):
        start, end = event.start_mark, event.end_mark
        if isinstance(event, CollectionStartEvent):
            kind = "mapping" if type(event).__name__.startswith("Mapping") else "sequence"
            place = YamlPlace(kind, start.index, end.index, start.column, is_block=not event.flow_style)
            open_places[-1].items.append(place)
            open_places.append(place)
        elif isinstance(event, CollectionEndEvent):
            place = open_places.pop()
            place.end = _block_end(place) if place.is_block else end.index
        elif isinstance(event, ScalarEvent):
            stop = _literal_end(text, start.index, end.index) if event.style in ("|", ">") else end.index
            is_block = event.style in ("|", ">")
            place = YamlPlace("scalar", start.index, stop, start.column, is_block=is_block, text=event.value)
            open_places[-1].items.append(place)
        elif isinstance(event, AliasEvent):
            open_places[-1].items.append(YamlPlace("alias", start.index, end.index, start.column))
    return root.items[0]


def _block_end(place: YamlPlace) -> int:
    """A collection on lines of its own ends with its last value; comments after it belong to what follows."""
    return place.items[-1].end if place.items else place.start


def _literal_end(text: str, start: int, end: int) -> int:
    """The end of a `|` or `>` text without the blank lines and comments after it."""
    lines = text[start:end].split("\n")
    first = next((line for line in lines[1:] if line.strip()), "")
    indent = len(first) - len(first.lstrip())
    while len(lines) > 1 and _is_after_literal(lines[-1], indent):
        end -= len(lines.pop()) + 1
    return end


def _is_after_literal(line: str, indent: int) -> bool:
    content = line.lstrip()
    return not content or (content.startswith("#") and len(line) - len(content) < indent)


def list_offset_of(place: YamlPlace) -> int:
    """How far the first list of a file is indented in its mapping."""
    waiting = [place]
    for each in waiting:
        for inner in each.items:
            if each.kind == "mapping" and each.is_block and inner.kind == "sequence" and inner.is_block:
                return inner.column - each.column
        waiting += each.items
    return LIST_OFFSET
