"""The report of a review: text for the terminal, Markdown for a comment, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from colline.contracts.findings import Severity
from colline.review.lineage_changes import ReviewFinding
from colline.terminal_text import escape_control_characters

_MARKS = {Severity.ERROR: "❌", Severity.WARNING: "⚠️", Severity.INFO: "➕"}  # shown by code hosts


def review_verdict(findings: Sequence[ReviewFinding]) -> str:
    """One line: `2 errors, 1 warning; 14 columns and 3 jobs downstream`."""
    if not findings:
        return "no change of lineage"
    counts = [(severity, sum(each.severity is severity for each in findings)) for severity in sorted(Severity)[::-1]]
    words = {Severity.INFO: "note"}
    parts = [_count(number, words.get(severity, severity.label)) for severity, number in counts if number]
    columns = {label for each in findings for label in each.columns}
    jobs = {job for each in findings for job in each.jobs}
    return f"{', '.join(parts)}; {_count(len(columns), 'column')} and {_count(len(jobs), 'job')} downstream"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def review_text(findings: Sequence[ReviewFinding], problems: Sequence[str]) -> str:
    """For the terminal."""
    lines = [review_verdict(findings)]
    for each in findings:
        lines.append(f"{each.severity.label}: {each.subject}: {each.message} [{each.kind}]")
        lines += [f"  path: {' → '.join(each.path)}"] if len(each.path) > 1 else []
        lines += [f"  columns: {_list(each)}"] if each.columns else []
        lines += [f"  jobs: {', '.join(each.jobs)}"] if each.jobs else []
    lines += [f"unknown: {problem}" for problem in problems]
    return "\n".join(map(escape_control_characters, lines))


def _list(finding: ReviewFinding) -> str:
    return ", ".join(finding.columns) + (f" and {finding.more} more" if finding.more else "")


def review_markdown(findings: Sequence[ReviewFinding], problems: Sequence[str]) -> str:
    """A comment on a pull request."""
    lines = ["### Lineage of this change", "", f"**{_cell(review_verdict(findings))}**", ""]
    if findings:
        lines += ["| | column | change | downstream |", "|---|---|---|---|"]
    for each in findings:
        path = f" ({' → '.join(each.path)})" if len(each.path) > 1 else ""
        jobs = f"; jobs: {', '.join(each.jobs)}" if each.jobs else ""
        reach = f"{_list(each)}{jobs}" if each.columns or each.jobs else ""
        cells = f"`{_cell(each.subject)}` | {_cell(each.message + path)} | {_cell(reach)}"
        lines.append(f"| {_MARKS[each.severity]} | {cells} |")
    if problems:
        lines += ["", "Unknown, because it could not be read:", "", *(f"- {_cell(problem)}" for problem in problems)]
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Text in a Markdown table: no markup of its own, no mentions."""
    escaped = escape_control_characters(text).replace("\\", "\\\\").replace("|", "\\|").replace("`", "'")
    return escaped.replace("<", "&lt;").replace("[", "\\[").replace("@", "@\u200b")


def review_json(findings: Sequence[ReviewFinding], problems: Sequence[str]) -> str:
    """The findings as JSON."""
    whole = {
        "verdict": review_verdict(findings),
        "findings": [_finding_json(each) for each in findings],
        "unknown": list(problems),
    }
    return json.dumps(whole, ensure_ascii=False, indent=2)


def _finding_json(finding: ReviewFinding) -> dict[str, Any]:
    return {
        "kind": finding.kind, "severity": finding.severity.label, "subject": finding.subject,
        "message": finding.message, "path": list(finding.path), "columns": list(finding.columns),
        "left_out": finding.more, "jobs": list(finding.jobs),
    }  # fmt: skip


FORMATS: dict[str, Callable[[Sequence[ReviewFinding], Sequence[str]], str]] = {
    "text": review_text, "markdown": review_markdown, "json": review_json,
}  # fmt: skip
