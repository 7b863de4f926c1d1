"""`colline impact`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import asking, columns_argument, give, names_given, open_lake


@click.command("impact")
@columns_argument(required=False)
@click.option("--change", default="drop", show_default=True, type=click.Choice(["drop", "rename", "type"]))
@click.option(
    "--diff",
    "diffs",
    multiple=True,
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="SQL: the old and the new schema (give it twice), ALTER statements, a git diff, or a schema to compare with.",
)
@click.option("--direct", is_flag=True, help="Leave out joins, filters, groups and the like.")
@click.option("--depth", type=click.IntRange(1), metavar="N", help="Go no farther than N steps.")
@asking()
def command(lake: str, columns: tuple[str, ...], shape: str | None, **how: Any) -> None:
    """What breaks if these columns change? Ends with 1 if something does, so that a check can fail."""
    diffs, direct = how.pop("diffs"), how.pop("direct")
    if bool(columns) == bool(diffs):
        raise click.UsageError("give columns or --diff, not both" if columns else "give columns, or --diff")
    texts = [file.read() for file in diffs]
    give(open_lake(lake).impact(names_given(columns), diff=texts, indirect=not direct, **how), shape)
