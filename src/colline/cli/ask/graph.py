"""`colline graph`: a diagram of the lineage of columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from colline.cli.ask.questions import read_names
from colline.cli.options import complete_column, lake_option, open_lake
from colline.cli.print_text import print_line


@click.command("graph")
@click.argument("columns", nargs=-1, required=True, metavar="COLUMN...", shell_complete=complete_column)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write a .svg, .html, .mmd or .dot file."
)
@click.option("--up/--no-up", default=True, show_default=True, help="Draw what feeds the columns.")
@click.option("--down/--no-down", default=True, show_default=True, help="Draw what is built on the columns.")
@click.option("--indirect", is_flag=True, help="Follow indirect lineage as well, such as join keys and filters.")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="The largest number of steps to follow.")
@click.option("--as-of", metavar="T", help="Draw the lineage as of this time.")
@lake_option
def command(lake: str, columns: tuple[str, ...], output: Path | None, up: bool, *, down: bool, **options: Any) -> None:
    """Draw what feeds columns and what is built on them. Without --output, prints Mermaid source."""
    from colline.graph.answer import count_of
    from colline.graph.render.diagram import save, to_mermaid

    if not (up or down):
        raise click.UsageError("nothing to draw with --no-up and --no-down")
    picture = open_lake(lake).picture(read_names(columns), up=up, down=down, **options)
    if output is None:
        click.echo(to_mermaid(picture), nl=False)
    else:
        save(picture, output)
        print_line(f"wrote {output}: {picture.title}", err=True)
    if picture.left_out:
        click.echo(f"{count_of(picture.left_out, 'more column is', 'more columns are')} not drawn", err=True)
