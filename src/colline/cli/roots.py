"""`colline roots`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import asking, give, open_lake


@click.command("roots")
@click.argument("dataset", required=False)
@asking()
def command(lake: str, dataset: str | None, shape: str | None, **how: Any) -> None:
    """Which columns does nothing feed?"""
    give(open_lake(lake).roots(dataset, **how), shape)
