"""What README and the docs show is what happens."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from colline.cli import COMMANDS, cli

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture
def empty_database(spark: SparkSession) -> Iterator[SparkSession]:
    spark.sql("create database readme")
    spark.sql("use readme")
    yield spark
    spark.sql("use default")
    spark.sql("drop database readme cascade")


@pytest.mark.spark
def test_the_readmes_example_prints_what_it_shows(empty_database: SparkSession) -> None:
    example, shown = re.findall(r"```(?:python|text)\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(example, {"spark": empty_database})
    assert printed.getvalue() == shown


def shown(page: Path) -> list[list[str]]:
    """The words of every command line of colline on a page, in a block or in a sentence, up to a script's name."""
    found = re.findall(r"(?:^|`|\$ )colline ([a-z][^`\n#|]*)", page.read_text("utf-8"), re.MULTILINE)
    return [re.split(r"\S+\.py", line)[0].split() for line in found]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_a_page_names_exists(page: Path) -> None:
    for name, *words in shown(page):
        command = cli.get_command(click.Context(cli), name)
        if isinstance(command, click.Group) and words:
            command = command.get_command(click.Context(command), words[0])
        assert command is not None, f"colline {name} {words}"
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        named = {word.strip("[]") for word in words if word.strip("[]").startswith("-")}
        assert named <= known, f"colline {name} {words}"


def test_the_pages_show_command_lines() -> None:
    assert {words[0] for page in PAGES for words in shown(page)} == set(COMMANDS)


def test_the_index_names_every_page() -> None:
    docs = ROOT / "docs"
    pages = {page.relative_to(docs).as_posix() for page in PAGES if page.is_relative_to(docs)}
    index = (docs / "index.md").read_text("utf-8")
    assert set(re.findall(r"\]\(([\w/-]+\.md)\)", index)) == pages - {"index.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_make_target_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {
        target for page in PAGES for target in re.findall(r"(?m)(?:^|`)make ([a-z][a-z-]+)", page.read_text("utf-8"))
    }
    assert {"demo", "test", "bench", "lock"} <= named <= targets


def test_the_readme_counts_the_demos_jobs_right() -> None:
    from colline.demo.schedule import DAYS, REFUNDS

    jobs = {job.name for day in (*DAYS, (REFUNDS,)) for job in day if job.owner != "analysts"}
    assert f"({len(jobs)} jobs, " in (ROOT / "README.md").read_text("utf-8")
