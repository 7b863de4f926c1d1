"""`colline mcp install`: the entry is added, everything else in the file stays."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from colline.cli import cli
from colline.errors import SettingError


def install(*options: str | Path) -> tuple[str, BaseException | None]:
    result = CliRunner().invoke(cli, ["mcp", "install", *map(str, options)])
    return result.output, result.exception


def test_print_shows_the_configuration(tmp_path: Path) -> None:
    output, error = install("--lake", tmp_path / "my lake", "--print")
    assert error is None
    entry = json.loads(output)["mcpServers"]["colline"]
    assert entry["args"][-3:] == ["mcp", "--lake", str(tmp_path / "my lake")]
    assert Path(entry["command"]).is_absolute()
    assert "servers" in json.loads(install("--lake", tmp_path, "--client", "vscode", "--print")[0])


def test_other_entries_stay_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a folder" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"theme": "dark", "mcpServers": {"other": {"command": "x"}}}))
    install("--lake", tmp_path, "--file", file)
    first = file.read_text()
    install("--lake", tmp_path, "--file", file)
    assert file.read_text() == first
    settings = json.loads(first)
    assert settings["theme"] == "dark"
    assert set(settings["mcpServers"]) == {"other", "colline"}


def test_a_broken_file_is_an_error_and_is_not_changed(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    for text in ('{"mcpServers": ', '{"mcpServers": []}', "[]"):
        file.write_text(text)
        _, error = install("--lake", tmp_path, "--file", file)
        assert isinstance(error, SettingError)
        assert error.hint
        assert file.read_text() == text
