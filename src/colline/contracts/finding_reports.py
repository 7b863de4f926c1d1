"""The reports of checks for people and for CI: text, JSON, JUnit, SARIF and Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree as Xml

from colline.contracts.findings import CODES, ContractReport, Finding, Severity
from colline.terminal_text import escape_control_characters

Reports = Sequence[ContractReport]
_SARIF_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def count_findings(reports: Reports) -> dict[str, int]:
    """The number of findings by severity."""
    found = [finding.severity for report in reports for finding in report.findings]
    return {severity.label: found.count(severity) for severity in sorted(Severity, reverse=True)}


def verdict(reports: Reports) -> str:
    """One line: `3 contracts: 1 error, 2 warnings`."""
    counts = count_findings(reports)
    contracts = f"{len(reports)} contract{'' if len(reports) == 1 else 's'}"
    parts = [f"{number} {word}{'' if number == 1 else 's'}" for word, number in counts.items() if number]
    return f"{contracts}: {', '.join(parts) if parts else 'everything holds'}"


def to_text(reports: Reports) -> str:
    """For the terminal: one paragraph per finding, below its contract."""
    lines = []
    for report in reports:
        lines += [report.source] if report.findings else []
        for finding in report.findings:
            place = f" (line {finding.line})" if finding.line else ""
            lines.append(f"  {finding.severity.label}: {_subject(finding)}: {finding.message} [{finding.code}]{place}")
            lines += [f"    path: {' → '.join(finding.path)}"] if len(finding.path) > 1 else []
            lines += [f"    hint: {finding.hint}"] if finding.hint else []
    return "\n".join([*map(escape_control_characters, lines), escape_control_characters(verdict(reports))])


def _subject(finding: Finding) -> str:
    return f"{finding.table}.{finding.column}" if finding.column else finding.table


def to_json(reports: Reports) -> str:
    """The reports as JSON."""
    rows = [
        {"source": report.source, "tables": list(report.tables), "findings": list(map(_finding_json, report.findings))}
        for report in reports
    ]
    whole = {"verdict": verdict(reports), "totals": count_findings(reports), "contracts": rows}
    return json.dumps(whole, ensure_ascii=False, indent=2)


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity.label,
        "table": finding.table,
        "column": finding.column,
        "message": finding.message,
        "hint": finding.hint,
        "line": finding.line,
        "path": list(finding.path),
    }


def to_markdown(reports: Reports) -> str:
    """A comment for a pull request."""
    lines = [f"**{_cell(verdict(reports))}**", ""]
    if any(report.findings for report in reports):
        lines += ["| | where | what | path |", "|---|---|---|---|"]
    for report in reports:
        for finding in report.findings:
            mark = {"error": "❌", "warning": "⚠️"}.get(finding.severity.label, "ℹ️")  # as GitHub shows it
            cells = (f"`{_cell(_subject(finding))}`", _cell(finding.message), _cell(" → ".join(finding.path[:20])))
            lines.append(f"| {mark} {finding.severity.label} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Text in a Markdown table: no markup of its own, on one line."""
    escaped = escape_control_characters(text).replace("\\", "\\\\").replace("|", "\\|").replace("`", "'")
    return escaped.replace("<", "&lt;").replace("[", "\\[").replace("@", "@\u200b")


def to_junit(reports: Reports) -> str:
    """JUnit XML: a suite per contract, a case per finding, one passed case for a contract without findings."""
    root = Xml.Element("testsuites", name="colline contract check")
    for report in reports:
        failed = [finding for finding in report.findings if finding.severity is Severity.ERROR]
        cases = max(len(report.findings), 1)
        suite = Xml.SubElement(
            root, "testsuite", name=_xml(report.source), tests=str(cases), failures=str(len(failed)), errors="0"
        )
        if not report.findings:
            Xml.SubElement(suite, "testcase", name="contract", classname=_xml(report.source))
        for finding in report.findings:
            name = f"{finding.code} {_subject(finding)}"
            case = Xml.SubElement(suite, "testcase", name=_xml(name), classname=_xml(report.source))
            kind = "failure" if finding.severity is Severity.ERROR else "system-out"
            details = Xml.SubElement(case, kind, {"message": _xml(finding.message)} if kind == "failure" else {})
            details.text = _xml("\n".join([finding.message, " → ".join(finding.path), finding.hint]))
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True)


def _xml(text: str) -> str:
    """XML cannot hold most control characters, not even escaped."""
    return "\n".join(map(escape_control_characters, text.split("\n")))


def to_sarif(reports: Reports) -> str:
    """SARIF 2.1.0, which code hosts show next to the lines of a file."""
    rules = [{"id": code, "shortDescription": {"text": text}} for code, text in CODES.items()]
    results = [_sarif_result(report.source, finding) for report in reports for finding in report.findings]
    driver = {"name": "colline", "informationUri": "https://openlineage.io", "rules": rules}
    log = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, ensure_ascii=False, indent=2)


def _sarif_result(source: str, finding: Finding) -> dict[str, Any]:
    message = f"{_subject(finding)}: {finding.message}"
    if len(finding.path) > 1:
        message += f" ({' → '.join(finding.path)})"
    place: dict[str, Any] = {"artifactLocation": {"uri": source.replace(" ", "%20")}}
    if finding.line:
        place["region"] = {"startLine": finding.line}
    return {
        "ruleId": finding.code,
        "level": _SARIF_LEVELS[finding.severity],
        "message": {"text": escape_control_characters(message)},
        "locations": [{"physicalLocation": place}],
    }


FORMATS: dict[str, Callable[[Reports], str]] = {
    "text": to_text, "json": to_json, "junit": to_junit, "sarif": to_sarif, "markdown": to_markdown,
}  # fmt: skip
