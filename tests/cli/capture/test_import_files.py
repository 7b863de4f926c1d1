"""`colline import`: what it prints, what it lands, and its exit codes; without Spark."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from colline import demo
from colline.cli import cli
from colline.cli.operate.ingest import pipeline_options
from colline.errors import CollineError

PROJECT = Path(demo.__file__).parent / "power_bi"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["import", *map(str, arguments)])


def test_no_ingest_only_lands_the_events(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    done = run(PROJECT, "--lake", lake, "--no-ingest")
    assert done.exit_code == 0
    assert done.stdout == "imported 12 jobs with 12 datasets (2 power-bi)\n"
    [file] = [path for path in lake.rglob("*") if path.is_file()]
    assert file.relative_to(lake).parts[0] == "landing" and file.name.endswith("-12events.ndjson")
    assert len(file.read_bytes().splitlines()) == 12


def test_print_lands_nothing(tmp_path: Path) -> None:
    done = run(PROJECT, "--lake", tmp_path / "lake", "--print")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {event["job"]["namespace"] for event in events} == {"powerbi"}
    assert not (tmp_path / "lake").exists()
    assert "imported 12 jobs" in done.stderr


def test_what_is_not_known_is_listed_on_stderr(tmp_path: Path) -> None:
    done = run(PROJECT, "--lake", tmp_path / "lake", "--no-ingest")
    assert "2 could not be read or resolved:\n  Food Delivery.SemanticModel/definition/tables/Time" in done.stderr
    assert "6 are not in the lake:\n" in done.stderr


def test_json_has_the_whole_summary(tmp_path: Path) -> None:
    summary = json.loads(run(PROJECT, "--lake", tmp_path / "lake", "--no-ingest", "--json").stdout)
    assert (summary["found"], summary["jobs"], summary["datasets"]) == ({"power-bi": 2}, 12, 12)
    assert len(summary["problems"]) == 2 and len(summary["unknown"]) == 6


def test_strict_exits_with_1_if_something_is_not_known(tmp_path: Path) -> None:
    assert run(PROJECT, "--lake", tmp_path / "lake", "--no-ingest", "--strict").exit_code == 1
    (tmp_path / "a.sql").write_text("create view v as select 1 as x", "utf-8")
    assert run(tmp_path / "a.sql", "--lake", tmp_path / "lake", "--no-ingest", "--strict").exit_code == 0


@pytest.mark.parametrize(
    ("path", "message"),
    [("missing", "no file or folder at "), ("empty", "nothing to import in ")],
)
def test_errors_state_what_to_do(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    done = run(tmp_path / path, "--lake", tmp_path / "lake")
    assert isinstance(done.exception, CollineError)
    assert str(done.exception).startswith(message) and "\nhint: " in str(done.exception)


def test_one_format_can_be_chosen(tmp_path: Path) -> None:
    done = run(PROJECT, "--lake", tmp_path / "lake", "--format", "sql", "--no-ingest")
    assert isinstance(done.exception, CollineError)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_lake_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir(mode=0o500)
    done = run(PROJECT, "--lake", tmp_path / "lake", "--no-ingest")
    assert isinstance(done.exception, CollineError) and "cannot write to the lake" in str(done.exception)


def test_secrets_do_not_get_into_events(tmp_path: Path) -> None:
    source = 'let S = Sql.Database("srv", "db", [Query="select \'password=hunter2\' as p"]) in S'
    text = f"table A\n\tcolumn p\n\tpartition P = m\n\t\tsource = {source}\n"
    (tmp_path / "a.tmdl").write_text(text, "utf-8")
    done = run(tmp_path, "--lake", tmp_path / "lake", "--print")
    assert "hunter2" not in done.stdout


def test_imported_models_are_platinum_unless_a_rule_of_the_user_comes_first() -> None:
    [rule] = pipeline_options().rules.datasets
    assert (rule.layer, rule.name, rule.namespace) == ("platinum", None, None)
