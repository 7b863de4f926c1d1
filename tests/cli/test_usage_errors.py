"""Wrong usage: two lines on stderr, nothing on stdout, and the documented exit code."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import click
import pytest

from colline.cli import COMMANDS, cli, main
from colline.cli.help_sections import GUESSES
from tests.graph.graph_lakes import shop

# command line → exit code, error, hint; {none} is a directory that does not exist, {file} is a file
WRONG = {
    "upsteam x": (2, "there is no command 'upsteam'", "did you mean upstream?"),
    "nonsense": (2, "there is no command 'nonsense'", "`colline --help` lists all commands"),
    "--nonsense": (2, "no such option '--nonsense'", "`colline --help` shows the usage"),
    "find x": (2, "missing option '--lake'", "give --lake PATH, or set COLLINE_LAKE"),
    "find --lake {none}": (2, "missing argument 'TEXT'", "`colline find --help` shows the usage"),
    "pii --allowed-zones gold x": (2, "no such option '--allowed-zones'", "did you mean --allowed-zone?"),
    "pii --lake {none}": (2, "give exactly one of COLUMN, --tag", "`colline pii --help` shows the usage"),
    "find x --limit -1 --lake {none}": (
        2,
        "invalid value for '--limit': -1 is not in the range x>=0",
        "`colline find --help` shows the usage",
    ),
    "unused --idle-days -1 --lake {none}": (
        2,
        "invalid value for '--idle-days': -1 is not in the range 0<=x<=36500",
        "`colline unused --help` shows the usage",
    ),
    "find x --lake {none}": (3, "no lake at {none}", "check --lake or COLLINE_LAKE, or run `colline ingest`"),
    "ingest --lake '{none}%20'": (
        3,
        "query commands cannot read the tables of a lake at {none}%20",
        "choose a folder without a backslash, a line break or a code like %20 in its path",
    ),
    "token list --lake {none}": (3, "no lake at {none}", "check --lake or COLLINE_LAKE"),
    "token revoke x --lake {file}": (3, "no lake at {file}", "check --lake or COLLINE_LAKE"),
    "token create --lake {file}": (
        3,
        "cannot store tokens in {file}/_server: Not a directory",
        "the lake must be a folder that this user can write to",
    ),
    "serve --lake {file}": (3, "{file} is not a folder", "serve a lake on a disk or in object storage"),
    "serve --lake {none}": (
        3,
        "{none} is not a lake",
        "check --lake; `--create` makes a new lake there, which receives events",
    ),
    "--lake {none} find x": (3, "no lake at {none}", "check --lake or COLLINE_LAKE, or run `colline ingest`"),
    "ls": (2, "there is no command 'ls'", "did you mean tables?"),
    "search x": (2, "there is no command 'search'", "did you mean find?"),
    "lineage x": (2, "there is no command 'lineage'", "did you mean upstream?"),
    "readers x": (2, "there is no command 'readers'", "did you mean impact?"),
    "table x": (2, "there is no command 'table'", "did you mean show or tables?"),
    "describe x": (2, "there is no command 'describe'", "did you mean show?"),
    "Upstream x": (2, "there is no command 'Upstream'", "did you mean upstream?"),
    "serve --create --lake {none} --host 0.0.0.0": (
        2,
        "0.0.0.0 needs a token, and this lake has none",
        "colline token create --lake '{none}' --scope send --scope read",
    ),
}


@pytest.mark.parametrize("line", WRONG)
def test_wrong_usage_is_reported_with_a_hint(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"none": str(tmp_path / "my lake"), "file": str(tmp_path / "a file")}
    (tmp_path / "a file").touch()
    monkeypatch.delenv("COLLINE_LAKE", raising=False)
    monkeypatch.setattr("sys.argv", ["colline", *(word.format(**places) for word in shlex.split(line))])
    with pytest.raises(SystemExit) as ended:
        main()
    code, what, hint = WRONG[line]
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (code, "")
    assert printed.err == f"error: {what}\nhint: {hint}\n".format(**places)


@pytest.mark.parametrize("line", ["", "token", "quarantine"])
def test_group_without_a_command_prints_its_help(
    line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["colline", *line.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    assert ended.value.code == 2
    assert "Usage: " in printed.err and ("Commands:" if line else "Ask:") in printed.err and "error:" not in printed.err


def test_lake_before_the_command_is_the_lake_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = shop().write(tmp_path / "a lake")
    monkeypatch.setenv("COLLINE_LAKE", str(tmp_path / "another"))
    for line in (["--lake", str(lake), "find", "email"], ["find", "email", "--lake", str(lake)]):
        monkeypatch.setattr("sys.argv", ["colline", *line])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
    first, second = (part for part in re.split(r"(?=\d+ columns? match)", capsys.readouterr().out) if part)
    assert first == second
    assert os.environ["COLLINE_LAKE"] == str(tmp_path / "another")


def test_help_lists_every_command_in_its_section_with_an_example(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["colline", "--help"])
    with pytest.raises(SystemExit):
        main()
    text = capsys.readouterr().out
    assert re.findall(r"^(\w+):$", text, re.MULTILINE) == ["Options", "Ask", "Capture", "Operate"]
    listed = re.findall(r"^  ([a-z][a-z-]*)  +\S", text, re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)
    assert text.count("example: colline ") == 3


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_has_an_example_with_options_that_exist(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["colline", name, "--help"])
    with pytest.raises(SystemExit):
        main()
    text = capsys.readouterr().out
    if name == "settings":  # prints everything without an option
        return
    start = text.find(f"example: colline {name}")
    words = text[start if start >= 0 else text.index(f"\n  colline {name} ") :].partition("\n\n")[0].split()
    words = words[words.index("colline") :]
    command = cli.get_command(click.Context(cli), name)
    if isinstance(command, click.Group) and not words[2].startswith("-"):
        command = command.get_command(click.Context(command), words[2])
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-") and "job.py" not in words} <= known


def test_every_guess_leads_to_a_command() -> None:
    assert set(GUESSES.values()) <= set(COMMANDS)
    assert not set(GUESSES) & set(COMMANDS)
