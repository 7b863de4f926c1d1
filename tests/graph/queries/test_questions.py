"""Questions about the shop's lake: verdict, rows, and what is unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from colline import CollineError
from colline.graph import Lineage, open_lake
from colline.graph.difference_rows import EdgeChange
from colline.graph.inventory_rows import LayerFlow
from tests.graph.graph_lakes import LakeWriter, day, shop


def test_paths_list_each_step_and_count_the_other_paths(lineage: Lineage) -> None:
    answer = lineage.paths("bronze.orders.status", "kpi.revenue", indirect=True, k=1)
    assert answer.totals == {"paths": 2, "shown": 1, "exact": True} and answer.left_out == 1
    (path,) = answer.paths
    assert [c["label"] for c in path["columns"]] == [
        "bronze.orders.status",
        "silver.orders.amount",
        "gold.daily_revenue.total",
        "platinum.kpi.revenue",
    ]
    assert [(e["subtype"], e["level"]) for e in path["edges"]] == [
        ("FILTER", "dataset"),
        ("AGGREGATION", "column"),
        ("AGGREGATION", "column"),
    ]
    assert (path["relation"], path["masked"]) == ("indirect", False)


def test_paths_are_found_in_both_directions(lineage: Lineage) -> None:
    assert lineage.paths("kpi.revenue", "bronze.orders.amount").paths[0]["length"] == 3


def test_no_path_is_not_unknown(lineage: Lineage, tmp_path: Path) -> None:
    none = lineage.paths("bronze.orders.status", "kpi.revenue")
    assert none.verdict == "no path: bronze.orders.status and platinum.kpi.revenue are not connected"
    assert none.paths == [] and none.unknown == ()
    blind = shop()
    blind.gap("no_column_lineage", dataset="silver.orders", job="clean_orders", detail="3 runs")
    unknown = open_lake(blind.write(tmp_path / "lake")).paths("silver.orders.id", "kpi.revenue")
    assert unknown.verdict.startswith("unknown whether") and unknown.unknown[0]["what"] == "silver.orders"


def test_impact_by_kind_and_by_job(lineage: Lineage) -> None:
    answer = lineage.impact("silver.customers.region")
    assert [(c["label"], c["kinds"]) for c in answer.columns] == [
        ("gold.daily_revenue.region", ["value", "group_by"]),
        ("gold.daily_revenue.total", ["group_by"]),
        ("platinum.kpi.revenue", ["group_by"]),
    ]
    assert [(j["name"], j["distance"], j["breaks"]) for j in answer.jobs] == [
        ("daily_revenue", 1, True),
        ("kpi", 2, False),
    ]
    assert answer.totals["by_kind"] == {"value": 1, "group_by": 3}
    assert [r["job"]["name"] for r in answer.readers] == ["dashboard"]
    assert not answer.holds
    assert lineage.impact("silver.customers.nickname").verdict == (
        "dropping silver.customers.nickname affects nothing in 310 days of recorded reads"
    )
    assert lineage.impact("silver.customers.nickname").holds


OLD = "create table silver.customers (id string, email string, region string, nickname string);"


@pytest.mark.parametrize(
    ("diff", "changes"),
    [
        ([OLD, OLD.replace("email string, ", "")], [("email", "drop")]),
        ([OLD, OLD.replace("region string", "region int")], [("region", "type")]),
        (["alter table silver.customers rename column email to mail"], [("email", "rename")]),
        (["ALTER table silver.customers drop column email;\r\nalter table silver.customers alter column id type int"],
         [("email", "drop"), ("id", "type")]),
        (["create table silver.orders (id string, customer_id string)"], [("amount", "drop")]),
        ([f"--- a/s.sql\n+++ b/s.sql\n@@ -1 +1 @@\n-{OLD}\n+{OLD.replace('email', 'mail')}\n"], [("email", "drop")]),
    ],
)  # fmt: skip
def test_impact_of_a_schema_change(lineage: Lineage, diff: list[str], changes: list[tuple[str, str]]) -> None:
    answer = lineage.impact(diff=diff)
    assert [(row["column"], row["change"]) for row in answer.changes] == changes
    assert [c["field"] for c in answer.of] == [column for column, _ in changes]
    assert not answer.holds


def test_impact_of_a_dropped_table_and_of_an_unknown_table(lineage: Lineage) -> None:
    assert len(lineage.impact(diff=["drop table gold.contacts"]).of) == 2
    unknown = lineage.impact(diff=["alter table nowhere.at_all drop column x"])
    assert unknown.unknown[0]["what"] == "nowhere.at_all.x" and not unknown.holds
    with pytest.raises(CollineError, match="cannot be read"):
        lineage.impact(diff=["create tabel ((("])


def test_pii_lists_landings_exits_and_violations(lineage: Lineage) -> None:
    answer = lineage.pii("bronze.customers.email", allowed_zones=["silver", "gold.*"])
    landings = [(r["label"], r["verdict"], r["hop"], r["job"]["name"], r["violation"]) for r in answer.landings]
    assert landings == [
        ("exports.mailing.address", "clear", None, "mailing", True),
        ("silver.customers.email", "clear", None, "clean_customers", False),
        ("gold.contacts.email", "clear", None, "contacts", False),
        ("silver.customers.email_hash", "masked", 1, "clean_customers", False),
        ("gold.contacts.key", "masked", 1, "clean_customers", False),
    ]
    assert [(e["label"], e["kind"], e["clear"]) for e in answer.exits] == [("exports.mailing", "FILE", 1)]
    assert answer.violations == 1 and not answer.holds
    assert lineage.pii("bronze.customers.email").holds
    zoned = lineage.pii("bronze.customers.email", allowed_zones=["silver", "gold", "exports"])
    assert zoned.holds and zoned.verdict.endswith("0 violations of the allowed zones")


def test_pii_by_tag_by_influence_and_with_several_sources(lineage: Lineage) -> None:
    assert [c["label"] for c in lineage.pii(tag="pii").of] == ["bronze.customers.email"]
    answer = lineage.pii(tag="crm")
    assert {r["label"] for r in answer.landings if r["verdict"] == "indirect"} == {
        "gold.daily_revenue.total",
        "platinum.kpi.revenue",
    }
    assert all(r["sources"] == 1 for r in answer.landings)
    assert not [r for r in lineage.pii(tag="crm", indirect=False).landings if r["verdict"] == "indirect"]
    with pytest.raises(CollineError, match="no column is tagged 'secret'"):
        lineage.pii(tag="secret")
    with pytest.raises(CollineError, match="columns and a tag"):
        lineage.pii("bronze.customers.email", tag="PII")


def test_droppable_yes_no_and_unknown(tmp_path: Path) -> None:
    lake = shop()
    lake.dataset("exports.topic", kind="TOPIC")
    lake.column("exports.topic.value")
    lake.gap("no_column_lineage", dataset="gold.contacts", job="mailing", detail="run without columnLineage")
    lineage = open_lake(lake.write(tmp_path / "lake"))
    rows = lineage.droppable(
        ["silver.customers.nickname", "silver.customers.email", "daily_revenue.total", "contacts.key", "topic.value"]
    ).rows
    assert [(r["label"], r["verdict"]) for r in rows] == [
        ("silver.customers.nickname", "yes"),
        ("silver.customers.email", "no"),
        ("gold.daily_revenue.total", "no"),
        ("gold.contacts.key", "unknown"),
        ("exports.topic.value", "unknown"),
    ]
    assert [(r["job"]["name"], r["kind"], r["use"]) for r in rows[2]["readers"]] == [
        ("kpi", "write", "value"),
        ("dashboard", "query", "value"),
    ]
    assert [r["job"]["name"] for r in rows[1]["retired"]] == ["old_report"]
    assert rows[3]["gaps"][0]["what"] == "gold.contacts"
    idle = lineage.droppable("daily_revenue.total", idle_days=0).rows[0]
    assert [r["job"]["name"] for r in idle["readers"]] == ["kpi"]
    assert [r["job"]["name"] for r in idle["retired"]] == ["dashboard"]


def test_column_that_only_feeds_itself_is_not_read(tmp_path: Path) -> None:
    lake = LakeWriter()
    lake.edge("gold.t.counter", "gold.t.counter", "bump", "TRANSFORMATION")
    lineage = open_lake(lake.write(tmp_path / "lake"))
    assert lineage.droppable("counter").rows[0]["verdict"] == "yes"
    assert [r["label"] for r in lineage.unused().rows] == ["gold.t.counter"]


def test_unused_has_low_confidence_where_gaps_may_hide_readers(tmp_path: Path) -> None:
    lake = shop()
    lake.gap("unfinished_run", job="contacts")
    lineage = open_lake(lake.write(tmp_path / "lake"))
    rows = {r["label"]: (r["never"], r["confidence"]) for r in lineage.unused().rows}
    assert rows["silver.customers.nickname"] == (True, "low")  # contacts reads silver.customers
    assert rows["platinum.kpi.revenue"] == (True, "medium")  # ten days of history
    assert "gold.daily_revenue.total" not in rows
    assert [r["label"] for r in lineage.unused("gold.contacts").rows] == ["gold.contacts.key"]
    assert {r["layer"] for r in lineage.unused(layer="silver").rows} == {"silver"}


def test_writers_flag_conflicting_definitions(tmp_path: Path) -> None:
    lake = shop()
    lake.edge("silver.orders.amount", "gold.daily_revenue.total", "hotfix", "AGGREGATION", description="avg(amount)")
    answer = open_lake(lake.write(tmp_path / "lake")).writers("daily_revenue.total")
    assert [(r["job"]["name"], r["definition"], r["conflict"]) for r in answer.rows] == [
        ("daily_revenue", "sum(amount); total + old", True),
        ("hotfix", "avg(amount)", True),
    ]
    assert not answer.holds and "conflicting" in answer.verdict


def test_writers_at_a_time_in_the_past(lineage: Lineage) -> None:
    assert [r["job"]["name"] for r in lineage.writers("contacts.fax", as_of="2026-01-02").rows] == ["contacts"]
    nobody = lineage.writers("bronze.orders.id")
    assert nobody.rows == [] and nobody.verdict == "no known job writes it"


def test_compare_finds_where_two_columns_diverge(lineage: Lineage) -> None:
    answer = lineage.compare("contacts.email", "contacts.key")
    (divergence,) = answer.divergences
    assert divergence["column"]["label"] == "bronze.customers.email" and divergence["differs"]
    assert [e["description"] for e in divergence["a"] + divergence["b"]] == ["lower(email)", "sha2(email, 256)"]
    assert answer.totals == {"common": 1, "only_a": 1, "only_b": 1, "common_sources": 1}
    assert lineage.compare("contacts.email", "kpi.revenue").verdict.endswith("share no source")


def test_diff_of_two_times_two_jobs_and_two_lakes(lineage: Lineage, tmp_path: Path) -> None:
    times = lineage.diff("2026-01-02", "2026-01-08")
    assert [(r.kind, r.target.label if isinstance(r, EdgeChange) else r.label) for r in times.removed] == [
        ("column", "gold.contacts.fax"),
        ("edge", "gold.contacts.fax"),
        ("edge", "gold.daily_revenue.total"),
    ]
    assert times.added == times.changed == []
    only = lineage.diff("2026-01-02", "2026-01-08", dataset="gold.daily_revenue")
    assert [r["kind"] for r in only.removed] == ["edge"]
    jobs = lineage.diff(jobs=("contacts", "mailing"))
    assert (jobs.totals["added"], jobs.totals["removed"]) == (1, 2)
    other = shop()
    other.edge("silver.orders.id", "gold.daily_revenue.orders", "daily_revenue", "AGGREGATION", description="count(id)")
    place = next(n for n, edge in enumerate(other.edges) if edge["description"] == "sum(amount)")
    other.edges[place] = other.edges[place] | {"description": "sum(amount) / 2"}
    lakes = lineage.diff(other=other.write(tmp_path / "other"))
    assert [r["kind"] for r in lakes.added] == ["column", "edge"]
    assert [(r["before"]["description"], r["after"]["description"]) for r in lakes.changed] == [
        ("sum(amount)", "sum(amount) / 2")
    ]
    with pytest.raises(CollineError, match="before the first"):
        lineage.diff("2026-01-08", "2026-01-02")


def test_edge_that_was_retired_and_returned_has_not_changed(tmp_path: Path) -> None:
    lake = LakeWriter()
    lake.edge("a.t.x", "b.t.x", "copy", first_seen=day(0), retired_at=day(3))
    lake.edge("a.t.x", "b.t.x", "copy", first_seen=day(5))
    lineage = open_lake(lake.write(tmp_path / "lake"))
    assert lineage.diff(day(1), day(6)).verdict == "nothing changed"
    assert lineage.diff(day(1), day(4)).totals["removed"] == 1


def test_coverage_by_kind_job_layer_owner(tmp_path: Path) -> None:
    lake = shop()
    lake.gap("opaque_step", job="kpi", dataset="platinum.kpi", detail="mapInPandas(score)")
    lake.gap("unfinished_run", job="kpi", first_seen=day(3))
    lake.gap("unknown_source", job="contacts", resolved_at=day(4))
    lake.job("kpi", owner="finance")
    lineage = open_lake(lake.write(tmp_path / "lake"))
    answer = lineage.coverage()
    assert answer.by["kind"] == {"opaque_step": 1, "unfinished_run": 1}
    assert answer.by["owner"] == {"finance": 2}
    assert answer.by["layer"] == {"platinum": 1, "none": 1}
    assert [r["kind"] for r in lineage.coverage(as_of=day(2)).rows] == ["opaque_step", "unknown_source"]
    assert [r["kind"] for r in lineage.coverage(kind="opaque_step").rows] == ["opaque_step"]
    assert lineage.coverage(kind="opaque step").rows == lineage.coverage(kind="opaque_step").rows
    with pytest.raises(CollineError, match="'opaque' is not a kind of gap"):
        lineage.coverage(kind="opaque")
    assert "1 gap in coverage on the way" in lineage.upstream("kpi.revenue").verdict.replace("2 gaps", "1 gap")
    assert {u["why"] for u in lineage.upstream("kpi.revenue").unknown} == {
        "an opaque step by kpi: mapInPandas(score)",
        "a run without a final event",
    }


def test_nothing_and_unknown_are_different_verdicts(tmp_path: Path) -> None:
    lake = shop()
    lake.gap("no_column_lineage", dataset="bronze.orders")
    lineage = open_lake(lake.write(tmp_path / "lake"))
    assert lineage.upstream("bronze.orders.id").verdict == "unknown what feeds bronze.orders.id: lineage is missing"
    assert lineage.upstream("bronze.customers.id").verdict == "nothing feeds bronze.customers.id"


def test_upstream_and_downstream_by_table_and_by_job(lineage: Lineage) -> None:
    tables = lineage.upstream("kpi.revenue", grain="table", indirect=True)
    assert [(d["label"], d["distance"], d["relation"]) for d in tables.datasets] == [
        ("gold.daily_revenue", 1, "direct"),
        ("silver.customers", 2, "indirect"),
        ("silver.orders", 2, "direct"),
        ("bronze.customers", 3, "indirect"),
        ("bronze.orders", 3, "direct"),
    ]
    jobs = lineage.downstream("bronze.orders.amount", grain="job")
    assert [(j["name"], j["distance"]) for j in jobs.jobs] == [("clean_orders", 1), ("daily_revenue", 2), ("kpi", 3)]
    ids = {j["id"]: j["name"] for j in jobs.jobs}
    assert [(ids[e["from"]], ids[e["to"]]) for e in jobs.edges] == [
        ("clean_orders", "daily_revenue"),
        ("daily_revenue", "kpi"),
    ]


def test_columns_selects_roots_leaves_and_the_most_connected(lineage: Lineage) -> None:
    assert [r["label"] for r in lineage.columns("bronze.customers", roots=True).rows] == [
        "bronze.customers.email",
        "bronze.customers.id",
        "bronze.customers.region",
    ]
    assert "platinum.kpi.revenue" in [r["label"] for r in lineage.columns(leaves=True).rows]
    neighbours = [row["up"] + row["down"] for row in lineage.columns(top=9).rows]
    assert neighbours == sorted(neighbours, reverse=True) and neighbours[0] == 2


def test_overview_and_lists_of_the_web_page(lineage: Lineage) -> None:
    overview = lineage.overview()
    assert [(row["layer"], row["datasets"], row["columns"]) for row in overview.layers] == [
        ("bronze", 2, 7), ("silver", 2, 9), ("gold", 2, 4), ("platinum", 1, 1), (None, 1, 1),
    ]  # fmt: skip
    assert LayerFlow("silver", "gold", 4) in overview.flows
    assert overview.examples[0]["label"] == "bronze.customers.email" and len(overview.examples) == 3
    assert overview.recent[0]["change"] == "removed" and overview.recent[0]["when"] == "2026-01-06T00:00:00Z"
    assert overview.health["failed_jobs"] == 1


def test_runs_and_quarantine_are_read_from_their_tables(tmp_path: Path) -> None:
    writer = shop()
    writer.runs.clear()
    lake = writer.write(tmp_path / "lake")
    lineage = open_lake(lake)
    assert lineage.runs().rows == [] and lineage.quarantine().rows == []
    runs = [
        {"run_id": f"r{n}", "job_namespace": "shop", "job_name": "kpi" if n % 2 else "contacts",
         "state": "FAIL" if n == 3 else "COMPLETE", "started_at": day(n), "ended_at": day(n + 0.1)}
        for n in range(5)
    ]  # fmt: skip
    write_deltalake(str(lake / "silver/runs"), pa.Table.from_pylist(runs))
    lines = [{"reason": "not JSON", "line": "{", "file": "x.ndjson", "position": n} for n in range(3)]
    write_deltalake(str(lake / "bronze/quarantine"), pa.Table.from_pylist(lines))
    newest = lineage.runs(limit=2)
    assert [r["run_id"] for r in newest.rows] == ["r4", "r3"] and newest.left_out == 3
    assert [r["run_id"] for r in lineage.runs(job="kpi", state="FAIL").rows] == ["r3"]
    assert [r["run_id"] for r in lineage.runs(since=day(3)).rows] == ["r4", "r3"]
    assert lineage.quarantine(reason="not JSON", limit=1).rows[0]["line"] == "{"
    assert lineage.overview().health["quarantined"] == 3


def every_answer(lineage: Lineage) -> list[Any]:
    one = "kpi.revenue"
    return [
        lineage.find("email"), lineage.upstream(one, indirect=True), lineage.downstream("bronze.orders.amount"),
        lineage.upstream(one, grain="table"), lineage.upstream(one, grain="job"),
        lineage.paths("bronze.orders.amount", one), lineage.impact("silver.customers.id"), lineage.pii(tag="PII"),
        lineage.droppable("silver.customers.*"), lineage.unused(), lineage.writers("daily_revenue.total"),
        lineage.compare("contacts.email", "contacts.key"), lineage.diff("2026-01-02", "2026-01-08"), lineage.coverage(),
        lineage.columns(roots=True), lineage.columns(leaves=True), lineage.columns(top=3), lineage.overview(),
        lineage.show("gold.contacts"), lineage.show("daily_revenue", kind="job"),
        lineage.jobs(), lineage.tables(), lineage.runs(), lineage.quarantine(),
    ]  # fmt: skip


def test_every_answer_is_frozen_and_converts_to_text_json_and_frames(lineage: Lineage) -> None:
    for answer in every_answer(lineage):
        plain = json.loads(json.dumps(answer.to_dict()))
        assert plain["question"] == answer.question and plain["verdict"] == answer.verdict
        assert {"of", "as_of", "totals", "unknown", "left_out", "cursor"} <= plain.keys()
        assert str(answer).startswith(answer.verdict)
        assert len(answer.to_pandas()) == answer.to_arrow().num_rows == len(answer.main_rows)
        assert "<table>" in answer._repr_html_()
        with pytest.raises(AttributeError):
            answer.verdict = "yes"
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
            _ = answer.nonsense
