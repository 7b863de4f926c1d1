"""The steps of the examples, run in a repository that the test makes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from colline.graph.snapshot.publish import publish
from tests.graph.graph_lakes import shop

EXAMPLES = Path(__file__).parents[2] / "examples"
WORKFLOW = yaml.safe_load((EXAMPLES / "github-workflow" / "lineage.yml").read_text())
HOOKS = yaml.safe_load((EXAMPLES / "pre-commit" / "pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
CONTACTS = "create view gold.contacts as select email, email_hash as key from silver.customers;\n"


@pytest.fixture
def project(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A repository with a remote, and the environment of its steps."""
    lake = shop().write(tmp_path / "lake")
    publish(lake)
    folder = tmp_path / "repository"
    (folder / "views").mkdir(parents=True)
    (folder / "views" / "contacts.sql").write_text(CONTACTS)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {
        **os.environ, "PATH": programs, "COLLINE_LAKE": str(lake), "GITHUB_BASE_REF": "main",
        "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.com",
        "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.com",
    }  # fmt: skip
    run("git init --quiet --bare ../remote.git && git init --quiet --initial-branch main", folder, environment)
    run("git remote add origin ../remote.git && git add . && git commit --quiet -m start", folder, environment)
    run("git push --quiet -u origin main", folder, environment)
    return folder, environment


def run(script: str, folder: Path, environment: dict[str, str], expected: int = 0) -> str:
    command = ["bash", "-e", "-o", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout


def steps(job: str) -> dict[str, Any]:
    return {step["name"]: step["run"] for step in WORKFLOW["jobs"][job]["steps"] if "run" in step}


def test_the_workflow_exports_contracts_and_comments_on_a_change(project: tuple[Path, dict[str, str]]) -> None:
    folder, environment = project
    export, check = steps("export"), steps("review")
    run(export["export contracts"], folder, environment)
    run(export["commit contracts"], folder, environment)
    names = run("git ls-tree --name-only -r origin/main contracts", folder, environment).split()
    assert names == ["contracts/gold.contacts.odcs.yaml", "contracts/gold.daily_revenue.odcs.yaml"]
    run(export["export contracts"], folder, environment)
    run(export["commit contracts"], folder, environment)  # nothing new: no commit
    assert run("git log --oneline", folder, environment).count("Update data contracts") == 1
    run("git checkout --quiet -b change", folder, environment)
    (folder / "views" / "contacts.sql").write_text(CONTACTS.replace("email,", "lower(email) as email,"))
    run("git commit --quiet -am change", folder, environment)
    run(check["check contracts"], folder, environment)
    run(check["review lineage"], folder, environment)
    comment = (folder / "comment.md").read_text()
    assert "2 contracts: everything holds" in comment
    assert "gold.contacts.email" in comment
    assert "exports.mailing.address" in comment


def test_the_hooks_pass_and_stop_a_removal(project: tuple[Path, dict[str, str]]) -> None:
    folder, environment = project
    run(steps("export")["export contracts"], folder, environment)
    for hook in HOOKS:
        run(hook["entry"], folder, environment)
    (folder / "views" / "contacts.sql").write_text(CONTACTS.replace("email,", ""))
    run(next(hook["entry"] for hook in HOOKS if hook["id"] == "lineage"), folder, environment, expected=1)
