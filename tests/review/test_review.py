"""Reviews of real git repositories against the shop's lake."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from colline.cli import cli
from colline.contracts.contract_document import parse_contract
from colline.errors import SettingError
from colline.graph.snapshot.publish import publish
from tests.graph.graph_lakes import shop

CONTACTS = "create view gold.contacts as select email, email_hash as key from silver.customers;\n"
REVENUE = (
    "create view gold.daily_revenue as\n"
    "select c.region, sum(o.amount) as total from silver.orders o join silver.customers c on c.id = o.customer_id\n"
    "group by c.region;\n"
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = shop().write(tmp_path_factory.mktemp("review") / "lake")
    publish(lake)
    return lake


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=tester", "-c", "user.email=tester@example.com")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "my repo"
    (folder / "sql views").mkdir(parents=True)
    (folder / "sql views" / "contacts.sql").write_text(CONTACTS)
    (folder / "sql views" / "revenue.sql").write_text(REVENUE)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


def review(folder: Path, lake: Path | None, *options: str) -> tuple[int, str]:
    words = ["review", str(folder), "--base", "HEAD", *(["--lake", str(lake)] if lake else []), *options]
    result = CliRunner().invoke(cli, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def findings(folder: Path, lake: Path | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(review(folder, lake, "--json")[1])["findings"]
    return found


def change(folder: Path, name: str, old: str, new: str) -> None:
    file = folder / "sql views" / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_an_unchanged_repository_has_no_findings(repository: Path, lake: Path) -> None:
    assert review(repository, lake) == (0, "no change of lineage\n")


def test_another_derivation_lists_what_is_downstream(repository: Path, lake: Path) -> None:
    change(repository, "revenue.sql", "sum(o.amount)", "avg(o.amount)")
    [found] = findings(repository, lake)
    assert (found["kind"], found["severity"]) == ("derivation-changed", "warning")
    assert found["subject"] == "gold.daily_revenue.total"
    assert "silver.orders.amount" in found["message"]
    assert "platinum.kpi.revenue" in found["columns"]
    assert "kpi" in found["jobs"]
    assert review(repository, lake)[0] == 0
    assert review(repository, lake, "--fail-on", "warning")[0] == 1


def test_a_removed_column_with_consumers_is_an_error(repository: Path, lake: Path) -> None:
    change(repository, "revenue.sql", ", sum(o.amount) as total", "")
    found = [each for each in findings(repository, lake) if each["kind"] == "column-removed"]
    assert [(each["subject"], each["severity"]) for each in found] == [("gold.daily_revenue.total", "error")]
    assert review(repository, lake)[0] == 1


def test_a_removed_file_removes_its_tables(repository: Path, lake: Path) -> None:
    (repository / "sql views" / "contacts.sql").unlink()
    [found] = [each for each in findings(repository, lake) if each["kind"] == "table-removed"]
    assert found["subject"] == "gold.contacts"
    assert found["columns"] == ["exports.mailing.address"]


def test_new_personal_data_in_clear_is_an_error_with_its_path(repository: Path, lake: Path) -> None:
    (repository / "sql views" / "board.sql").write_text(
        "create view platinum.board as select upper(key2) as who from gold.mail_keys;\n"
        "create view gold.mail_keys as select email as key2 from silver.customers;\n"
    )
    found = [each for each in findings(repository, lake) if each["kind"] == "personal-data-in-clear"]
    assert [each["subject"] for each in found] == ["gold.mail_keys.key2", "platinum.board.who"]
    assert found[1]["path"] == ["silver.customers.email", "gold.mail_keys.key2", "platinum.board.who"]


def test_a_masked_copy_does_not_count_as_personal_data(repository: Path, lake: Path) -> None:
    (repository / "sql views" / "digest.sql").write_text(
        "create view gold.digest as select sha2(email, 256) as who from silver.customers;\n"
    )
    code, output = review(repository, lake, "--sql-dialect", "spark")
    assert "personal-data-in-clear" not in output
    assert code == 0


def test_a_promise_that_the_change_breaks_is_an_error(repository: Path, lake: Path) -> None:
    export = CliRunner().invoke(
        cli, ["contract", "export", "gold.contacts", "-o", str(repository / "contracts"), "--lake", str(lake)]
    )
    assert export.exit_code == 0, export.output
    file = repository / "contracts" / "gold.contacts.odcs.yaml"
    document = parse_contract(file.read_text(), file.name)
    key = next(each for each in document.tables()[0]["properties"] if each["name"] == "key")
    key["customProperties"].append({"property": "lineagePromises", "value": ["masked"]})
    file.write_text(document.text())
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "promise")
    assert findings(repository, lake) == []
    change(repository, "contacts.sql", "email_hash as key", "email as key")
    found = [each for each in findings(repository, lake) if each["kind"] == "promise-broken"]
    assert [(each["subject"], each["path"]) for each in found] == [
        ("gold.contacts.key", ["bronze.customers.email", "silver.customers.email", "gold.contacts.key"])
    ]


def test_what_cannot_be_read_is_reported_as_unknown(repository: Path, lake: Path) -> None:
    (repository / "sql views" / "broken.sql").write_text("create view x as select from where;\n")
    code, output = review(repository, lake)
    assert "unknown: sql views/broken.sql:1" in output
    assert code == 0


def test_markdown_escapes_hostile_names(repository: Path) -> None:
    (repository / "sql views" / "hostile.sql").write_text(
        'create view "a|b`<script>" as select id as "@everyone" from silver.customers;\n'
    )
    _, output = review(repository, None, "--format", "markdown")
    assert output.startswith("### Lineage of this change")
    assert "<script>" not in output
    assert "@everyone" not in output


def test_wrong_revisions_and_folders_are_errors(repository: Path, tmp_path: Path, lake: Path) -> None:
    for words in (["review", str(repository), "--base", "no-such"], ["review", str(tmp_path), "--base", "HEAD"]):
        result = CliRunner().invoke(cli, [*words, "--lake", str(lake)])
        assert isinstance(result.exception, SettingError)
        assert result.exception.hint
    hostile = CliRunner().invoke(cli, ["review", str(repository), "--base", "--output=/tmp/x"])
    assert isinstance(hostile.exception, SettingError)
