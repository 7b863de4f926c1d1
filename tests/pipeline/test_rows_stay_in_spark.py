"""Rows are Spark's: nothing between a landed line and gold brings them to the driver or into Python."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import colline.pipeline

ROOM = Path(colline.pipeline.__file__).parent
# what a user is shown in the end, or upkeep; no step of an ingest or a rebuild
BESIDE = {"__init__", "eventlog", "lock", "maintain", "quarantine", "reconcile", "session"}
STEPS = sorted(path.stem for path in ROOM.glob("*.py") if path.stem not in BESIDE)
TO_PYTHON = {
    "applyInPandas",
    "collect",
    "createDataFrame",
    "foreach",
    "foreachPartition",
    "mapInArrow",
    "mapInPandas",
    "pandas_udf",
    "rdd",
    "take",
    "tail",
    "toArrow",
    "toLocalIterator",
    "toPandas",
    "udf",
}


def _names(source: str) -> set[str]:
    """Every attribute and name that a module uses."""
    nodes = list(ast.walk(ast.parse(source)))
    used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return used | {node.id for node in nodes if isinstance(node, ast.Name)}


def test_every_step_is_looked_at() -> None:
    assert {"batch", "parse", "work", "dimensions", "history", "gold", "ingest", "rebuild"} <= set(STEPS)
    assert _names("rows.select('x').collect()") & TO_PYTHON == {"collect"}


@pytest.mark.parametrize("step", STEPS)
def test_a_step_takes_no_rows_out_of_spark(step: str) -> None:
    assert _names((ROOM / f"{step}.py").read_text()) & TO_PYTHON == set()
