"""A command line that was written wrong is told as every other error: what, then `hint:` with the next step."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

_LAKE = "give --lake PATH, or set COLLINE_LAKE"


@contextmanager
def usage_told() -> Iterator[None]:
    """A wrong usage inside becomes two lines on stderr and click's exit code, 2."""
    try:
        yield
    except click.UsageError as error:
        if type(error).show is not click.UsageError.show:  # a group without a command shows its help instead
            raise
        click.echo(f"error: {_what(error)}\nhint: {_hint(error)}", err=True)
        sys.exit(error.exit_code)


def _what(error: click.UsageError) -> str:
    """Click's sentence, in lower case and without what belongs into the hint."""
    said = error.message if _near(error) else error.format_message()
    return f"{said[:1].lower()}{said[1:]}".rstrip(".")


def _hint(error: click.UsageError) -> str:
    if near := _near(error):
        return f"did you mean {' or '.join(near)}?"
    if isinstance(error, click.MissingParameter) and error.param is not None and "--lake" in error.param.opts:
        return _LAKE
    return f"`{error.ctx.command_path if error.ctx else 'colline'} --help` shows what it takes"


def _near(error: click.UsageError) -> list[str]:
    return list(getattr(error, "possibilities", None) or [])
