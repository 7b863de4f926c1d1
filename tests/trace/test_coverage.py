"""The coverage page says what the cases exercise now."""

from __future__ import annotations

from tests.trace.coverage import PAGE, exercises, page


def test_the_coverage_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(exercises()), "write it anew: make coverage-page"
