"""`colline maintain`: upkeep of the lake."""

from __future__ import annotations

import json

import click


@click.command()
@click.option("--lake", envvar="COLLINE_LAKE", required=True, metavar="PATH", help="The lake (or COLLINE_LAKE).")
@click.option("--landing-days", default=7, show_default=True, metavar="N", help="Keep landed files so long in landing.")
@click.option("--bronze-days", type=int, metavar="N", help="Keep bronze so long; default for ever.")
@click.option("--observation-days", type=int, metavar="N", help="Keep observations so long; default for ever.")
@click.option(
    "--old-file-days", default=7, show_default=True, metavar="N", help="Keep files of old table versions so long."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    lake: str,
    landing_days: int,
    bronze_days: int | None,
    observation_days: int | None,
    old_file_days: int,
    as_json: bool,
) -> None:
    """Compact and cluster the tables, delete what is old, vacuum. Safe while an ingest runs; gold history is kept."""
    from colline.pipeline.maintain import Keep, maintain

    done = maintain(lake, keep=Keep(landing_days, bronze_days, observation_days, old_file_days))
    if as_json:
        click.echo(json.dumps(done.to_dict()))
        return
    for table, files in done.compacted.items():
        click.echo(f"{table}: {files} files fewer")
    click.echo(f"{done.landing_deleted} landed files deleted")
