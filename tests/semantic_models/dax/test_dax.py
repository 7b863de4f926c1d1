"""The lineage of DAX expressions, and what happens to text that is not DAX."""

from __future__ import annotations

import pytest

from tests.semantic_models.dax.dax_cases import DaxCase, dax_cases


@pytest.mark.parametrize("case", dax_cases(), ids=lambda case: case.key)
def test_case(case: DaxCase) -> None:
    assert case.lines() == case.expected
