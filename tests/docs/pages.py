"""The pages that the tests of the documentation read."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PACKAGE = ROOT / "src" / "colline"
USER_PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
DEVELOPER_PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"]
DECISIONS = sorted((ROOT / "decisions").glob("*.md"))


def page_id(page: Path) -> str:
    """The path of a page as the name of a test case."""
    return page.relative_to(ROOT).as_posix()
