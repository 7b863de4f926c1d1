"""What the questions' commands share: the same flags everywhere, and one way to print an answer."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from colline.graph import Answer, Lineage

Function = TypeVar("Function", bound=Callable[..., Any])


def complete_column(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Column names of the lake that begin like what was typed; nothing where there is no lake."""
    from colline.errors import CollineError

    lake = ctx.params.get("lake") or os.environ.get("COLLINE_LAKE")
    if not lake:
        return []
    try:
        return open_lake(lake).complete(incomplete)
    except CollineError:
        return []


def open_lake(lake: str) -> Lineage:
    """The lineage of the lake, imported now."""
    from colline.graph import open_lake as opened

    return opened(lake)


def lake_option(function: Function) -> Function:
    """`--lake PATH`, or COLLINE_LAKE."""
    return click.option(
        "--lake", envvar="COLLINE_LAKE", required=True, metavar="PATH", help="The lake to ask (or COLLINE_LAKE)."
    )(function)


def asking(*, walk: bool = False, paging: bool = True) -> Callable[[Function], Function]:
    """The flags of every question; `walk` adds --indirect and --depth, `paging` --limit and --cursor."""
    formats = [
        click.option("--json", "shape", flag_value="json", help="Print the answer as JSON."),
        click.option("--csv", "shape", flag_value="csv", help="Print the rows as CSV."),
        click.option("--markdown", "shape", flag_value="markdown", help="Print the answer as Markdown."),
    ]
    pages = [
        click.option("--limit", type=click.IntRange(0), metavar="N", help="Rows to show; 0 is all. Default 500."),
        click.option("--cursor", metavar="C", help="Continue after the page that gave this cursor."),
    ]
    when = [click.option("--as-of", metavar="T", help="What was true then: 2026-01-31, an ISO time, or 3d ago.")]
    steps = [
        click.option("--indirect", is_flag=True, help="Follow joins, filters, groups and the like too."),
        click.option("--depth", type=click.IntRange(1), metavar="N", help="Go no farther than N steps."),
    ]
    options = (steps if walk else []) + when + (pages if paging else []) + formats

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return lake_option(function)

    return decorate


def limit_option(default: int, text: str) -> Callable[[Function], Function]:
    """`--limit N` of a command that prints a list of its own."""
    return click.option("--limit", type=click.IntRange(0), default=default, show_default=True, metavar="N", help=text)


def idle_days(function: Function) -> Function:
    """`--idle-days N`."""
    return click.option(
        "--idle-days",
        type=click.IntRange(0, 36_500),
        default=90,
        show_default=True,
        metavar="N",
        help="Days after which a query no longer counts.",
    )(function)


def walking(function: Function) -> Function:
    """The flags of the two walks: how to tell them, and at which grain."""
    options = [
        click.option("--since", metavar="T", help="Flag jobs that changed, failed or did not succeed since then."),
        click.option("--grain", default="column", show_default=True, type=click.Choice(["column", "table", "job"])),
        click.option("--tree", "shape", flag_value="tree", help="Draw the columns as a tree."),
    ]
    for option in reversed(options):
        function = option(function)
    return asking(walk=True)(function)


def give_walk(answer: Answer, shape: str | None) -> None:
    """The same for a walk; a tree has columns as its leaves, so at another grain there is none."""
    if shape == "tree" and answer.main != "columns":
        raise click.UsageError("--tree goes with --grain column")
    give(answer, shape)


def columns_argument(
    name: str = "columns", *, nargs: int = -1, required: bool = True
) -> Callable[[Function], Function]:
    """COLUMN…, completed from the lake; `-` reads names from standard input, one a line."""
    metavar = "COLUMN..." if nargs == -1 else "COLUMN"
    return click.argument(
        name, nargs=nargs, required=required, metavar=metavar, shell_complete=complete_column, type=click.STRING
    )


def names_given(columns: tuple[str, ...]) -> list[str]:
    """The names on the command line, with `-` replaced by the lines of standard input."""
    out: list[str] = []
    for name in columns:
        out += [line.strip() for line in sys.stdin if line.strip()] if name == "-" else [name]
    return out


def give(answer: Answer, shape: str | None, markdown: str | None = None) -> None:
    """Print the answer in the shape asked for, and end with 1 where its verdict is a no."""
    from colline.graph.render import text

    if shape == "json":
        click.echo(json.dumps(answer.to_dict(), ensure_ascii=False, indent=2))
    elif shape == "csv":
        click.echo(text.to_csv(answer), nl=False)
    elif shape == "markdown":
        click.echo(markdown if markdown is not None else text.to_markdown(answer))
    else:
        _to_terminal(answer, as_tree=shape == "tree")
    if not answer.holds:
        sys.exit(1)


def _to_terminal(answer: Answer, *, as_tree: bool = False) -> None:
    from rich.console import Console

    from colline.graph.render import text

    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal:
        click.echo(text.to_text(answer, as_tree=as_tree))
    elif len(answer.main_rows) + 4 > console.height:
        # less shows colour only with -R; a pager the user chose is left as it is
        os.environ.setdefault("LESS", "-RFX")
        with console.pager(styles=not console.no_color):
            text.print_answer(answer, console, as_tree=as_tree)
    else:
        text.print_answer(answer, console, as_tree=as_tree)
