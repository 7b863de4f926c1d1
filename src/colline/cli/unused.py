"""`colline unused`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import asking, give, idle_days, open_lake


@click.command("unused")
@click.argument("dataset", required=False)
@click.option("--layer", help="Only datasets of this layer.")
@idle_days
@asking()
def command(lake: str, dataset: str | None, shape: str | None, **how: Any) -> None:
    """Which columns does nobody read? With the last write, the last read, and how sure that is."""
    give(open_lake(lake).unused(dataset, **how), shape)
