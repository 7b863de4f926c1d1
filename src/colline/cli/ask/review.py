"""`colline review`: what a change of a repository does to lineage."""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click

from colline.cli.options import open_lake


@click.command()
@click.argument("folder", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--base", required=True, metavar="REF", help="The revision to compare with, such as origin/main.")
@click.option("--lake", envvar="COLLINE_LAKE", metavar="PATH", help="The lake: what is downstream, personal data.")
@click.option("--sql-dialect", default="", metavar="NAME", help="SQL dialect, as sqlglot calls it: postgres, spark, …")
@click.option(
    "--dbt-state",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The dbt artifacts of the base, if target/ is not in the repository.",
)
@click.option("--namespace", default="", metavar="NS", help="Namespace of tables that the lake does not know.")
@click.option(
    "--tag",
    "tags",
    multiple=True,
    default=("PII",),
    show_default=True,
    metavar="TAG",
    help="Columns with this tag are personal data. Repeatable.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(("text", "markdown", "json")),
    default="text",
    show_default=True,
    help="How to print the review.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--fail-on",
    type=click.Choice(("error", "warning", "never")),
    default="error",
    show_default=True,
    help="Exit with 1 if there is a finding this bad.",
)
def command(folder: Path, base: str, lake: str | None, **given: Any) -> None:
    """Compare the lineage of SQL files, dbt projects and contracts in FOLDER with an earlier revision.

    Lists columns that were added, removed or derived differently, everything downstream of them in the lake, new
    personal data in clear, and broken promises of contracts. Nothing is executed.
    """
    from colline.contracts.findings import Severity
    from colline.contracts.table_facts import FactsReader
    from colline.importers.formats import ImportOptions
    from colline.importers.known_tables import LakeTableList, NoTables
    from colline.review.review_change import ReviewBase, review_change
    from colline.review.review_report import FORMATS

    lineage = None if lake is None else open_lake(lake)
    reader = None if lineage is None else FactsReader(lineage, None, given["tags"])
    tables = NoTables() if lineage is None else LakeTableList(lineage)
    options = ImportOptions(given["namespace"], given["sql_dialect"], ("dbt", "sql"))
    compared = ReviewBase(base, given["dbt_state"])
    review = review_change(folder, compared, reader, tables, options=options, now=datetime.now(timezone.utc))
    click.echo(FORMATS["json" if given["as_json"] else given["output_format"]](review.findings, review.problems))
    limit = {"error": Severity.ERROR, "warning": Severity.WARNING}.get(given["fail_on"])
    if limit is not None and any(finding.severity >= limit for finding in review.findings):
        sys.exit(1)
