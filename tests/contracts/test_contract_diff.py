"""Diff: which changes of a contract break readers, and what they touch."""

from __future__ import annotations

import json
from pathlib import Path

from colline.contracts.contract_diff import contract_changes
from colline.contracts.contract_document import parse_contract
from colline.contracts.logical_types import is_wider
from colline.contracts.table_facts import FactsReader

from .test_contract_export import new_export, run


def test_a_contract_equals_itself(reader: FactsReader) -> None:
    text = new_export(reader).text()
    assert contract_changes(parse_contract(text, "a"), parse_contract(text, "b")) == []


def test_changes_are_sorted_into_breaking_and_compatible(reader: FactsReader) -> None:
    text = new_export(reader).text()
    new = parse_contract(text, "b")
    table = new.tables()[0]
    table["properties"] = [each for each in table["properties"] if each["name"] != "region"]
    table["properties"][0].update({"physicalType": "double", "classification": "restricted"})
    table["properties"].append({"name": "profit", "physicalType": "double"})
    found = [(each.kind, each.column, each.breaking) for each in contract_changes(parse_contract(text, "a"), new)]
    assert found == [
        ("column-removed", "region", True),
        ("type-changed", "total", True),
        ("column-added", "profit", False),
        ("classification-changed", "total", False),
    ]


def test_another_derivation_and_a_lost_promise_break_readers(reader: FactsReader) -> None:
    text = new_export(reader).text()
    old = parse_contract(text, "a")
    promise = {"property": "lineagePromises", "value": [{"freshWithin": "1d"}]}
    old.tables()[0]["customProperties"].append(promise)
    new = parse_contract(text.replace("sum(amount)", "avg(amount)"), "b")
    found = [(each.kind, each.breaking, each.message) for each in contract_changes(old, new)]
    assert found == [
        ("promise-removed", True, "no longer promised: freshWithin: 1d"),
        (
            "derivation-changed",
            True,
            "total is derived differently: silver.orders.amount (sum(amount)) → silver.orders.amount (avg(amount))",
        ),
    ]


def test_wider_types_are_compatible() -> None:
    assert is_wider("int", "bigint")
    assert is_wider("float", "double")
    assert not is_wider("bigint", "int")
    assert not is_wider("string", "int")


def test_the_command_lists_what_a_change_touches(shop_lake: Path, tmp_path: Path) -> None:
    run("export", "silver.orders", "-o", tmp_path, "--lake", shop_lake)
    old = tmp_path / "silver.orders.odcs.yaml"
    new = tmp_path / "new.yaml"
    document = parse_contract(old.read_text(), "old")
    table = document.tables()[0]
    table["properties"] = [each for each in table["properties"] if each["name"] != "amount"]
    new.write_text(document.text())
    code, output = run("diff", old, new, "--lake", shop_lake, "--json")
    assert code == 1
    removed = next(each for each in json.loads(output) if each["kind"] == "column-removed")
    assert removed["columns"] == ["gold.daily_revenue.total", "platinum.kpi.revenue"]
    assert removed["jobs"] == ["daily_revenue", "kpi"]
    assert run("diff", old, old)[1] == "no changes\n"
