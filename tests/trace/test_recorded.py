"""Every case on its recorded plan: no JVM, milliseconds."""

from __future__ import annotations

import pytest

from colline.plan import decode
from colline.trace import ColumnLineage, lineage
from tests.trace.cases import Case, all_cases, check_case
from tests.trace.recorded import CONTEXT, recorded_plan

# the masking of a Python function is read from the function itself, which a recording does not contain
CASES = [case for case in all_cases() if case.topic != "masked_udfs"]


@pytest.mark.parametrize("case", CASES, ids=[case.key for case in CASES])
def test_lineage_of_a_recorded_plan(case: Case) -> None:
    plan = recorded_plan(case)
    assert plan is not None, f"no plan is recorded on Spark {case.recorded_on}: run `make record`"
    check_case(case, decode(plan), CONTEXT)


def _lineage_of_case(name: str) -> ColumnLineage:
    [case] = [case for case in CASES if case.name == name]
    plan = recorded_plan(case)
    assert plan is not None
    return lineage(decode(plan), CONTEXT)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("count masks, count of rows has no input", {"n": "count(*)", "o": "count(*)"}),
        # not the seed of rand() and no literal: they may differ in each run of the same job
        ("literals, clocks and random numbers have no input",
         {"u": "uuid()", "now": "current_timestamp()", "n": "monotonically_increasing_id()"}),
        ("a literal in one branch adds nothing", {}),
        ("rollup keeps its columns identity and grouping_id has no input", {}),
        ("insert of values comes from local data", {}),
    ],
)  # fmt: skip
def test_values_of_columns_without_inputs(case: str, expected: dict[str, str]) -> None:
    assert _lineage_of_case(case).values == expected


def test_value_without_inputs_is_described_in_the_facet() -> None:
    found = _lineage_of_case("count masks, count of rows has no input")
    fields = found.facet()["fields"]
    assert fields["n"] == {"inputFields": [], "transformationDescription": "count(*)"}
    assert "transformationDescription" not in fields["c"]
