"""What the commands share: the `--lake` and `--limit` options, completion of column names, and printing an answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from colline.cli.print_text import print_json

if TYPE_CHECKING:
    from colline.graph import Answer, Lineage

Decorated = TypeVar("Decorated", bound=Callable[..., Any] | click.Command)


def open_lake(lake: str) -> Lineage:
    """Opens the lake; the graph package is imported only now."""
    from colline import graph

    return graph.open_lake(lake)


def complete_column(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Column names of the lake that start with the typed text."""
    return _complete(ctx, incomplete, "complete")


def complete_table(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Names of tables and jobs that start with the typed text."""
    return _complete(ctx, incomplete, "complete_table")


def _complete(ctx: click.Context, incomplete: str, method: str) -> list[str]:
    """Names of the lake; none without a readable lake."""
    from colline.errors import CollineError

    lake = ctx.params.get("lake") or os.environ.get("COLLINE_LAKE")
    if not lake:
        return []
    try:
        names: list[str] = getattr(open_lake(lake), method)(incomplete)
    except CollineError:
        return []
    return names


def lake_option(decorated: Decorated) -> Decorated:
    """Adds `--lake PATH`, which can also be given as COLLINE_LAKE."""
    add = click.option(
        "--lake",
        envvar="COLLINE_LAKE",
        required=True,
        metavar="PATH",
        help="Path or URL of the lake; or set COLLINE_LAKE.",
    )
    return add(decorated)


def limit_option(default: int, text: str) -> Callable[[Decorated], Decorated]:
    """`--limit N` of a command that prints its own list."""
    return click.option("--limit", type=click.IntRange(0), default=default, show_default=True, metavar="N", help=text)


def print_answer(answer: Answer, output_format: str | None) -> None:
    """Prints the answer; exits with 1 if its verdict is a no or a violation."""
    from colline.graph.render import text

    if output_format == "json":
        print_json(answer.to_dict(), indent=2)
    elif output_format == "csv":
        click.echo(text.to_csv(answer), nl=False)
        for note in text.notes(answer):
            click.echo(note, err=True)
    elif output_format == "markdown":
        click.echo(text.to_markdown(answer))
    else:
        _print_to_terminal(answer, as_tree=output_format == "tree")
    if not answer.holds:
        sys.exit(1)


def _print_to_terminal(answer: Answer, *, as_tree: bool) -> None:
    from rich.console import Console

    from colline.graph.render import text

    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        click.echo(text.to_text(answer, as_tree=as_tree))
    elif len(answer.main_rows) + 4 > console.height:
        # `less` shows colors only with -R; the options of a user are kept
        os.environ.setdefault("LESS", "-RFX")
        with console.pager(styles=not console.no_color):
            text.print_answer(answer, console, as_tree=as_tree)
    else:
        text.print_answer(answer, console, as_tree=as_tree)
