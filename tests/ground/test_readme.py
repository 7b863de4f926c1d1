"""What README and the docs show is what happens."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.cli import COMMANDS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"(?:^|`|\$ )colline ([a-z][a-z-]+)", page.read_text("utf-8"), re.MULTILINE))
    assert named <= set(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_make_target_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for page in PAGES:
        assert set(re.findall(r"(?:^|`)make ([a-z][a-z-]+)", page.read_text("utf-8"), re.MULTILINE)) <= targets, page


def test_the_readme_counts_the_demos_jobs_right() -> None:
    from colline.demo.schedule import DAYS, REFUNDS

    jobs = {job.name for day in (*DAYS, (REFUNDS,)) for job in day if job.owner != "analysts"}
    assert f"({len(jobs)} jobs, " in (ROOT / "README.md").read_text("utf-8")
