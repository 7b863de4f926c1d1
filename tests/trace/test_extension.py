"""Rules of other packages: found by entry point, and isolated when they fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.trace.plans import PlanWriter

PACKAGE = Path(__file__).parent / "extension_package"

PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from colline.capture.analyze import tracing_context
from colline.naming.dataset import NameContext
from colline.plan import decode
from colline.trace import lineage
found = lineage(decode(json.load(sys.stdin)), tracing_context(NameContext()))
print(json.dumps({"facet": found.facet(), "opaque": [[s.node, s.why] for s in found.opaque]}))
"""


def run(writer: PlanWriter, root: int) -> tuple[dict, str]:
    import json

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(PACKAGE)],
        input=json.dumps(writer.plan(root)),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout), done.stderr


def test_package_adds_a_scan_a_dataset_name_and_a_masking_function() -> None:
    writer = PlanWriter()
    key = writer.attribute("embedding")
    scan = writer.node("VectorScan", index="people", output=[key])
    token, _ = writer.alias(writer.node("Udf", "e", "vector_token", children=[key]), "token")
    found, _ = run(writer, writer.node("Project", projectList=[token], child=scan))
    [entry] = found["facet"]["fields"]["token"]["inputFields"]
    assert (entry["namespace"], entry["name"], entry["field"]) == ("vectors://store", "people", "embedding")
    assert entry["transformations"][0]["masking"] is True
    assert found["opaque"] == []


def test_rule_that_raises_makes_only_its_step_opaque() -> None:
    writer = PlanWriter()
    a, x = writer.attribute("a"), writer.attribute("x")
    plan = writer.node("VectorBroken", child=writer.files("/data/t", [a]), output=[x])
    found, _ = run(writer, plan)
    assert [e["field"] for e in found["facet"]["fields"]["x"]["inputFields"]] == ["a"]
    assert found["opaque"] == [["VectorBroken", "the rule for VectorBroken failed: not today"]]


def test_entry_point_that_cannot_be_loaded_is_reported_and_skipped() -> None:
    writer = PlanWriter()
    a = writer.attribute("a")
    found, log = run(writer, writer.files("/data/t", [a]))
    assert list(found["facet"]["fields"]) == ["a"]
    assert "cannot register the rules of `absent`" in log
    assert "hint:" in log


def test_operator_without_a_rule_is_an_opaque_step() -> None:
    writer = PlanWriter()
    a, b, x = writer.attribute("a"), writer.attribute("b"), writer.attribute("x")
    plan = writer.node("SomethingNew", child=writer.files("/data/t", [a, b]), output=[x])
    found, _ = run(writer, plan)
    assert [e["field"] for e in found["facet"]["fields"]["x"]["inputFields"]] == ["a", "b"]
    assert found["opaque"] == [["SomethingNew", "no rule for SomethingNew"]]
