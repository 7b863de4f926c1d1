"""`colline explain job.sql`: prints the lineage of SQL text, without data."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from colline.cli.print_text import print_json, print_line, print_lines

if TYPE_CHECKING:
    from colline.capture.explain_sql import ExplainedStatement


@click.command(epilog="Exit code: 0 if every statement was explained, 1 if some were not.")
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
    from colline.capture.explain_sql import explain, needs_delta, split_statements
    from colline.environment.spark_session import explain_profile, start_session
    from colline.graph.answer import count_of

    texts = [path.read_text(encoding="utf-8") for path in ddl]
    texts.append(sys.stdin.read() if str(script) == "-" else script.read_text(encoding="utf-8"))
    text = ";\n".join(texts)
    explained: list[ExplainedStatement] = []
    with tempfile.TemporaryDirectory(prefix="colline-explain-", ignore_cleanup_errors=True) as folder:
        _show_progress(f"starting Spark for {count_of(len(split_statements(text)), 'statement')} …")
        spark = start_session("colline explain", explain_profile(Path(folder), uses_delta=needs_delta(text)))
        try:
            for each in explain(text, spark):
                _show_progress("")
                explained.append(each)
                if not as_json:
                    _print_statement(each)
        finally:
            spark.stop()
    if as_json:
        print_json([_to_dict(each, legacy=legacy) for each in explained], indent=2)
    elif not explained:
        click.echo("no lineage: the script contains only definitions", err=True)
    failed = sum(each.lineage is None for each in explained)
    if failed:
        print_line(f"{failed:,} of {count_of(len(explained), 'statement')} could not be explained", err=True)
        sys.exit(1)


def _print_statement(each: ExplainedStatement) -> None:
    title = f"-- {' '.join(each.statement.split())[:100]}"
    if each.lineage is not None:
        print_lines(f"{title}\n{each.lineage}\n")
    else:
        print_lines(f"{title}\nerror: {each.error}\n", err=True)


def _to_dict(each: ExplainedStatement, *, legacy: bool) -> dict[str, Any]:
    if each.lineage is None:
        return {"statement": each.statement, "error": str(each.error)}
    return {"statement": each.statement, "columnLineage": each.lineage.facet(legacy=legacy)}


def _show_progress(text: str) -> None:
    """Show a line on a terminal, in place of the last one."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text}", nl=False, err=True)
