"""`colline find`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import asking, complete_column, give, open_lake


@click.command("find")
@click.argument("text", shell_complete=complete_column)
@click.option("--layer", help="Only columns of this layer.")
@click.option("--tag", help="Only columns with this tag.")
@asking()
def command(lake: str, text: str, shape: str | None, **how: Any) -> None:
    """Which columns are called like TEXT? Exact names first, then suffix, prefix, part, dataset, and fuzzy."""
    give(open_lake(lake).find(text, **how), shape)
