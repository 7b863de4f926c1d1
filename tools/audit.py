"""Checks the locked Python and Node packages for known vulnerabilities; `make audit` runs it.

Both checks ask a service on the network. Packages that it does not answer for are reported as not checked, which is
not a failure: a package counts as checked only if the service answered for it.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

PIP_AUDIT = (
    *("tool", "run", "pip-audit", "--requirement", "requirements/dev.txt"),
    *("--require-hashes", "--disable-pip", "--format", "json", "--progress-spinner", "off"),
)
NPM_AUDIT = ("audit", "--json")
TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Audit:
    """The result of one check: packages that were checked, the vulnerabilities in them, and why others were not."""

    checked: int = 0
    found: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()

    def text(self) -> str:
        """The result in words."""
        lines = [f"{len(self.found)} known vulnerabilities in {self.checked} checked packages", *self.found]
        if self.not_checked:
            lines.append(f"{len(self.not_checked)} NOT CHECKED: {self.not_checked[0][:200]}")
        return "\n  ".join(lines)


def run(command: list[str]) -> tuple[dict[str, Any], str]:
    """The JSON object that a command prints, and its errors; an empty object if it prints none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
        found = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {}, str(error)
    except ValueError:
        return {}, done.stderr.strip() or "no output"
    return (found if isinstance(found, dict) else {}), done.stderr.strip()


def audit_python(uv: str) -> Audit:
    """Ask pip-audit about the locked packages; it skips a package that its service does not know."""
    report, errors = run([uv, *PIP_AUDIT])
    if "dependencies" not in report:
        return Audit(not_checked=(f"all packages: {errors.splitlines()[-1]}",))
    packages = report["dependencies"]
    skipped = tuple(each["skip_reason"] for each in packages if "skip_reason" in each)
    found = tuple(f"{p['name']} {p['version']}: {v['id']}" for p in packages for v in p.get("vulns", ()))
    return Audit(len(packages) - len(skipped), found, skipped)


def audit_node(npm: list[str]) -> Audit:
    """Ask npm about the locked packages of the page."""
    report, errors = run([*npm, *NPM_AUDIT])
    if "vulnerabilities" not in report:
        reason = report.get("message") or (errors.splitlines() or ["no output"])[-1]
        return Audit(not_checked=(f"all packages: {reason}",))
    found = tuple(f"{name}: {each.get('severity')}" for name, each in report["vulnerabilities"].items())
    return Audit(report["metadata"]["dependencies"]["total"], found)


def main() -> int:
    """Print the results of both checks; 1 if a vulnerability is known."""
    audits = {
        "Python": audit_python(os.environ.get("UV", "uv")),
        "Node": audit_node(shlex.split("npm --prefix web")),
    }
    for name, audit in audits.items():
        print(f"{name}: {audit.text()}")
    return int(any(audit.found for audit in audits.values()))


if __name__ == "__main__":
    sys.exit(main())
