"""The naming rules on the cases in `tests/cases/names`, and properties that hold for every name."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colline.naming.dataset import NameContext, context_from_conf
from colline.naming.file_paths import name_of_path
from colline.naming.rules import identify, identify_all
from colline.plan.source import Source, SourceKind

CASES = Path(__file__).parents[1] / "cases" / "names"
Block = list[tuple[str, str]]


def blocks() -> Iterator[tuple[str, Block]]:
    for file in sorted(CASES.glob("[jpst]*.txt")):
        for text in file.read_text(encoding="utf-8").split("\n\n"):
            lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
            pairs = [(key.strip(), value.strip()) for key, _, value in (line.partition(":") for line in lines)]
            if pairs:
                yield f"{file.stem}: {pairs[0][1]}", pairs[1:]


BLOCKS = dict(blocks())


def values(block: Block, key: str) -> list[str]:
    return [value for name, value in block if name == key]


def first_value(block: Block, key: str, default: str = "") -> str:
    return next(iter(values(block, key)), default)


def source_of(block: Block) -> Source:
    options = [tuple(text.split("=", 1)) for text in values(block, "option")]
    options += [(key, first_value(block, key)) for key in ("url", "dbtable", "query") if values(block, key)]
    default = "jdbc" if values(block, "url") else "table" if values(block, "table") else "path"
    kind = SourceKind(first_value(block, "kind", "other" if values(block, "provider") else default))
    table = first_value(block, "table")
    at = table.find("delta.")
    parts = (*(p for p in table[:at].split(".") if p), "delta", table[at + 6 :]) if at >= 0 else table.split(".")
    return Source(
        kind=kind,
        provider=first_value(block, "provider"),
        paths=tuple(values(block, "path")),
        table=tuple(part for part in parts if part),
        options=tuple(options),
    )


def context_of(block: Block) -> NameContext:
    context = context_from_conf(dict(text.split("=", 1) for text in values(block, "conf")))
    return replace(
        context, working_directory=first_value(block, "working_directory"), derby_home=first_value(block, "derby_home")
    )


@pytest.mark.parametrize("title", BLOCKS)
def test_source_has_the_name_of_its_case(title: str) -> None:
    block = BLOCKS[title]
    found = identify_all(source_of(block), context_of(block))
    assert [f"{n.name.namespace} | {n.name.name}" for n in found] == values(block, "is")
    if values(block, "link"):
        assert [f"{s.namespace} | {s.name} | {s.type}" for s in found[0].symlinks] == values(block, "link")


WITH_SECRET = [title for title, block in BLOCKS.items() if "s3cr3t" in str(block)]


def test_some_cases_contain_a_secret() -> None:
    assert len(WITH_SECRET) > 10


@pytest.mark.parametrize("title", WITH_SECRET)
def test_name_contains_no_secret(title: str) -> None:
    assert "s3cr3t" not in str(identify_all(source_of(BLOCKS[title]), context_of(BLOCKS[title])))


@given(st.text(max_size=60), st.sampled_from(["", "s3a://b/", "file:", "/", "hdfs://h/", "c:\\"]))
def test_any_path_has_a_name(text: str, prefix: str) -> None:
    name = name_of_path(prefix + text, NameContext())
    assert name.namespace and name.name
    assert "//" not in name.name


@given(st.text(max_size=80), st.text(max_size=40))
def test_any_jdbc_url_has_a_name(url: str, table: str) -> None:
    named = identify(Source(SourceKind.JDBC, options=(("url", f"jdbc:{url}"), ("dbtable", table))), NameContext())
    assert named.name.namespace


@pytest.mark.parametrize("scheme", ["postgresql", "mysql", "sqlserver", "oracle:thin", "db2", "h2:tcp", "strange"])
@pytest.mark.parametrize("secret", ["user:hunter2@", "user:hunter2%40@"])
def test_password_in_a_url_is_not_in_the_name(scheme: str, secret: str) -> None:
    url = f"jdbc:{scheme}://{secret}h.example/db?password=hunter2;password=hunter2"
    named = identify(Source(SourceKind.JDBC, options=(("url", url), ("dbtable", "t"))), NameContext())
    assert "hunter2" not in str(named)
    assert named.name.name.lower().endswith("t")


PACKAGE = Path(__file__).parents[1] / "cases" / "packages" / "crm_names"
NAME_TWO_SOURCES = """
import logging; logging.basicConfig(format="%(message)s")
from colline.naming.rules import NameContext, Source, SourceKind, identify
crm = Source(SourceKind.OTHER, provider="com.example.crm", options=(("org", "shop"), ("object", "Account")))
print(identify(crm, NameContext()).name)
print(identify(Source(SourceKind.PATH, paths=("/data/x",)), NameContext()).name)
"""


def test_package_adds_rules_and_a_broken_rule_is_skipped() -> None:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(
        [sys.executable, "-c", NAME_TWO_SOURCES], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "DatasetName(namespace='crm://shop', name='Account')",
        "DatasetName(namespace='file', name='/data/x')",
    ]
    assert done.stderr.count("naming rule raise_error raised RuntimeError and was skipped") == 1
    assert "naming rule missing cannot be loaded" in done.stderr
