"""`colline pii`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import asking, columns_argument, give, names_given, open_lake


@click.command("pii")
@columns_argument(required=False)
@click.option("--tag", help="Every column with this tag, instead of columns.")
@click.option(
    "--allowed-zone",
    "allowed_zones",
    multiple=True,
    metavar="ZONE",
    help="A layer, dataset or pattern where it may be in the clear; elsewhere it is a violation. Repeatable.",
)
@click.option("--direct", is_flag=True, help="Leave out columns it only has an influence on.")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Go no farther than N steps.")
@asking()
def command(lake: str, columns: tuple[str, ...], shape: str | None, **how: Any) -> None:
    """Where does this personal datum end up? In clear, masked (where, by which job), or by influence only."""
    if bool(columns) == bool(how["tag"]):
        raise click.UsageError("give columns, or --tag")
    direct = how.pop("direct")
    give(open_lake(lake).pii(names_given(columns), indirect=not direct, **how), shape)
