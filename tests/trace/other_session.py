"""Checks the cases that need a session of another kind: `python -m tests.trace.other_session hive`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from colline.capture.analyze import application_context
from colline.plan import decode
from tests.sessions import session
from tests.trace.cases import Case, all_cases, check_case
from tests.trace.live import missing_requirement, opened_case, raw_plan


def is_of_kind(case: Case, kind: str) -> bool:
    """Whether a case needs a `plain` or a `hive` session."""
    return case.needs_hive if kind == "hive" else case.needs_plain_session


def main(kind: str) -> int:
    """The number of cases that failed; each is printed with what differs."""
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        spark = session(Path(folder), plain=True, hive=kind == "hive")
        cases = [case for case in all_cases() if is_of_kind(case, kind) and not missing_requirement(case, spark)]
        for case in cases:
            try:
                with opened_case(case, spark) as query:
                    check_case(case, decode(raw_plan(query, spark)), application_context(spark))
            except Exception as error:  # noqa: BLE001  the other cases are checked too
                failures += 1
                print(f"{case.key}: {error!r}")
        spark.stop()
    print(f"{len(cases)} cases, {failures} failed")
    return failures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
