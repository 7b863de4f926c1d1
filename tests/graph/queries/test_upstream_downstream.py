"""Upstream and downstream on the shop's lake, read from real Delta tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from colline import CollineError
from colline.errors import ColumnError
from colline.graph import Answer, Lineage, open_lake
from tests.graph.graph_lakes import LakeWriter, day


def reached_columns(answer: Answer) -> list[tuple[str, int, str, bool]]:
    return [(c["label"], c["distance"], c["relation"], c["masked"]) for c in answer.columns]


def test_upstream_lists_nearest_columns_first(lineage: Lineage) -> None:
    answer = lineage.upstream("kpi.revenue")
    assert reached_columns(answer) == [
        ("gold.daily_revenue.total", 1, "direct", False),
        ("silver.orders.amount", 2, "direct", False),
        ("bronze.orders.amount", 3, "direct", False),
    ]
    assert answer.totals == {"columns": 3, "datasets": 3, "jobs": 3, "depth": 3, "hops": 3}
    assert answer.verdict == "3 columns in 3 datasets feed platinum.kpi.revenue; 1 job failed"


def test_indirect_inputs_come_after_direct_ones_of_the_same_hop(lineage: Lineage) -> None:
    answer = lineage.upstream("kpi.revenue", indirect=True, depth=2)
    assert reached_columns(answer) == [
        ("gold.daily_revenue.total", 1, "direct", False),
        ("silver.orders.amount", 2, "direct", False),
        ("silver.customers.id", 2, "indirect", False),
        ("silver.customers.region", 2, "indirect", False),
        ("silver.orders.customer_id", 2, "indirect", False),
    ]


def test_input_of_a_datasets_rows_is_an_indirect_edge_to_each_column(lineage: Lineage) -> None:
    answer = lineage.downstream("bronze.orders.status", indirect=True, depth=1)
    names = {c["id"]: c["field"] for c in answer.columns}
    edges = [(names[e["to"]], e["type"], e["subtype"], e["level"]) for e in answer.edges]
    assert sorted(edges) == [(f, "INDIRECT", "FILTER", "dataset") for f in ("amount", "customer_id", "id")]
    assert not lineage.downstream("bronze.orders.status").columns


def test_column_is_masked_if_every_path_masks(lineage: Lineage) -> None:
    answer = lineage.downstream("bronze.customers.email")
    assert reached_columns(answer) == [
        ("silver.customers.email", 1, "direct", False),
        ("silver.customers.email_hash", 1, "direct", True),
        ("gold.contacts.email", 2, "direct", False),
        ("gold.contacts.key", 2, "direct", True),
        ("exports.mailing.address", 3, "direct", False),
    ]


def test_every_edge_connects_columns_of_the_answer(lineage: Lineage) -> None:
    answer = lineage.upstream("kpi.revenue", indirect=True).to_dict()
    ids = {c["id"] for c in answer["columns"] + answer["of"]}
    assert answer["edges"] and all(e["from"] in ids and e["to"] in ids for e in answer["edges"])


def test_pages_add_up_to_the_whole(lineage: Lineage) -> None:
    whole = lineage.upstream("kpi.revenue", indirect=True)
    columns, edges, cursor = [], [], None
    for _ in range(20):
        page = lineage.upstream("kpi.revenue", indirect=True, limit=3, cursor=cursor)
        columns += page.columns
        edges += page.edges
        cursor = page.cursor
        if cursor is None:
            break
        assert page.left_out == len(whole.columns) - len(columns)
    assert columns == whole.columns

    def key(edge: dict[str, Any]) -> tuple[Any, ...]:
        return (edge["from"], edge["to"], edge["subtype"], edge["description"])

    assert sorted(map(key, edges)) == sorted(map(key, whole.edges))


def test_as_of_includes_retired_edges_and_removed_columns(lineage: Lineage) -> None:
    then = lineage.upstream("daily_revenue.total", depth=1, as_of="2026-01-03")
    assert {e["description"] for e in then.edges} == {"sum(amount)", "sum(amount * 2)", "total + old"}
    now = lineage.upstream("daily_revenue.total", depth=1)
    assert {e["description"] for e in now.edges} == {"sum(amount)", "total + old"}
    assert reached_columns(lineage.upstream("contacts.fax", as_of="2026-01-03")) == [
        ("silver.customers.fax", 1, "direct", False)
    ]
    with pytest.raises(ColumnError, match="was removed at 2026-01-05") as error:
        lineage.upstream("contacts.fax")
    assert "--as-of 2026-01-04" in str(error.value.hint)


def test_time_before_the_first_event_is_an_error(lineage: Lineage) -> None:
    with pytest.raises(CollineError, match="no lineage recorded before 2020") as error:
        lineage.upstream("kpi.revenue", as_of="2020-01-01")
    assert error.value.hint == "the first event was recorded at 2025-03-07T00:00:00Z"


def test_flagged_jobs_come_first(lineage: Lineage) -> None:
    answer = lineage.upstream("kpi.revenue", since="2026-01-05")
    assert [(j["name"], j["flags"]) for j in answer.jobs] == [
        ("daily_revenue", ["changed"]),
        ("kpi", ["failed"]),
        ("clean_orders", []),
    ]
    stale = lineage.upstream("kpi.revenue", since="2026-01-09T12:00:00Z")
    assert next((j["name"], j["flags"]) for j in stale.jobs) == ("kpi", ["failed", "stale"])


def test_json_keeps_every_character_of_a_name(tmp_path: Path) -> None:
    hostile = '"</script>\\\b\f\n\t\x00\x1f\x7f\u2028 é 漢 😀 \u202e{}%s'
    lake = LakeWriter()
    lake.dataset("a.one", namespace=hostile, name=f"/{hostile}", tags=[hostile, "b"], layer=hostile)
    lake.column(f"a.one:{hostile}", type=hostile, tags=["own", hostile])
    lake.job(hostile, namespace=hostile, last_state=hostile, last_run=None)
    for number, target in enumerate((f"b.two:{hostile}", "b.two.plain", "b.two.*")):
        how = "FILTER" if target.endswith("*") else "TRANSFORMATION"
        facts: dict[str, Any] = {"description": hostile, "masking": number == 1, "last_run": None}
        lake.edge(f"a.one:{hostile}", target, hostile, how, **facts)
        lake.edge(f"a.one:{hostile}", target, hostile, how, **facts, first_seen=day(1), retired_at=day(5))
    with open_lake(lake.write(tmp_path / "lake")) as lineage:
        origin = msgspec.json.encode([hostile, f"/{hostile}", hostile]).decode()
        for how in ({}, {"indirect": True}, {"indirect": True, "as_of": day(2)}, {"limit": 1}):
            answer = lineage.downstream(origin, **how)
            assert json.loads(answer.to_json()) == answer.to_dict()
            assert answer.columns[0]["distance"] == 1 and answer.edges[0]["description"] == hostile
