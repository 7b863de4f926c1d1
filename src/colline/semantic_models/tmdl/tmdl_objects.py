"""TMDL text → the objects and properties that it declares.

An object begins with a keyword and a name, and its properties are one level deeper. The lines of an expression are
deeper than the properties around it, or between ``` fences.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from colline.semantic_models.semantic_model import FilePosition, ModelProblem

MAX_TMDL_CHARS = 50_000_000
SPACES_PER_LEVEL = 4
FENCE = "```"

_LINE_END = re.compile(r"\r\n|\r|\n")  # other separators, such as U+2028, are characters of a text
_DECLARATION = re.compile(r"(?P<word>[A-Za-z_]\w*)(?P<rest>.*)", re.DOTALL)
_NAME = re.compile(r"'(?P<quoted>(?:[^']|'')*)'|(?P<plain>[^\s=:'][^\s=:]*)")


@dataclass
class TmdlObject:
    """A keyword with its name and value: an object, or a property of one. Lists grow while the text is read."""

    keyword: str
    name: str = ""
    value: str = ""
    is_expression: bool = False
    description: str = ""
    line: int = 1
    value_line: int = 1
    level: int = 0
    children: list[TmdlObject] = field(default_factory=list)

    def child(self, keyword: str) -> TmdlObject | None:
        """The first child with this keyword."""
        wanted = keyword.lower()
        return next((each for each in self.children if each.keyword.lower() == wanted), None)

    def all(self, keyword: str) -> list[TmdlObject]:
        """The children with this keyword, in order."""
        wanted = keyword.lower()
        return [each for each in self.children if each.keyword.lower() == wanted]

    def text(self, keyword: str) -> str:
        """The value of a property; empty if it is not set."""
        found = self.child(keyword)
        return unquote(found.value) if found is not None else ""

    def name_in(self, keyword: str) -> str:
        """The value of a property that is a name: `column: 'Product''s Name'` → Product's Name."""
        text = self.text(keyword)
        is_quoted = len(text) > 1 and text[0] == text[-1] == "'"
        return text[1:-1].replace("''", "'") if is_quoted else text

    def flag(self, keyword: str) -> bool:
        """Whether a property is set: `isHidden` alone, or `isHidden: true`."""
        found = self.child(keyword)
        return found is not None and found.value.strip().lower() in {"", "true"}


def unquote(text: str) -> str:
    """The value of a text property without the double quotes that protect its blanks."""
    stripped = text.strip()
    is_quoted = len(stripped) > 1 and stripped[0] == stripped[-1] == '"'
    return stripped[1:-1].replace('""', '"') if is_quoted else stripped


def split_names(text: str) -> tuple[str, ...]:
    """`Sales.'Product Key'` → Sales, Product Key."""
    found = re.findall(r"'((?:[^']|'')*)'|([^.']+)", text.strip())
    return tuple(quoted.replace("''", "'") or plain.strip() for quoted, plain in found)


def read_objects(text: str, file: str = "") -> tuple[TmdlObject, list[ModelProblem]]:
    """The objects of a TMDL file, below a root without a name, and the lines that could not be read."""
    if len(text) > MAX_TMDL_CHARS:
        problem = ModelProblem(FilePosition(file), f"{len(text):,} characters; at most {MAX_TMDL_CHARS:,} are read")
        return TmdlObject("", level=-1), [problem]
    lines = _LINE_END.split(text.removeprefix("\ufeff"))
    reader = _Reader(lines, file)
    reader.read()
    return reader.root, reader.problems


