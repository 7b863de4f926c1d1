"""`colline maintain`: compacts and cleans the tables of the lake."""

from __future__ import annotations

import json

import click


@click.command()
@click.option("--lake", envvar="COLLINE_LAKE", required=True, metavar="PATH", help="The lake (or COLLINE_LAKE).")
@click.option("--landing-days", default=7, show_default=True, metavar="N", help="Days to keep ingested landing files.")
@click.option("--bronze-days", type=int, metavar="N", help="Days to keep raw events; default: forever.")
@click.option(
    "--old-file-days", default=7, show_default=True, metavar="N", help="Days to keep files of old table versions."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(
    lake: str,
    landing_days: int,
    bronze_days: int | None,
    old_file_days: int,
    *,
    as_json: bool,
) -> None:
    """Compact, cluster and vacuum the tables, and delete old files. Safe during an ingest; lineage history is kept."""
    from colline.pipeline.upkeep.maintain import Keep, maintain

    done = maintain(lake, keep=Keep(landing_days, bronze_days, old_file_days))
    if as_json:
        click.echo(json.dumps(done.to_dict()))
        return
    for table, files in done.compacted.items():
        click.echo(f"{table}: {files} fewer files")
    click.echo(f"{done.landing_deleted} landing files deleted")
