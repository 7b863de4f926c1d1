"""`colline diff`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import asking, give, open_lake


@click.command("diff")
@click.option("--from", "from_", metavar="T", help="The earlier time.")
@click.option("--to", metavar="T", help="The later time; now if left out.")
@click.option("--jobs", nargs=2, metavar="JOB JOB", help="Compare what two jobs derive.")
@click.option("--other", metavar="PATH", help="Compare with another lake.")
@click.option("--dataset", help="Only what touches this dataset.")
@asking()
def command(lake: str, shape: str | None, **how: Any) -> None:
    """What changed between two times, two jobs or two lakes? What was only seen again is no change."""
    give(open_lake(lake).diff(**how), shape)
