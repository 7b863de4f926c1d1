"""`colline rebuild`: rebuilds silver and gold from bronze."""

from __future__ import annotations

import json
import sys

import click


@click.command()
@click.option("--lake", envvar="COLLINE_LAKE", required=True, metavar="PATH", help="The lake (or COLLINE_LAKE).")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(lake: str, as_json: bool) -> None:
    """Rebuild silver and gold from all raw events with the current rules, keeping ids."""
    from colline.cli.operate.ingest import pipeline_options
    from colline.graph.answer import count_of
    from colline.pipeline.upkeep.rebuild import rebuild

    options = pipeline_options()
    try:
        done = rebuild(lake, options=options, wrote=lambda table: click.echo(table, err=True))
    except KeyboardInterrupt:
        click.echo("stopped; the lake is unchanged", err=True)
        sys.exit(130)
    bad = f"{count_of(done.quarantined, 'line')} in quarantine"
    text = f"{count_of(done.events, 'event')} rebuilt, {bad}, {done.seconds:.1f} s"
    click.echo(json.dumps(done.to_dict()) if as_json else text)
