"""Links and paths in the documentation lead to files, headings and modules that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import DECISIONS, DEVELOPER_PAGES, DOCS, PACKAGE, ROOT, USER_PAGES, page_id

PAGES = [*USER_PAGES, *DEVELOPER_PAGES, *DECISIONS]
FENCED_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# a path below the package or the repository, not one inside a lake such as `gold/edges`
FOLDERS = {path.name for root in (ROOT, PACKAGE) for path in root.iterdir() if path.is_dir()}


def prose(page: Path) -> str:
    """The text of a page without its code blocks."""
    return FENCED_BLOCK.sub("", page.read_text("utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_relative_links_lead_to_a_file_and_a_heading(page: Path) -> None:
    broken = []
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", prose(page)):
        target = (page.parent / link).resolve() if link else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{link}#{anchor}")
    assert broken == []


@pytest.mark.parametrize("page", [*DEVELOPER_PAGES, *USER_PAGES], ids=page_id)
def test_paths_of_the_repository_exist(page: Path) -> None:
    named = {path for path in re.findall(r"`([\w.*-]+/[\w./*-]*)`", prose(page)) if path.split("/")[0] in FOLDERS}
    assert [path for path in sorted(named) if not any(any(root.glob(path)) for root in (ROOT, PACKAGE))] == []


def test_modules_in_the_diagram_exist() -> None:
    diagram = re.findall(
        r"^```mermaid\n(.*?)^```", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    named = re.findall(r'"(\w+/[\w/.]+)"', "".join(diagram))
    assert named
    assert [path for path in named if not (PACKAGE / path).exists()] == []


def test_architecture_names_a_module_of_every_package() -> None:
    text = prose(ROOT / "ARCHITECTURE.md")
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert [name for name in sorted(packages) if f"`{name}/" not in text] == []


def test_index_links_to_every_page() -> None:
    linked = set(re.findall(r"\]\(([\w/-]+\.md)\)", (DOCS / "index.md").read_text("utf-8")))
    assert linked == {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - {"index.md"}