class _Reader:
    """Reads lines from top to bottom. `_open` is the path from the root to the object that the next line belongs to."""

    def __init__(self, lines: Sequence[str], file: str) -> None:
        self.root = TmdlObject("", level=-1)
        self.problems: list[ModelProblem] = []
        self._lines = lines
        self._file = file
        self._open = [self.root]
        self._description: list[str] = []
        self._spaces = _spaces_per_level(lines)

    def read(self) -> None:
        """Read all lines."""
        place = 0
        while place < len(self._lines):
            place = self._read_line(place)

    def _level(self, line: str) -> int:
        """How deep a line is indented, in tabs or in the spaces that this file uses for one."""
        blanks = line[: len(line) - len(line.lstrip())]
        tabs = blanks.count("\t")
        return tabs + (len(blanks) - tabs) // self._spaces

    def _read_line(self, place: int) -> int:
        """Read the object or property that begins on a line; returns the line after it."""
        line = self._lines[place]
        content = line.strip()
        if not content:
            return place + 1
        if content.startswith("///"):
            self._description.append(content[3:].strip())
            return place + 1
        found = self._declaration(content, place)
        level = self._level(line)
        while self._open[-1].level >= level:
            self._open.pop()
        if found is None:
            self._report(place, "expected an object such as `measure Name = …`, or a property such as `isHidden`")
            return self._skip_deeper(place + 1, level)
        found.level, found.line, found.description = level, place + 1, "\n".join(self._description)
        self._description = []
        self._open[-1].children.append(found)
        self._open.append(found)
        return self._read_value(found, place) if found.is_expression else place + 1

    def _skip_deeper(self, place: int, level: int) -> int:
        """The first line from a place on that is not deeper than a level."""
        while place < len(self._lines) and (not self._lines[place].strip() or self._level(self._lines[place]) > level):
            place += 1
        return place

    def _declaration(self, content: str, place: int) -> TmdlObject | None:
        matched = _DECLARATION.fullmatch(content)
        if matched is None:
            return None
        word, rest = matched["word"], matched["rest"]
        if not rest.strip() or rest.lstrip()[0] in ":=":
            mark, value = rest.strip()[:1], rest.strip()[1:].strip()
            return TmdlObject(word, value=value, is_expression=mark == "=")
        name = _NAME.match(rest.lstrip()) if rest[0].isspace() else None
        if name is None:
            return None
        after = rest.lstrip()[name.end() :].strip()
        value = (name["quoted"] or "").replace("''", "'") if name["plain"] is None else name["plain"]
        if word == "ref":
            return TmdlObject("ref", name=after, value=value)
        if after and not after.startswith(("=", ":")):
            self._report(place, f"expected `=` or the end of the line after the name `{value}`")
        return TmdlObject(word, name=value, value=after[1:].strip(), is_expression=after.startswith("="))

    def _read_value(self, found: TmdlObject, place: int) -> int:
        """Read the lines of an expression that begins after `=`."""
        found.value_line = place + 1
        if found.value.startswith(FENCE):
            return self._read_fenced(found, place)
        # the lines of an object's expression are deeper than its properties, those of a property just deeper than it
        least = found.level + (2 if found.name else 1)
        end = place + 1
        last = place
        while end < len(self._lines) and (not self._lines[end].strip() or self._level(self._lines[end]) >= least):
            last = end if self._lines[end].strip() else last
            end += 1
        if last > place:
            lines = textwrap.dedent("\n".join(self._lines[place + 1 : last + 1]))
            found.value_line = place + 1 if found.value else place + 2
            found.value = f"{found.value}\n{lines}".strip("\n")
        return last + 1

    def _read_fenced(self, found: TmdlObject, place: int) -> int:
        first = found.value[len(FENCE) :]
        end = next((at for at in range(place + 1, len(self._lines)) if self._lines[at].strip() == FENCE), None)
        if end is None:
            self._report(place, f"expected {FENCE} after the expression that begins here")
        last = len(self._lines) if end is None else end
        lines = textwrap.dedent("\n".join(self._lines[place + 1 : last]))
        found.value_line = place + 1 if first else place + 2
        found.value = f"{first}\n{lines}".strip("\n")
        return last + 1

    def _report(self, place: int, message: str) -> None:
        self.problems.append(ModelProblem(FilePosition(self._file, place + 1), message))


def _spaces_per_level(lines: Sequence[str]) -> int:
    """The indentation of a file that uses spaces: that of its first indented line."""
    widths = (len(line) - len(line.lstrip(" ")) for line in _outside_fences(lines) if line.startswith(" "))
    return next((width for width in widths if width > 1), SPACES_PER_LEVEL)


def _outside_fences(lines: Sequence[str]) -> Iterator[str]:
    is_inside = False
    for line in lines:
        if line.rstrip().endswith(FENCE):
            is_inside = not is_inside
        elif not is_inside and line.strip():
            yield line
