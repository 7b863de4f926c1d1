"""Every rule has a case, and the coverage page is up to date."""

from __future__ import annotations

import pytest

from tests.trace.coverage import PAGE, REGISTRIES, CaseRules, page, product_rules, rules_of_cases


@pytest.fixture(scope="module")
def cases() -> list[CaseRules]:
    return rules_of_cases()


@pytest.mark.parametrize("title", REGISTRIES)
def test_every_rule_has_a_case(title: str, cases: list[CaseRules]) -> None:
    registry = REGISTRIES[title]
    applied = {rule for each in cases for rule in each.rules}
    assert [kind for kind in product_rules(registry) if f"{registry.category} {kind}" not in applied] == []


def test_coverage_page_is_up_to_date(cases: list[CaseRules]) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(cases), "out of date: run `make coverage-page`"
