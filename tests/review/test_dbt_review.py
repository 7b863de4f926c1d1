"""Reviews of a dbt project, whose artifacts are in the repository or somewhere else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from colline.cli import cli
from colline.errors import SettingError

from .test_review import git

SHOP = Path(__file__).parents[1] / "cases" / "dbt" / "shop"
ORDERS = "model.shop.orders"


def project(folder: Path, ignored: str = "") -> Path:
    """A repository with the dbt project `shop` in a folder."""
    shutil.copytree(SHOP, folder / "shop")
    (folder / ".gitignore").write_text(ignored)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


def change_model(folder: Path) -> None:
    """What `dbt compile` writes after a change of the column `gross`."""
    file = folder / "shop" / "target" / "manifest.json"
    manifest = json.loads(file.read_text())
    before = manifest["nodes"][ORDERS]["compiled_code"]
    manifest["nodes"][ORDERS]["compiled_code"] = before.replace("gross", "gross_amount")
    assert manifest["nodes"][ORDERS]["compiled_code"] != before
    file.write_text(json.dumps(manifest))


def run(folder: Path, *options: str) -> dict[str, Any]:
    words = ["review", str(folder), "--base", "HEAD", "--json", *options]
    result = CliRunner().invoke(cli, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    review: dict[str, Any] = json.loads(result.output)
    return review


def kinds(review: dict[str, Any]) -> set[tuple[str, str]]:
    return {(each["kind"], each["subject"]) for each in review["findings"]}


def test_a_changed_model_is_compared_by_its_manifests(tmp_path: Path) -> None:
    folder = project(tmp_path)
    assert kinds(run(folder)) == set()
    change_model(folder)
    found = kinds(run(folder))
    assert any(kind == "column-removed" and subject.endswith("orders.gross") for kind, subject in found)
    assert any(kind == "column-added" and subject.endswith("orders.gross_amount") for kind, subject in found)


def test_artifacts_of_the_base_may_be_in_another_folder(tmp_path: Path) -> None:
    folder = project(tmp_path / "repository", ignored="target/\n")
    state = tmp_path / "production"
    shutil.copytree(SHOP / "target", state)
    change_model(folder)
    with pytest.raises(SettingError, match=r"no target/manifest\.json at the base revision") as error:
        run(folder)
    assert "--dbt-state" in str(error.value.hint)
    found = kinds(run(folder, "--dbt-state", str(state)))
    assert any(kind == "column-removed" and subject.endswith("orders.gross") for kind, subject in found)
    (state / "manifest.json").unlink()
    with pytest.raises(SettingError, match=r"no manifest\.json in"):
        run(folder, "--dbt-state", str(state))


def test_a_project_that_was_not_compiled_is_unknown_or_an_error(tmp_path: Path) -> None:
    ignored = project(tmp_path / "ignored", ignored="target/\n")
    shutil.rmtree(ignored / "shop" / "target")
    assert run(ignored)["unknown"] == ["shop/dbt_project.yml: no target/manifest.json; run `dbt compile`"]
    kept = project(tmp_path / "kept")
    shutil.rmtree(kept / "shop" / "target")
    with pytest.raises(SettingError, match=r"has no target/manifest\.json"):
        run(kept)


def test_a_broken_manifest_is_reported(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "shop" / "target" / "manifest.json").write_text('{\n"nodes": oops')
    assert run(folder)["unknown"][0].startswith("shop/target/manifest.json:2: expected JSON")
