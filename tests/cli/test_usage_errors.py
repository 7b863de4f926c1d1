"""Wrong usage: two lines on stderr, nothing on stdout, and the documented exit code."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from colline.cli import main

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
    "serve --lake {file}": (3, "{file} is not a folder", "serve a lake on a local or mounted disk"),
    "serve --lake {none} --host 0.0.0.0": (
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
    assert "Usage: " in printed.err and "Commands:" in printed.err and "error:" not in printed.err
