"""The packages of the tests are those of the source."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
# tests of several packages, or of what is not in src/colline
OTHERS = {"attack", "cases", "docs", "examples", "page", "tools"}
HELPERS = {"trace/extension_package"}


def _packages(root: Path) -> set[str]:
    return {path.parent.relative_to(root).as_posix() for path in root.rglob("*.py")} - {"."}


def test_each_package_of_tests_has_the_name_of_a_source_package() -> None:
    found = {package for package in _packages(ROOT / "tests") if package.split("/")[0] not in OTHERS}
    found = {package for package in found if not any(package.startswith(helper) for helper in HELPERS)}
    assert found - _packages(ROOT / "src" / "colline") == set()


def test_each_top_level_package_has_tests() -> None:
    source = {package.split("/")[0] for package in _packages(ROOT / "src" / "colline")}
    assert source - {package.split("/")[0] for package in _packages(ROOT / "tests")} == set()


def test_tests_are_packages() -> None:
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    without = {folder for folder in folders if not (folder / "__init__.py").exists()}
    assert without == set()
