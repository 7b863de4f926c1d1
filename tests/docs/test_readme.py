"""The examples, commands, options and make targets that README and the docs show exist and behave as shown."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

import colline
from colline.cli import COMMANDS, cli
from tests.docs.pages import DEVELOPER_PAGES, ROOT, USER_PAGES, page_id
from tests.server.serving import serving

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGES = [*USER_PAGES, *DEVELOPER_PAGES]


@pytest.fixture
def empty_database(spark: SparkSession) -> Iterator[SparkSession]:
    spark.sql("create database readme")
    spark.sql("use readme")
    yield spark
    spark.sql("use default")
    spark.sql("drop database readme cascade")


@pytest.mark.spark
def test_readme_example_prints_the_output_shown(empty_database: SparkSession) -> None:
    example, output = re.findall(r"```(?:python|text)\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(example, {"spark": empty_database})
    assert printed.getvalue() == output


@pytest.mark.spark
@pytest.mark.delta
def test_readme_loop_captures_ingests_answers_and_serves(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = tmp_path / "lake"
    [block] = re.findall(r"The whole loop:\n\n```\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    attach, *commands = [line.split("#")[0].strip().replace("/data/lake", str(lake)) for line in block.splitlines()]
    spark.sql("create database if not exists gold")
    try:
        watch = eval(attach, {"colline": colline, "spark": spark})
        spark.sql("create table gold.payments as select id as revenue from range(3)")
        spark.sql("create table gold.daily_revenue as select sum(revenue) as revenue from gold.payments")
        watch.detach()
    finally:
        spark.sql("drop database gold cascade")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    ingest, upstream, serve = (command.split() for command in commands)
    assert "6 events in 1 batch" in output_of(ingest)
    assert "gold.payments.revenue" in output_of(upstream)
    assert serve == ["colline", "serve", "--lake", str(lake)]
    with serving(lake) as server:
        assert "colline" in server.client.get("/").text
        assert server.client.get("/api/v1/status").status_code == 200


def output_of(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_picture_of_the_page_is_a_picture_that_make_takes() -> None:
    [path] = re.findall(r"!\[[^]]+\]\(([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    content = (ROOT / path).read_bytes()
    width, height = (int.from_bytes(content[start : start + 4], "big") for start in (16, 20))
    assert content.startswith(b"\x89PNG") and width >= 1280 and height >= 600 and len(content) < 400_000
    assert path in (ROOT / "tools" / "page_picture.py").read_text("utf-8")


def command_lines(page: Path) -> list[list[str]]:
    """The words of each colline command line on a page, in a block or in a sentence, up to the name of a script."""
    found = re.findall(r"(?:^|`|\$ )colline ([a-z][^`\n#|]*)", page.read_text("utf-8"), re.MULTILINE)
    return [re.split(r"\S+\.py", line)[0].split() for line in found]


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_commands_and_options_exist(page: Path) -> None:
    for name, *words in command_lines(page):
        command = cli.get_command(click.Context(cli), name)
        if isinstance(command, click.Group) and words and not words[0].startswith("-"):
            command = command.get_command(click.Context(command), words[0])
        assert command is not None, f"colline {name} {words}"
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        named = {word.strip("[]") for word in words if word.strip("[]").startswith("-")}
        assert named <= known, f"colline {name} {words}"


def test_pages_show_every_command() -> None:
    assert {words[0] for page in PAGES for words in command_lines(page)} == set(COMMANDS)


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {
        target for page in PAGES for target in re.findall(r"(?m)(?:^|`)make ([a-z][a-z-]+)", page.read_text("utf-8"))
    }
    assert {"demo", "test", "bench", "lock"} <= named <= targets


def test_readme_states_the_number_of_jobs_in_the_demo() -> None:
    from colline.demo.schedule import DAYS, REFUNDS

    jobs = {job.name for day in (*DAYS, (REFUNDS,)) for job in day if job.owner != "analysts"}
    assert f"({len(jobs)} jobs, " in (ROOT / "README.md").read_text("utf-8")
