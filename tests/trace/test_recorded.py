"""Every case on its recorded plan: no JVM, milliseconds."""

from __future__ import annotations

import pytest

from colline.naming.dataset import NameContext
from colline.naming.rules import identify
from colline.plan import decode
from colline.trace import Context
from tests.trace.cases import Case, all_cases, check
from tests.trace.recorded import load

CASES = [case for case in all_cases() if case.topic != "masked_udfs"]
CONTEXT = Context(lambda source: identify(source, NameContext()).name)


@pytest.mark.parametrize("case", CASES, ids=[case.key for case in CASES])
def test_lineage_of_a_recorded_plan(case: Case) -> None:
    plan = load(case)
    assert plan is not None, "record it: make record"
    check(case, decode(plan), CONTEXT)
