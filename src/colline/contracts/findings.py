"""What a check of a contract finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Severity(IntEnum):
    """How bad a finding is; an error fails the check."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    @property
    def label(self) -> str:
        """The name in lower case."""
        return self.name.lower()


# code → what it means; SARIF and the documentation list them
CODES = {
    "table-missing": "The lake has no such table.",
    "column-missing": "The contract has a column that the table lacks.",
    "column-added": "The table has a column that the contract lacks.",
    "type-changed": "A column has another type than the contract states.",
    "source-gone": "A column no longer depends on a source, or the source was removed.",
    "source-added": "A column depends on a source that the contract does not list.",
    "derivation-changed": "A column is derived from the same source in another manner.",
    "personal-data-in-clear": "A column has personal data in clear, and the contract does not state it.",
    "consumer-lost": "A consumer in the contract no longer reads the table.",
    "promise-broken": "A promise about lineage does not hold.",
    "promise-unknown": "Lineage is missing, so a promise cannot be checked.",
    "promise-invalid": "A promise cannot be read.",
    "statement-outdated": "The answer of a verified statement is no longer right.",
    "contract-invalid": "The file is not a contract.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference between a contract and the lake. `path` leads from the offending source to the column."""

    code: str
    severity: Severity
    table: str
    column: str | None
    message: str
    hint: str = ""
    line: int | None = None
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ContractReport:
    """The findings of one contract, worst first."""

    source: str
    tables: tuple[str, ...]
    findings: tuple[Finding, ...]

    def worst_severity(self) -> Severity | None:
        """The highest severity; None without findings."""
        return max((finding.severity for finding in self.findings), default=None)
