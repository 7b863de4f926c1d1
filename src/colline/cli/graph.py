"""`colline graph`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from colline.cli.options import columns_argument, lake_option, names_given, open_lake


@click.command("graph")
@columns_argument()
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="svg, png, html, mmd or dot.")
@click.option("--up/--no-up", default=True, show_default=True, help="What feeds them.")
@click.option("--down/--no-down", default=True, show_default=True, help="What is built on them.")
@click.option("--indirect", is_flag=True, help="Follow joins, filters, groups and the like too.")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Go no farther than N steps.")
@click.option("--as-of", metavar="T", help="What was true then.")
@lake_option
def command(lake: str, columns: tuple[str, ...], output: Path | None, up: bool, down: bool, **how: Any) -> None:
    """Draw what feeds these columns and what is built on them, into a file or here."""
    from colline.graph.render.diagram import save, to_terminal

    if not (up or down):
        raise click.UsageError("nothing to draw with --no-up and --no-down")
    picture = open_lake(lake).picture(names_given(columns), up=up, down=down, **how)
    if output is None:
        click.echo(picture.title)
        click.echo(to_terminal(picture))
    else:
        save(picture, output)
        click.echo(f"wrote {output}", err=True)
    if picture.left_out:
        click.echo(f"{picture.left_out:,} more columns are not drawn", err=True)
