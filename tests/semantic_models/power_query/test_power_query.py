"""The lineage of M expressions: sources, table steps, and what happens to text that is not M."""

from __future__ import annotations

import pytest

from tests.semantic_models.power_query.m_cases import MCase, m_cases


@pytest.mark.parametrize("case", m_cases(), ids=lambda case: case.key)
def test_case(case: MCase) -> None:
    assert case.lines() == case.expected
