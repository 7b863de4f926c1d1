"""The snippets of the guides are valid: Python and its calls of colline, shell scripts, data formats, unit files."""

from __future__ import annotations

import ast
import configparser
import inspect
import json
import re
import subprocess
from pathlib import Path
from textwrap import dedent

import click
import pytest
import yaml

import colline
from colline.cli import cli
from colline.config.sources import from_toml
from tests.docs.pages import USER_PAGES, page_id

PAGES = USER_PAGES
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of a page in these languages, without their indentation."""
    found = BLOCK.findall(page.read_text("utf-8"))
    return [dedent(text) for _, language, text in found if language in languages]


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_python_compiles_and_calls_colline_with_arguments_that_exist(page: Path) -> None:
    for text in blocks(page, "python"):
        code = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
        if text.startswith("%%"):  # a cell of SQL
            continue
        for call in (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)):
            if ast.unparse(call.func).startswith("colline."):
                function = getattr(colline, ast.unparse(call.func).split(".")[1])
                named = {keyword.arg: None for keyword in call.keywords if keyword.arg}
                inspect.signature(function).bind(*call.args, **named)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_data_formats_parse(page: Path, tmp_path: Path) -> None:
    for text in blocks(page, "json"):
        if "…" not in text:  # what is left out of an answer
            json.loads(text)
    for text in blocks(page, "toml"):
        file = tmp_path / "colline.toml"
        file.write_text(text, "utf-8")
        list(from_toml(file))
    for text in blocks(page, "yaml"):
        assert yaml.safe_load(text)
    for text in blocks(page, "nginx"):
        assert text.count("{") == text.count("}") > 0


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_shell_scripts_have_no_syntax_error(page: Path) -> None:
    scripts = [text for text in blocks(page, "", "bash") if text.startswith("#!/bin/bash")]
    for text in scripts:
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_unit_files_start_commands_that_exist(page: Path) -> None:
    for text in blocks(page, "ini"):
        unit = configparser.ConfigParser(strict=False, interpolation=None)
        unit.optionxform = str  # type: ignore[assignment, method-assign]
        unit.read_string(text)
        program, name, *words = unit["Service"]["ExecStart"].split()
        command = cli.get_command(click.Context(cli), name)
        assert Path(program).name == "colline" and command is not None
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known
