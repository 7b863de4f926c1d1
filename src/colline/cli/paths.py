"""`colline paths`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import asking, complete_column, give, open_lake


@click.command("paths")
@click.argument("a", metavar="COLUMN", shell_complete=complete_column)
@click.argument("b", metavar="COLUMN", shell_complete=complete_column)
@asking(walk=True, paging=False)
@click.option("-k", default=5, show_default=True, type=click.IntRange(1), help="How many paths to show.")
def command(lake: str, a: str, b: str, shape: str | None, **how: Any) -> None:
    """How exactly are these two columns connected? The shortest paths, and how many more there are."""
    give(open_lake(lake).paths(a, b, **how), shape)
