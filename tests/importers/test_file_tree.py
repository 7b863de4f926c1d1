"""The files below a path: links and pipes are not followed, and a file that cannot be read is named in the error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from colline.errors import SettingError
from colline.importers.file_tree import file_tree
from colline.importers.formats import ImportOptions, read_definitions
from colline.importers.known_tables import NoTables


def problems_of(folder: Path) -> list[tuple[str, str]]:
    tree = file_tree(folder)
    return [(each.file, each.message) for each in tree.problems.problems]


def test_a_link_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.sql").write_text("create view secret as select password from users")
    project = tmp_path / "project"
    (project / "inner").mkdir(parents=True)
    (project / "inner" / "a.sql").write_text("create view v as select a from t")
    (project / "same.sql").symlink_to(project / "inner" / "a.sql")
    (project / "out.sql").symlink_to(tmp_path / "secret.sql")
    (project / "up.sql").symlink_to("../secret.sql")
    (project / "itself.sql").symlink_to("itself.sql")
    (project / "loop").symlink_to(project, target_is_directory=True)
    tree = file_tree(project)
    assert tree.files == ("inner/a.sql", "itself.sql", "same.sql")
    assert tree.text("itself.sql") is None
    message = "a link to a place outside of the folder; it is not read"
    assert problems_of(project) == [("out.sql", message), ("up.sql", message)]
    assert tree.text("out.sql") is None


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "wait.sql")
    (tmp_path / "a.sql").write_text("create view v as select a from t")
    assert file_tree(tmp_path).files == ("a.sql",)
    assert problems_of(tmp_path) == [("wait.sql", "not a regular file; it is not read")]
    with pytest.raises(SettingError, match="not a file or folder"):
        file_tree(tmp_path / "wait.sql")


def test_a_path_that_is_a_link_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("create view v as select a from t")
    (tmp_path / "link.sql").symlink_to(tmp_path / "a.sql")
    tree = file_tree(tmp_path / "link.sql")
    assert [tree.text(file) for file in tree.files] == ["create view v as select a from t"]


@pytest.mark.parametrize(
    ("text", "line"), [('{"metadata": {},\n "nodes": oops}', 2), ('{"nodes": ' + "[" * 10_000 + "]" * 10_000 + "}", 1)]
)
def test_a_broken_manifest_is_named_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(SettingError, match=rf"manifest\.json, line {line}: expected JSON"):
        read_definitions(tmp_path, NoTables(), ImportOptions())
