"""`colline coverage`."""

from __future__ import annotations

from typing import Any

import click

from colline.cli.options import asking, give, open_lake


@click.command("coverage")
@click.option("--kind", metavar="KIND", help="Only gaps of this kind, as `opaque_step`.")
@click.option("--job", help="Only gaps of this job.")
@click.option("--by", type=click.Choice(["kind", "job", "layer", "owner"]), help="Counts by this, instead of the gaps.")
@asking()
def command(lake: str, by: str | None, shape: str | None, **how: Any) -> None:
    """Where is lineage missing? Runs without it, opaque steps, unknown sources, unfinished runs, lost events."""
    answer = open_lake(lake).coverage(**how)
    if by is None or shape is not None:
        give(answer, shape)
        return
    click.echo(answer.verdict)
    for name, count in answer.by[by].items():
        click.echo(f"{count:>6}  {name}")
