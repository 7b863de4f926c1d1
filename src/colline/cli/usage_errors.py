"""Prints wrong usage like every other error: what is wrong, then `hint:` with what to do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from colline.cli.print_text import print_lines

_LAKE_HINT = "give --lake PATH, or set COLLINE_LAKE"


@contextmanager
def report_usage_errors() -> Iterator[None]:
    """Prints a click.UsageError as two lines on stderr and exits with its code, 2."""
    try:
        yield
    except click.UsageError as error:
        if type(error).show is not click.UsageError.show:  # a group without a command prints its help instead
            raise
        print_lines(f"error: {_message(error)}\nhint: {_hint(error)}", err=True)
        sys.exit(error.exit_code)


def _message(error: click.UsageError) -> str:
    """Click's sentence in lower case, without the suggestions, which are in the hint."""
    text = error.message if _suggestions(error) else error.format_message()
    return f"{text[:1].lower()}{text[1:]}".rstrip(".")


def _hint(error: click.UsageError) -> str:
    if suggestions := _suggestions(error):
        return f"did you mean {' or '.join(suggestions)}?"
    if isinstance(error, click.MissingParameter) and error.param is not None and "--lake" in error.param.opts:
        return _LAKE_HINT
    return f"`{error.ctx.command_path if error.ctx else 'colline'} --help` shows the usage"


def _suggestions(error: click.UsageError) -> list[str]:
    return list(getattr(error, "possibilities", None) or [])
