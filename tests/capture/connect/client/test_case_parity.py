"""The lineage cases over Spark Connect: the lineage of a classic session, except for the differences listed here.

`make test` runs a third of the cases, `make test-matrix SUITES=connect` all of them: with clients of several versions,
on the default Spark's server and resolver.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING
from zlib import crc32

import pyspark
import pytest

from colline.capture.connect.resolver.resolver_client import ResolverProcess
from tests.capture.connect.client.connect_cases import NOT_IN_CONNECT, ConnectCases
from tests.trace.cases import Case, all_cases, check_case, lineage_lines
from tests.trace.live import missing_requirement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FEWER, MORE, NAME = "fewer lines", "more lines", "another name of the target"
UNRESOLVED, REFUSED = "not resolved", "refused by the server"
# key of a case → what comes over Connect, and why
DIFFERENCES = {
    "changes: merge with update and insert": (FEWER, "a column that no clause sets is not listed; only Delta adds it"),
    "changes: merge with conditions on its clauses": (FEWER, "the same: only Delta adds columns that a clause omits"),
    "changes: merge sets a struct member": (FEWER, "only Delta rebuilds the struct from its other members"),
    "changes: update of a struct member": (FEWER, "only Delta rebuilds the struct from its other members"),
    "changes: merge that evolves the schema": (UNRESOLVED, "only Delta adds columns to its target"),
    "programs: a JVM function of a primitive value transforms its argument": (
        MORE,
        "a model on the server is an opaque step",
    ),
    "writes: insert into a delta table by name": (MORE, "a column that the statement omits is listed, without inputs"),
    "streams: transformWithState with an event time column": (UNRESOLVED, "a stream is analyzed as a batch"),
    "dataframes: a join with a list of names": (REFUSED, "a column of the other DataFrame is not visible in Connect"),
    "definitions: rename a table": (NAME, "the new location of a managed table is not known to the client"),
    "writes: insert into a JDBC table": (NAME, "DESCRIBE does not show which table of the database it is"),
}
# cases that a client of Spark 3.5 cannot build
NOT_IN_OLD_CLIENTS = {
    "programs: a JVM function of a primitive value transforms its argument": "models need a client of Spark 4.0",
    "dataframes: the default index of the pandas API has no input": "the pandas API of Spark 3.5 needs NumPy 1",
    "masked_udfs: pandas API on Spark: a function that hashes masks": "the pandas API of Spark 3.5 needs NumPy 1",
}
RUNS_ALL = bool(os.environ.get("COLLINE_MATRIX"))
POSSIBLE = [case for case in all_cases() if not any(word in case.code for word in NOT_IN_CONNECT)]
CASES = [case for case in POSSIBLE if RUNS_ALL or case.key in DIFFERENCES or crc32(case.key.encode()) % 3 == 0]


@pytest.fixture(scope="module")
def connect_cases(server_address: str, resolver: ResolverProcess) -> Iterator[ConnectCases]:
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    session = ConnectSession.builder.remote(server_address).create()
    _drop_tables(session)
    yield ConnectCases(session, resolver)
    _drop_tables(session)
    session.client.close()


def _drop_tables(session: SparkSession) -> None:
    """The other tests of this server have tables with these names."""
    for name in ("orders", "customers"):
        session.sql(f"drop table if exists {name}")


@pytest.mark.parametrize("case", CASES, ids=[case.key for case in CASES])
def test_lineage_over_connect(case: Case, connect_cases: ConnectCases) -> None:
    if reason := missing_requirement(case, connect_cases.spark):
        pytest.skip(reason)
    if case.is_python and not case.runs_on(pyspark.__version__):
        pytest.skip("the client of this version does not have the API of the case")
    if pyspark.__version__.startswith("3.") and case.key in NOT_IN_OLD_CLIENTS:
        pytest.skip(NOT_IN_OLD_CLIENTS[case.key])
    kind, _ = DIFFERENCES.get(case.key, ("", ""))
    if kind == REFUSED:
        with pytest.raises(_spark_error()):
            connect_cases.plan_of(case)
    elif kind == UNRESOLVED:
        with pytest.raises(AssertionError, match="plan not resolved"):
            connect_cases.plan_of(case)
    else:
        _check(case, connect_cases, kind)


def _check(case: Case, cases: ConnectCases, kind: str) -> None:
    plan = cases.plan_of(case)
    if not kind:
        check_case(case, plan, cases.context)
        return
    found, expected = set(lineage_lines(case, plan, cases.context)), set(case.expected)
    if kind == NAME:
        assert {line for line in found ^ expected if not line.startswith("output: ")} == set()
    else:
        assert found < expected if kind == FEWER else expected < found
    assert found != expected


def _spark_error() -> type[Exception]:
    from pyspark.errors import PySparkException

    return PySparkException


def test_every_difference_is_a_case() -> None:
    assert DIFFERENCES.keys() | NOT_IN_OLD_CLIENTS.keys() <= {case.key for case in all_cases()}
