"""Check: what is found when a lake and a contract differ, and how it is reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from colline.contracts.contract_check import check_contract
from colline.contracts.contract_document import ContractDocument, parse_contract
from colline.contracts.finding_reports import to_junit, to_markdown, to_sarif, to_text
from colline.contracts.findings import CODES, ContractReport, Finding, Severity
from colline.contracts.table_facts import FactsReader
from colline.contracts.value_paths import read_value_paths
from colline.errors import ContractError
from colline.graph import open_lake
from tests.graph.graph_lakes import day, shop

from .conftest import publish_lake
from .test_contract_export import column, new_export, run

NOW = day(10.5)


def findings(document: ContractDocument, reader: FactsReader, now: datetime = NOW) -> list[Finding]:
    return list(check_contract(parse_contract(document.text(), "c.yaml"), reader, now).findings)


def codes(document: ContractDocument, reader: FactsReader, now: datetime = NOW) -> list[str]:
    return [finding.code for finding in findings(document, reader, now)]


def with_promises(document: ContractDocument, *promises: Any, name: str | None = None) -> ContractDocument:
    owner = document.tables()[0] if name is None else column(document, name)
    owner.setdefault("customProperties", []).append({"property": "lineagePromises", "value": list(promises)})
    return document


@pytest.mark.parametrize("table", ["gold.daily_revenue", "silver.customers", "bronze.orders", "exports.mailing"])
def test_a_fresh_contract_holds(reader: FactsReader, table: str) -> None:
    assert findings(new_export(reader, table), reader) == []


def change_type(table: Any) -> None:
    table["properties"][0]["physicalType"] = "double"


def remove_column(table: Any) -> None:
    del table["properties"][0]


def add_column(table: Any) -> None:
    table["properties"].append({"name": "tax", "physicalType": "double"})


def edges_of(table: Any) -> Any:
    return next(each for each in table["customProperties"] if each["property"] == "lineageEdges")["value"]


def forget_source(table: Any) -> None:
    edges_of(table).pop()


def invent_source(table: Any) -> None:
    edges_of(table).append({"column": "total", "source": "silver.tax.rate", "effect": "direct/identity"})


def change_expression(table: Any) -> None:
    next(each for each in edges_of(table) if each.get("expression") == "sum(amount)")["expression"] = "avg(amount)"


def invent_consumer(table: Any) -> None:
    consumers = next(each for each in table["customProperties"] if each["property"] == "lineageConsumers")["value"]
    consumers.append({"job": "old_report", "tables": ["gold.report"]})


def change_answer(table: Any) -> None:
    table["context"]["verifiedStatements"][0]["answer"] = "nobody."


@pytest.mark.parametrize(
    ("change", "code", "severity"),
    [
        (change_type, "type-changed", "error"),
        (remove_column, "column-added", "warning"),
        (add_column, "column-missing", "error"),
        (forget_source, "source-added", "warning"),
        (invent_source, "source-gone", "error"),
        (change_expression, "derivation-changed", "warning"),
        (invent_consumer, "consumer-lost", "warning"),
        (change_answer, "statement-outdated", "warning"),
    ],
)
def test_each_difference_is_found(reader: FactsReader, change: Callable[[Any], None], code: str, severity: str) -> None:
    document = new_export(reader)
    change(document.tables()[0])
    found = findings(document, reader)
    assert [(each.code, each.severity.label) for each in found] == [(code, severity)]
    assert found[0].hint


def test_a_table_that_is_gone_is_an_error(reader: FactsReader) -> None:
    document = new_export(reader)
    text = document.text().replace("/lake/gold/daily_revenue", "/lake/gone").replace("gold.daily_revenue", "gold.gone")
    assert codes(parse_contract(text, "c.yaml"), reader) == ["table-missing"]


def test_new_personal_data_in_clear_is_an_error_with_its_path(reader: FactsReader) -> None:
    document = new_export(reader, "gold.contacts")
    del column(document, "email")["classification"]
    found = findings(document, reader)
    assert [(each.code, each.path) for each in found] == [
        ("personal-data-in-clear", ("bronze.customers.email", "silver.customers.email", "gold.contacts.email"))
    ]


@pytest.mark.parametrize(
    ("table", "name", "promise"),
    [
        ("gold.daily_revenue", "total", {"onlyFrom": ["silver.orders"]}),
        ("gold.daily_revenue", "total", {"onlyFrom": "silver"}),
        ("gold.contacts", "key", "masked"),
        ("gold.contacts", "key", {"neverInClearFrom": ["tag:pii"]}),
        ("gold.daily_revenue", None, {"neverFrom": ["bronze.customers.email"]}),
        ("gold.daily_revenue", None, {"freshWithin": "1d"}),
    ],
)
def test_promises_that_hold(reader: FactsReader, table: str, name: str | None, promise: Any) -> None:
    assert findings(with_promises(new_export(reader, table), promise, name=name), reader) == []


@pytest.mark.parametrize(
    ("table", "name", "promise", "path"),
    [
        (
            "gold.contacts", "email", "masked",
            ("bronze.customers.email", "silver.customers.email", "gold.contacts.email"),
        ),
        (
            "gold.contacts", None, {"neverInClearFrom": ["tag:PII"]},
            ("bronze.customers.email", "silver.customers.email", "gold.contacts.email"),
        ),
        (
            "gold.contacts", "key", {"neverFrom": ["bronze.customers"]},
            ("bronze.customers.email", "silver.customers.email_hash", "gold.contacts.key"),
        ),
        (
            "platinum.kpi", "revenue", {"onlyFrom": ["silver.customers"]},
            ("bronze.orders.amount", "silver.orders.amount", "gold.daily_revenue.total", "platinum.kpi.revenue"),
        ),
    ],
)  # fmt: skip
def test_broken_promises_show_the_path(
    reader: FactsReader, table: str, name: str | None, promise: Any, path: tuple[str, ...]
) -> None:
    found = findings(with_promises(new_export(reader, table), promise, name=name), reader)
    assert [(each.code, each.severity.label, each.path) for each in found] == [("promise-broken", "error", path)]


def test_a_stale_table_breaks_its_promise(reader: FactsReader) -> None:
    document = with_promises(new_export(reader), {"freshWithin": "36h"})
    assert codes(document, reader) == []
    found = findings(document, reader, day(12))
    assert [each.message for each in found] == [
        "last written 48 hours ago, promised within 36h, against the promise `freshWithin: 36h`"
    ]


def test_definitions_that_differ_break_the_promise(reader: FactsReader) -> None:
    promise = {"sameDefinitionAs": "silver.customers.email"}
    same = with_promises(new_export(reader, "gold.contacts"), promise, name="email")
    assert codes(same, reader) == []
    other = with_promises(new_export(reader, "gold.contacts"), promise, name="key")
    assert codes(other, reader) == ["promise-broken"]


def test_a_definition_does_not_depend_on_the_order_of_its_sources(tmp_path: Path) -> None:
    lake = shop()
    for target in ("gold.one.sum", "gold.two.sum"):
        how = {"description": "a + b"}
        first, second = ("a", "b") if target.startswith("gold.one") else ("b", "a")
        lake.edge(f"silver.pair.{first}", target, "add", "TRANSFORMATION", **how)
        lake.edge(f"silver.pair.{second}", target, "add", "TRANSFORMATION", **how)
    lake.edge("silver.pair.a", "silver.pair.b", "pair", "TRANSFORMATION", description="a * 2")
    lake.edge("bronze.pair.a", "silver.pair.a", "pair")
    lake.edge("silver.pair.b", "silver.pair.b", "pair", "AGGREGATION")
    with open_lake(publish_lake(lake, tmp_path / "lake")) as lineage:
        one, two = (read_value_paths(lineage, f"gold.{name}.sum", None).definition() for name in ("one", "two"))
        b = read_value_paths(lineage, "silver.pair.b", None).definition()
    assert one == two
    assert len(one) == 2
    assert b.isdisjoint(one)


@pytest.mark.parametrize(
    "promise",
    [
        "fresh", {"freshWithin": "soon"}, {"onlyFrom": []}, {"onlyFrom": [7]}, {"sameDefinitionAs": "a.b"}, 7,
        {"masked": 1},
    ],
)  # fmt: skip
def test_a_promise_that_cannot_be_read_is_an_error(reader: FactsReader, promise: Any) -> None:
    found = findings(with_promises(new_export(reader), promise), reader)
    assert [each.code for each in found] == ["promise-invalid"]
    assert found[0].hint
    assert found[0].line


def test_missing_lineage_makes_a_promise_unknown(tmp_path: Path) -> None:
    lake = shop()
    lake.gap("no_column_lineage", job="daily_revenue", dataset="gold.daily_revenue")
    with open_lake(publish_lake(lake, tmp_path / "lake")) as lineage:
        reader = FactsReader(lineage)
        document = with_promises(new_export(reader), {"neverFrom": ["bronze.customers.email"]}, name="total")
        found = findings(document, reader)
    assert [(each.code, each.severity) for each in found] == [("promise-unknown", Severity.WARNING)]


def test_the_state_at_a_time_is_checked(shop_lake: Path, tmp_path: Path) -> None:
    assert run("export", "gold.daily_revenue", "-o", tmp_path, "--lake", shop_lake)[0] == 0
    code, output = run("check", tmp_path, "--lake", shop_lake, "--as-of", "2026-01-03", "--fail-on", "warning")
    assert code == 1
    assert "another manner: sum(amount * 2)" in output


HOSTILE = ContractReport(
    "a b.yaml",
    ("t\x1b[31m",),
    (Finding("source-gone", Severity.ERROR, "t\x1b[31m", "c|<b>`\u202e", "gone <script>", "", 3, ("a", "b\x00")),),
)


def test_reports_escape_hostile_names() -> None:
    for report in (to_text, to_markdown, to_junit, to_sarif):
        text = report([HOSTILE])
        assert "\x1b" not in text
        assert "\x00" not in text
        assert "\u202e" not in text
    assert "<script>" not in to_markdown([HOSTILE])
    suites = ElementTree.fromstring(to_junit([HOSTILE]))
    assert suites.find("testsuite/testcase/failure").attrib["message"] == "gone <script>"
    result = json.loads(to_sarif([HOSTILE]))["runs"][0]["results"][0]
    assert result["ruleId"] in CODES
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}


def test_the_command_reports_a_broken_file_and_checks_the_others(shop_lake: Path, tmp_path: Path) -> None:
    run("export", "gold.contacts", "-o", tmp_path, "--lake", shop_lake)
    (tmp_path / "broken.yaml").write_text("kind: [")
    code, output = run("check", tmp_path, "--lake", shop_lake, "--json")
    assert code == 1
    report = json.loads(output)
    assert report["totals"] == {"error": 1, "warning": 0, "info": 0}
    assert [row["findings"][0]["code"] for row in report["contracts"] if row["findings"]] == ["contract-invalid"]
    code, output = run("check", tmp_path / "gold.contacts.odcs.yaml", "--lake", shop_lake)
    assert (code, output) == (0, "1 contract: everything holds\n")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("schema: {a: 1}", 2, "schema to be a list of tables"),
        ("schema:", 2, "schema to be a list of tables"),
        ("schema:\n- 5", 2, r"schema\[0\] to be a mapping with the key `name`"),
        ("schema:\n- name: [x]", 3, r"schema\[0\].name to be a text"),
        ("schema:\n- name: t\n  properties: 7", 4, r"schema\[0\].properties to be a list"),
        ("schema:\n- name: t\n  properties:\n  - name: c\n    tags: pii", 6, r"properties\[0\].tags to be a list"),
        ("schema:\n- name: t\n  customProperties: [{a: 1}]", 4, r"customProperties\[0\].property to be a text"),
        ("schema:\n- name: t\n  context: 5", 4, "context to be a mapping or a text"),
        ("schema:\n- name: t\n  context: {verifiedStatements: x}", 4, "verifiedStatements to be a list"),
        ("schema:\n- name: t\n  context:\n    verifiedStatements:\n    - id: [1]", 6, "id to be a text"),
    ],
)
def test_a_value_of_a_wrong_type_is_an_error_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ContractError, match=message) as error:
        parse_contract(f"kind: DataContract\n{text}\n", "c.yaml")
    assert (error.value.line, bool(error.value.hint)) == (line, True)


@pytest.mark.parametrize("text", ["kind: DataContract\n", "kind: DataContract\nschema: []\n"])
def test_a_contract_without_a_table_does_not_hold(reader: FactsReader, text: str) -> None:
    [found] = check_contract(parse_contract(text, "c.yaml"), reader, NOW).findings
    assert (found.code, found.severity, found.message) == (
        "contract-invalid", Severity.ERROR, "the contract has no table",
    )  # fmt: skip


def test_values_of_another_form_in_custom_properties_do_not_crash(reader: FactsReader) -> None:
    document = new_export(reader)
    for each in document.tables()[0]["customProperties"]:
        for value in (5, "x", [5], [[1]], [{"job": "x", "tables": 5, "column": 1}], {"a": 1}):
            each["value"], before = value, each["value"]
            findings(document, reader)
            each["value"] = before
