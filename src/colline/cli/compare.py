"""`colline compare`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import asking, complete_column, give, open_lake


@click.command("compare")
@click.argument("a", metavar="COLUMN", shell_complete=complete_column)
@click.argument("b", metavar="COLUMN", shell_complete=complete_column)
@click.option("--indirect", is_flag=True, help="Follow joins, filters, groups and the like too.")
@asking()
def command(lake: str, a: str, b: str, shape: str | None, **how: Any) -> None:
    """Do two metrics share a derivation? Common sources, and where the two part."""
    give(open_lake(lake).compare(a, b, **how), shape)
