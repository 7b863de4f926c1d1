"""Every case on its recorded plan: no JVM, milliseconds."""

from __future__ import annotations

import pytest

from colline.plan import decode
from colline.trace import lineage
from tests.trace.cases import Case, all_cases, check_case
from tests.trace.recorded import CONTEXT, recorded_plan

# the masking of a Python function is read from the function itself, which a recording does not contain
CASES = [case for case in all_cases() if case.topic != "masked_udfs"]


@pytest.mark.parametrize("case", CASES, ids=[case.key for case in CASES])
def test_lineage_of_a_recorded_plan(case: Case) -> None:
    plan = recorded_plan(case)
    assert plan is not None, f"no plan is recorded on Spark {case.recorded_on}: run `make record`"
    check_case(case, decode(plan), CONTEXT)


def test_count_of_rows_is_described_in_the_facet() -> None:
    [case] = [case for case in CASES if case.name == "count masks, count of rows has no input"]
    plan = recorded_plan(case)
    assert plan is not None
    found = lineage(decode(plan), CONTEXT)
    assert found.row_counts == {"n", "o"}
    fields = found.facet()["fields"]
    assert fields["n"] == {"inputFields": [], "transformationDescription": "count(*)"}
    assert "transformationDescription" not in fields["c"]
