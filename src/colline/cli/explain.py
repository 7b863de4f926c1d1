"""`colline explain job.sql`: prints the lineage of SQL text, without data."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import click

from colline.cli.print_text import print_lines


@click.command()
@click.argument("script", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path), metavar="FILE")
@click.option(
    "--ddl",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File with CREATE TABLE statements; they can also be in the script itself.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: each statement with its columnLineage facet.")
@click.option(
    "--legacy",
    is_flag=True,
    help="With --json: print the older form of the facet.",
)
def command(script: Path, ddl: tuple[Path, ...], as_json: bool, legacy: bool) -> None:
    """Print the lineage of each statement in a SQL script, without data and without running it.

    \b
    colline explain job.sql --ddl tables.sql
    """
    from colline.capture.explain_sql import explain
    from colline.environment.spark_session import explain_profile, start_session

    texts = [path.read_text(encoding="utf-8") for path in ddl]
    texts.append(sys.stdin.read() if str(script) == "-" else script.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="colline-explain-", ignore_cleanup_errors=True) as folder:
        spark = start_session("colline explain", explain_profile(Path(folder)))
        try:
            explained = list(explain(";\n".join(texts), spark))
        finally:
            spark.stop()
    if as_json:
        rows = [{"statement": each.statement, "columnLineage": each.lineage.facet(legacy=legacy)} for each in explained]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    for each in explained:
        print_lines(f"-- {' '.join(each.statement.split())[:100]}\n{each.lineage}\n")
    if not explained:
        click.echo("no lineage: the script contains only definitions", err=True)
