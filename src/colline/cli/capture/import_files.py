"""`colline import`: brings definitions in files into the lake, as OpenLineage events."""

from __future__ import annotations

import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from colline.cli.options import lake_option, open_lake
from colline.cli.print_text import print_json, print_line
from colline.environment.extras import require_package
from colline.errors import LakeError

if TYPE_CHECKING:
    from colline.graph import Lineage
    from colline.importers.formats import ImportResult
    from colline.importers.known_tables import KnownTables

_FORMATS = ("power-bi", "dbt", "sql", "unity-catalog")
_MAX_LISTED = 20


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@lake_option
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(_FORMATS),
    help="Import only this format; by default all that are found. Repeatable.",
)
@click.option("--namespace", default="", metavar="NS", help="Namespace of tables that the lake does not know.")
@click.option("--dialect", default="", metavar="NAME", help="SQL dialect, as sqlglot calls it: postgres, tsql, …")
@click.option("--no-ingest", is_flag=True, help="Only land the events; the next `colline ingest` loads them.")
@click.option("--print", "prints", is_flag=True, help="Print the events as JSON lines instead of landing them.")
@click.option("--strict", is_flag=True, help="Exit with 1 if anything could not be read or resolved.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(path: Path, lake: str, **given: Any) -> None:
    """Import definitions from files: semantic models and reports, dbt projects, SQL files, Unity Catalog lineage.

    PATH is a file or a folder; everything in it that a format knows is imported. Import again after a change: the lake
    keeps the history.
    """
    from colline.importers.formats import ImportOptions, read_definitions
    from colline.importers.known_tables import LakeTableList, NoTables

    is_ingested = not (given["prints"] or given["no_ingest"])
    if is_ingested:
        require_package("pyspark")  # before anything is landed
    known = _existing_lake(lake)
    tables = NoTables() if known is None else LakeTableList(known)
    options = ImportOptions(given["namespace"], given["dialect"], given["formats"])
    result = read_definitions(path, tables, options)
    events = _events(result, tables)
    if given["prints"]:
        _print_events(events)
    else:
        _land(events, lake)
        if is_ingested:
            _ingest(lake)
    _report(result, as_json=given["as_json"], is_printed=given["prints"])
    if given["strict"] and (result.definitions.problems or result.resolutions.ambiguous):
        sys.exit(1)


def _existing_lake(lake: str) -> Lineage | None:
    """The lake with its tables; None if nothing was ingested yet."""
    try:
        return open_lake(lake)
    except LakeError:
        return None


def _events(result: ImportResult, tables: KnownTables) -> list[Any]:
    from colline.config import settings_from
    from colline.events.redact import Redaction, redact, redact_literals
    from colline.importers.definition_events import definition_events
    from colline.importers.removed_tables import with_removed_tables

    definitions = with_removed_tables(result.definitions, tables)
    hides_literals = settings_from().redact_literals
    redaction = Redaction(redact, lambda sql: redact(redact_literals(sql) if hides_literals else sql))
    return list(definition_events(definitions, datetime.now(timezone.utc), redaction))


def _print_events(events: list[Any]) -> None:
    from colline.events.json_codec import encode

    for event in events:
        click.echo(encode(event))


def _land(events: list[Any], lake: str) -> None:
    from colline.config.transport_factory import file_system_for
    from colline.importers.landing_writer import land_events
    from colline.lake.location import local_path
    from colline.transport.options import LakeOptions

    root = local_path(lake)
    try:
        land_events(events, root or lake, file_system_for(lake, LakeOptions(), None))
    except OSError as error:
        hint = "run the command as a user who may write there"
        raise LakeError(f"cannot write to the lake {lake}: {error.strerror}", hint=hint) from error


def _ingest(lake: str) -> None:
    from colline.cli.operate.ingest import ProgressPrinter, pipeline_options
    from colline.pipeline.ingest import ingest
    from colline.pipeline.ingest_report import IngestListener

    printer = ProgressPrinter(sys.stderr)
    listener = IngestListener(progress=printer.print_batch, wrote=printer.show_table, renamed=printer.print_unreadable)
    try:
        ingest(lake, options=pipeline_options(), watch=listener)
    finally:
        printer.clear_line()


def _report(result: ImportResult, *, as_json: bool, is_printed: bool) -> None:
    from colline.graph.answer import count_of

    summary = _summary(result)
    if as_json and not is_printed:
        print_json(summary)
        return
    for title, lines in (
        ("could not be read or resolved", summary["problems"]),
        ("fit several tables", [f"{name}: {', '.join(found)}" for name, found in summary["ambiguous"].items()]),
        ("are not in the lake", summary["unknown"]),
    ):
        _print_list(title, lines)
    found = ", ".join(f"{count} {name}" for name, count in summary["found"].items())
    jobs, datasets = count_of(summary["jobs"], "job"), count_of(summary["datasets"], "dataset")
    print_line(f"imported {jobs} with {datasets} ({found})", err=is_printed)


def _summary(result: ImportResult) -> dict[str, Any]:
    definitions, names = result.definitions, result.resolutions
    return {
        "found": result.counts,
        "jobs": len(definitions.jobs),
        "datasets": sum(len(job.outputs) for job in definitions.jobs) + len(definitions.datasets),
        "problems": [str(problem) for problem in definitions.problems],
        "matched": {name: f"{found.namespace} {found.name}" for name, found in sorted(names.matched.items())},
        "ambiguous": {name: list(found) for name, found in sorted(names.ambiguous.items())},
        "unknown": sorted(names.unknown),
    }


def _print_list(title: str, lines: list[str]) -> None:
    """A list on stderr, shortened."""
    if not lines:
        return
    print_line(f"{len(lines)} {title}:", err=True)
    for line in lines[:_MAX_LISTED]:
        print_line(f"  {line}", err=True)
    if len(lines) > _MAX_LISTED:
        print_line(f"  and {len(lines) - _MAX_LISTED} more; --json lists all", err=True)
