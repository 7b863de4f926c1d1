"""The JSON of plans: what the decoder refuses."""

from __future__ import annotations

import pytest

from colline.errors import PlanError
from colline.plan import decode


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"root": 0, "classes": [], "nodes": []},
        {"root": 0, "classes": [["Filter", "x", [], None]], "nodes": [[0]]},
        {"root": 0, "classes": [["Filter", "p", ["a"], None]], "nodes": [[0]]},
        {"root": 0, "classes": [["Filter", "p", ["a"], None]], "nodes": [[0, 1.5]]},
        {"root": 0, "classes": [["Filter", "p", ["a"], None]], "nodes": [[0, 7]]},
    ],
)
def test_invalid_plan_is_rejected_with_a_hint(data: dict[str, object]) -> None:
    with pytest.raises(PlanError) as caught:
        decode(data)
    assert caught.value.hint
