"""`colline rebuild`: silver and gold again from bronze."""

from __future__ import annotations

import json
import sys

import click


@click.command()
@click.option("--lake", envvar="COLLINE_LAKE", required=True, metavar="PATH", help="The lake (or COLLINE_LAKE).")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(lake: str, as_json: bool) -> None:
    """Make silver and gold again from every line that ever landed, under today's rules, with the same ids."""
    from colline.cli.ingest import given_options
    from colline.pipeline.rebuild import rebuild

    options = given_options()
    try:
        done = rebuild(lake, options=options, wrote=lambda table: click.echo(table, err=True))
    except KeyboardInterrupt:
        click.echo("stopped; the lake is as it was", err=True)
        sys.exit(130)
    text = f"{done.events} events rebuilt, {done.quarantined} lines were no events, {done.seconds:.1f} s"
    click.echo(json.dumps(done.to_dict()) if as_json else text)
