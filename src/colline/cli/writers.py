"""`colline writers`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import asking, columns_argument, give, names_given, open_lake


@click.command("writers")
@columns_argument()
@asking()
def command(lake: str, columns: tuple[str, ...], shape: str | None, **how: Any) -> None:
    """Who writes these columns, and how? Ends with 1 if two jobs define one differently."""
    give(open_lake(lake).writers(names_given(columns), **how), shape)
