"""`colline downstream`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import columns_argument, give_walk, names_given, open_lake, walking


@click.command("downstream")
@columns_argument()
@walking
def command(lake: str, columns: tuple[str, ...], shape: str | None, **how: Any) -> None:
    """What is built on these columns? Nearest first, with how, by which job, and how its last run went."""
    give_walk(open_lake(lake).downstream(names_given(columns), **how), shape)
