"""No step between a landed line and gold brings rows to the driver or into Python."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import colline.pipeline

# what is shown to users, and upkeep; they are not steps of an ingest or a rebuild
UPKEEP = {"__init__", "maintain", "quarantine", "reconcile", "spark_history"}
# hands plans of Connect clients, one at a time, to the program that analyzes them
NOT_STEPS = UPKEEP | {"plan_resolution"}
MODULES = Path(colline.pipeline.__file__).parent.rglob("*.py")
STEPS = {path.stem: path for path in sorted(MODULES) if path.stem not in NOT_STEPS}
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
    used = {node.attr for node in nodes if isinstance(node, ast.Attribute) and ast.unparse(node) != "gc.collect"}
    return used | {node.id for node in nodes if isinstance(node, ast.Name)}


def test_every_step_is_checked() -> None:
    assert {"batch", "event_parsing", "payloads", "dimensions", "versions", "ingest", "rebuild"} <= STEPS.keys()
    assert _names("rows.select('x').collect()") & TO_PYTHON == {"collect"}


@pytest.mark.parametrize("step", list(STEPS))
def test_a_step_takes_no_rows_out_of_spark(step: str) -> None:
    assert _names(STEPS[step].read_text()) & TO_PYTHON == set()
