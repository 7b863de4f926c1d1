"""`colline contract`: data contracts with lineage, generated from a lake, checked and compared."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from colline.cli.options import lake_option, open_lake
from colline.cli.print_text import print_json, print_line, print_lines
from colline.environment.extras import require_package
from colline.errors import ContractError, SettingError

if TYPE_CHECKING:
    from colline.contracts.contract_diff import ContractChange
    from colline.contracts.contract_document import ContractDocument
    from colline.contracts.findings import ContractReport
    from colline.contracts.table_facts import FactsReader

_SUFFIXES = (".odcs.yaml", ".odcs.yml", ".yaml", ".yml")
_tag = click.option(
    "--tag", "tags", multiple=True, default=("PII",), show_default=True, metavar="TAG",
    help="Columns with this tag are personal data. Repeatable.",
)  # fmt: skip
_as_of = click.option("--as-of", metavar="T", help="The state of the lake at this time.")


@click.group()
def command() -> None:
    """Write, check and compare data contracts (Open Data Contract Standard 3.2.0) with the lineage of a lake."""
    require_package("ruamel.yaml")


@command.command()
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@lake_option
@click.option("--layer", metavar="LAYER", help="Every table of this layer.")
@click.option("--all", "every", is_flag=True, help="Every table of the lake.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Folder of the contract files.")
@_tag
@_as_of
@click.option("--json", "as_json", is_flag=True, help="Print which files were written as JSON.")
def export(tables: tuple[str, ...], lake: str, output: Path | None, as_json: bool, **given: Any) -> None:
    """Write the contracts of tables: schema, sources of each column, consumers, personal data.

    Files in DIR are updated: what people wrote in them stays. Without -o, one contract is printed.
    """
    reader = _reader(lake, given["as_of"], given["tags"])
    names = _table_names(reader, tables, given["layer"], every=given["every"])
    if output is None:
        if len(names) != 1:
            raise click.UsageError(f"{len(names)} tables are selected: give a folder with -o")
        click.echo(_export_table(reader, names[0], None)[0].text(), nl=False)
        return
    _write_contracts(reader, names, output, as_json=as_json)


def _write_contracts(
    reader: FactsReader, names: Sequence[tuple[str, str | None]], output: Path, *, as_json: bool
) -> None:
    written: dict[str, str] = {}
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name in names:
            document, path = _export_table(reader, name, output)
            assert path is not None
            text, before = document.text(), path.read_text("utf-8") if path.exists() else None
            if text != before:
                _replace_file(path, text)
            written[str(path)] = "unchanged" if text == before else "updated" if before is not None else "new"
    except OSError as error:
        raise SettingError(
            f"cannot write to {output}: {error.strerror}", hint="choose a folder that you may write to"
        ) from error
    if as_json:
        print_json(written, indent=2)
        return
    for path_text, state in written.items():
        print_line(f"{state:<9} {path_text}")


def _replace_file(path: Path, text: str) -> None:
    """Write under another name first, so that an interrupted export leaves the old contract."""
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(text, "utf-8")
    temporary.replace(path)


def _export_table(
    reader: FactsReader, name: tuple[str, str | None], folder: Path | None
) -> tuple[ContractDocument, Path | None]:
    from colline.contracts.contract_document import new_contract
    from colline.contracts.contract_merge import merge_contract
    from colline.contracts.generated_contract import file_name, generated_contract

    facts = reader.table(*name)
    path = None if folder is None else folder / file_name(facts.label)
    document = new_contract(facts.label) if path is None or not path.exists() else _read(path)
    for kept in merge_contract(document, generated_contract(facts)):
        print_line(f"kept {kept}, which the lake no longer has: people described it", err=True)
    return document, path


def _table_names(
    reader: FactsReader, tables: Sequence[str], layer: str | None, *, every: bool
) -> list[tuple[str, str | None]]:
    if sum((bool(tables), layer is not None, every)) != 1:
        raise click.UsageError("give tables, --layer or --all")
    if tables:
        return [(name, None) for name in tables]
    rows = reader.lineage.tables(layer=layer, limit=0).rows
    if not rows:
        raise SettingError(f"the layer {layer} has no tables", hint="`colline tables` lists tables with their layers")
    return [(row.name, row.namespace) for row in rows if row.dropped_at is None and row.columns]


@command.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@lake_option
@click.option(
    "--format", "output_format", type=click.Choice(("text", "json", "junit", "sarif", "markdown")), default="text",
    show_default=True, help="How to print the findings.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--fail-on", type=click.Choice(("error", "warning", "never")), default="error", show_default=True,
    help="Exit with 1 if there is a finding this bad.",
)  # fmt: skip
@_tag
@_as_of
def check(paths: tuple[Path, ...], lake: str, output_format: str, as_json: bool, **given: Any) -> None:
    """Compare contracts with the lake: schema, sources, personal data, consumers, promises, statements.

    PATH is a contract or a folder of contracts. The exit code is 1 if a contract does not hold.
    """
    from colline.contracts.contract_check import check_contract
    from colline.contracts.finding_reports import FORMATS
    from colline.contracts.findings import Severity

    now = _moment(given["as_of"])
    reader, reports = _reader(lake, given["as_of"], given["tags"]), []
    for path in _contract_files(paths):
        try:
            reports.append(check_contract(_read(path), reader, now))
        except ContractError as error:
            reports.append(_invalid(path, error))
    click.echo(FORMATS["json" if as_json else output_format](reports))
    limit = {"error": Severity.ERROR, "warning": Severity.WARNING}.get(given["fail_on"])
    if limit is not None and any((report.worst_severity() or Severity.INFO) >= limit for report in reports):
        sys.exit(1)


def _invalid(path: Path, error: ContractError) -> ContractReport:
    from colline.contracts.findings import ContractReport, Finding, Severity

    hint = error.hint or ""
    finding = Finding("contract-invalid", Severity.ERROR, path.name, None, error.message, hint, error.line)
    return ContractReport(str(path), (), (finding,))


@command.command()
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option("--lake", envvar="COLLINE_LAKE", metavar="PATH", help="List what each change touches in this lake.")
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON.")
def diff(old: Path, new: Path, lake: str | None, as_json: bool) -> None:
    """Compare two versions of a contract. The exit code is 1 if a change breaks readers."""
    from colline.contracts.contract_diff import contract_changes, with_downstream

    before, after = _read(old), _read(new)
    changes = contract_changes(before, after)
    if lake is not None:
        changes = with_downstream(changes, before, open_lake(lake))
    if as_json:
        print_json([asdict(change) for change in changes], indent=2)
    else:
        print_lines(_diff_text(changes))
    if any(change.breaking for change in changes):
        sys.exit(1)


def _diff_text(changes: list[ContractChange]) -> str:
    if not changes:
        return "no changes"
    lines = []
    for change in changes:
        word = "breaking" if change.breaking else "compatible"
        lines.append(f"{word:<10}  {change.table}: {change.message} [{change.kind}]")
        more = f" and {change.more} more" if change.more else ""
        lines += [f"{'':<12}columns: {', '.join(change.columns)}{more}"] if change.columns else []
        lines += [f"{'':<12}jobs: {', '.join(change.jobs)}"] if change.jobs else []
    count = sum(change.breaking for change in changes)
    return "\n".join([*lines, f"{len(changes)} change{'' if len(changes) == 1 else 's'}, {count} breaking"])


def _reader(lake: str, as_of: str | None, tags: Sequence[str]) -> FactsReader:
    from colline.contracts.table_facts import FactsReader
    from colline.lake.partition_columns import partition_columns

    return FactsReader(open_lake(lake), as_of, tags, partition_columns)


def _moment(as_of: str | None) -> datetime:
    from colline.graph.traversal.times import parse_time

    micros = parse_time(as_of)
    return datetime.now(timezone.utc) if micros is None else datetime.fromtimestamp(micros / 1e6, timezone.utc)


def _contract_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            found = sorted(each for each in path.rglob("*") if each.name.endswith(_SUFFIXES) and each.is_file())
            if not found:
                raise SettingError(f"no contract in {path}", hint="`colline contract export --all -o DIR` writes them")
            yield from found
        else:
            yield path


def _read(path: Path) -> ContractDocument:
    from colline.contracts.contract_document import MAX_CONTRACT_BYTES, parse_contract

    try:
        with path.open("rb") as file:
            data = file.read(MAX_CONTRACT_BYTES + 1)
        return parse_contract(data.decode("utf-8"), str(path))
    except OSError as error:
        raise ContractError(f"cannot be read: {error.strerror}", str(path), hint="check the path") from error
    except UnicodeDecodeError as error:
        raise ContractError("not UTF-8 text", str(path), hint="save the file as UTF-8") from error
