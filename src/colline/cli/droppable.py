"""`colline droppable`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import asking, columns_argument, give, idle_days, names_given, open_lake


@click.command("droppable")
@columns_argument()
@idle_days
@asking()
def command(lake: str, columns: tuple[str, ...], shape: str | None, **how: Any) -> None:
    """May I drop these columns? yes, no or unknown, and why. Ends with 1 unless all may be dropped."""
    give(open_lake(lake).droppable(names_given(columns), **how), shape)
