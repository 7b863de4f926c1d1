"""Prints text that contains names of events and files: control characters are escaped."""

from __future__ import annotations

import click

from colline.terminal_text import escape_control_characters, escape_lines


def print_line(text: str, *, err: bool = False) -> None:
    """Print one line, on stderr if `err`."""
    click.echo(escape_control_characters(text), err=err)


def print_lines(text: str, *, err: bool = False) -> None:
    """Print lines, on stderr if `err`."""
    click.echo(escape_lines(text), err=err)
