"""Reviews the change of a folder since a revision."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from colline.contracts.contract_diff import contract_changes
from colline.contracts.contract_document import ContractDocument, parse_contract
from colline.contracts.findings import Severity
from colline.contracts.table_facts import FactsReader
from colline.errors import ContractError
from colline.importers.definitions import Definitions
from colline.importers.formats import ImportOptions, NothingToImportError, read_definitions
from colline.importers.known_tables import KnownTables
from colline.review.change_reach import broken_promises, new_personal_data, with_reach
from colline.review.dbt_artifacts import complete_dbt_projects
from colline.review.definition_graph import definition_graph
from colline.review.git_revisions import extract_revision
from colline.review.lineage_changes import ReviewFinding, lineage_changes

_CONTRACT_SUFFIXES = (".odcs.yaml", ".odcs.yml")
MAX_CONTRACT_FILE_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class ReviewBase:
    """What a folder is compared with: a revision, and its dbt artifacts if these are not in the repository."""

    revision: str
    dbt_state: Path | None = None


@dataclass(frozen=True)
class Review:
    """The findings, worst first, and what could not be read after the change."""

    findings: tuple[ReviewFinding, ...]
    problems: tuple[str, ...]


def review_change(
    folder: Path,
    base: ReviewBase,
    reader: FactsReader | None,
    tables: KnownTables,
    *,
    options: ImportOptions,
    now: datetime,
) -> Review:
    """What the change since the base does. Without a reader of a lake, only the lineage of the files is compared."""
    with tempfile.TemporaryDirectory(prefix="colline-review-") as name:
        earlier = Path(name)
        extract_revision(folder, base.revision, earlier)
        unread = complete_dbt_projects(folder, earlier, base.dbt_state)
        old, new = _definitions(earlier, tables, options), _definitions(folder, tables, options)
        old_contracts, _ = _contracts(earlier)
    contracts, problems = _contracts(folder)
    before, after = definition_graph(old), definition_graph(new)
    findings = lineage_changes(before, after)
    if reader is not None:
        findings = with_reach(findings, reader.lineage)
        findings += new_personal_data(before, after, reader)
        findings += broken_promises(contracts.values(), before, after, reader, now=now)
    findings += _contract_findings(old_contracts, contracts)
    known = {str(problem) for problem in old.problems}
    problems += unread
    problems += [str(problem) for problem in new.problems if str(problem) not in known]
    ordered = sorted(findings, key=lambda each: (-each.severity, each.subject, each.kind))
    return Review(tuple(ordered), tuple(problems))


def _definitions(folder: Path, tables: KnownTables, options: ImportOptions) -> Definitions:
    try:
        return read_definitions(folder, tables, options).definitions
    except NothingToImportError as error:
        return Definitions(problems=error.problems)


def _contracts(folder: Path) -> tuple[dict[str, ContractDocument], list[str]]:
    found: dict[str, ContractDocument] = {}
    problems: list[str] = []
    for path in sorted(each for each in folder.rglob("*") if each.name.endswith(_CONTRACT_SUFFIXES)):
        name = path.relative_to(folder).as_posix()
        try:
            if path.is_symlink() or path.stat().st_size > MAX_CONTRACT_FILE_BYTES:
                raise ContractError(f"a link, or larger than {MAX_CONTRACT_FILE_BYTES // 2**20} MB", name)
            found[name] = parse_contract(path.read_text("utf-8"), name)
        except ContractError as error:
            problems.append(error.message)
        except (OSError, UnicodeDecodeError):
            problems.append(f"{name}: cannot be read")
    return found, problems


def _contract_findings(before: dict[str, ContractDocument], after: dict[str, ContractDocument]) -> list[ReviewFinding]:
    """The changes of contracts themselves; a new contract changes nothing for its readers."""
    findings = [
        ReviewFinding("contract-removed", Severity.WARNING, name, "the contract was removed")
        for name in before.keys() - after.keys()
    ]
    for name in before.keys() & after.keys():
        for change in contract_changes(before[name], after[name]):
            severity = Severity.WARNING if change.breaking else Severity.INFO
            subject = f"{change.table}.{change.column}" if change.column else change.table
            findings.append(ReviewFinding(f"contract: {change.kind}", severity, subject, change.message))
    return findings
