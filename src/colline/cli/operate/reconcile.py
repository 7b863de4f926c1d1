"""`colline reconcile`: finds runs of a job history that have no lineage."""

from __future__ import annotations

import json
import sys
import tempfile
from typing import TYPE_CHECKING

import click

from colline.cli.options import limit_option
from colline.cli.print_text import print_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from colline.pipeline.upkeep.reconcile import Reconciliation, RunColumns


@click.command()
@click.option("--lake", envvar="COLLINE_LAKE", required=True, metavar="PATH", help="The lake (or COLLINE_LAKE).")
@click.option(
    "--history",
    required=True,
    metavar="WHERE",
    help="Folder of Spark event logs, http://history-server, or a table, CSV or NDJSON of runs.",
)
@click.option("--run-column", default="run_id", show_default=True, metavar="NAME")
@click.option("--job-column", default="job", show_default=True, metavar="NAME")
@click.option("--started-column", default="started_at", show_default=True, metavar="NAME")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit with 1 if a smaller share of runs has lineage.",
)
@limit_option(100, "Maximum number of missing runs to list.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(  # noqa: PLR0913 (one parameter per flag)
    lake: str,
    history: str,
    *,
    run_column: str,
    job_column: str,
    started_column: str,
    fail_under: float | None,
    limit: int,
    as_json: bool,
) -> None:
    """Compare the runs in a job history with the runs that have lineage."""
    from colline.environment.spark_session import session_for
    from colline.pipeline.upkeep.reconcile import RunColumns, reconcile

    spark = session_for()
    with tempfile.TemporaryDirectory(prefix="colline-") as scratch:
        expected = _expected_runs(spark, history, scratch, RunColumns(run_column, job_column, started_column))
        done = reconcile(lake, expected, spark=spark, limit=limit)
    if as_json:
        click.echo(json.dumps(done.to_dict(), default=str))
    else:
        for line in _text_lines(done):
            print_line(line)
    if fail_under is not None and done.coverage < fail_under:
        sys.exit(1)


def _expected_runs(spark: SparkSession, history: str, scratch: str, names: RunColumns) -> DataFrame:
    from colline.environment.hadoop_files import HadoopFiles
    from colline.pipeline.upkeep.reconcile import from_table
    from colline.pipeline.upkeep.spark_history import from_event_logs, from_history_server

    if history.startswith(("http://", "https://")):
        return from_history_server(spark, history)
    files = HadoopFiles(spark)
    is_table = history.lower().endswith((".csv", ".csv.gz", ".ndjson", ".jsonl", ".json", ".ndjson.gz", ".jsonl.gz"))
    if is_table or files.exists(f"{history.rstrip('/')}/_delta_log"):
        return from_table(spark, history, names)
    return from_event_logs(spark, history, scratch)


def _text_lines(done: Reconciliation) -> list[str]:
    lines = [f"{done.coverage:.1%} of {done.expected} expected runs have lineage"]
    for d in done.days:
        lost = f", {d.dropped} events dropped at the source" if d.dropped else ""
        lines.append(
            f"{d.day}  {d.job}: expected {d.expected}, seen {d.seen}, missing {d.missing}, extra {d.extra}{lost}"
        )
    lines += [f"missing: {m.run}  {m.job}  {m.started}" for m in done.missing]
    if done.left_out:
        lines.append(f"{done.left_out} more missing runs; use --limit to list them")
    return lines
