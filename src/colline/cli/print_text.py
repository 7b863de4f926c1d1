"""Prints text that contains names of events and files: control characters are escaped.

A terminal that cannot show `→` gets `->`; other characters that it does not have are spelled as code points.
"""

from __future__ import annotations

import codecs
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from colline.terminal_text import escape_control_characters, escape_lines

_REPLACEMENTS = str.maketrans(
    {"→": "->", "←": "<-", "⇒": "=>", "…": "...", "─": "-", "│": "|", "├": "|", "└": "`", "·": "-", "×": "x", "—": "-"}
)
_ERRORS = "colline-replace"
MAX_COLUMN_WIDTH = 60


def print_line(text: str, *, err: bool = False) -> None:
    """Print one line, on stderr if `err`."""
    click.echo(escape_control_characters(text), err=err)


def print_lines(text: str, *, err: bool = False) -> None:
    """Print lines, on stderr if `err`."""
    click.echo(escape_lines(text), err=err)


def print_table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print aligned columns below their headers. Cells are not shortened; a wide one does not widen its column."""
    lines = [list(headers), *([escape_control_characters(cell) for cell in row] for row in rows)]
    widths = [max(len(cell) for cell in column if len(cell) <= MAX_COLUMN_WIDTH) for column in zip(*lines, strict=True)]
    for line in lines:
        click.echo("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())


def print_json(value: Any, *, indent: int | None = None) -> None:
    """Print a value as JSON. Letters that stdout cannot show are escaped as JSON has it, and nothing is replaced."""
    is_unicode = codecs.lookup(sys.stdout.encoding or "ascii").name.startswith("utf")
    click.echo(json.dumps(value, ensure_ascii=not is_unicode, indent=indent))


@contextmanager
def replaced_characters() -> Iterator[None]:
    """Within it, stdout and stderr replace characters that their encoding does not have."""
    streams = [each for each in (sys.stdout, sys.stderr) if isinstance(each, io.TextIOWrapper)]
    before = [stream.errors for stream in streams]
    for stream in streams:
        stream.reconfigure(errors=_ERRORS)
    try:
        yield
    finally:
        for stream, errors in zip(streams, before, strict=True):
            stream.reconfigure(errors=errors)


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_REPLACEMENTS)
    return text.encode("ascii", "backslashreplace").decode("ascii"), error.end


codecs.register_error(_ERRORS, _replace)
