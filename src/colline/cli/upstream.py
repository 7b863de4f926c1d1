"""`colline upstream`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import asking, columns_argument, give, names_given, open_lake


@click.command("upstream")
@columns_argument()
@asking(walk=True)
@click.option("--since", metavar="T", help="Flag jobs that changed, failed or did not succeed since then.")
@click.option("--grain", default="column", show_default=True, type=click.Choice(["column", "table", "job"]))
def command(lake: str, columns: tuple[str, ...], shape: str | None, **how: Any) -> None:
    """What feeds these columns? Sources nearest first, with how, by which job, and how its last run went."""
    give(open_lake(lake).upstream(names_given(columns), **how), shape)
