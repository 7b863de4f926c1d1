"""Export: what a contract contains, that it is valid, and that what people write in it stays."""

from __future__ import annotations

import copy
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from open_data_contract_standard.model import OpenDataContractStandard

from colline.cli import cli
from colline.contracts.contract_document import ContractDocument, new_contract, parse_contract
from colline.contracts.contract_merge import merge_contract
from colline.contracts.generated_contract import generated_contract, read_edges
from colline.contracts.table_facts import FactsReader
from colline.errors import ContractError
from tests.graph.graph_lakes import shop

from .conftest import publish_lake


def new_export(reader: FactsReader, table: str = "gold.daily_revenue") -> ContractDocument:
    document = new_contract(table)
    merge_contract(document, generated_contract(reader.table(table)))
    return document


def column(document: ContractDocument, name: str) -> Any:
    return next(each for each in document.tables()[0]["properties"] if each["name"] == name)


def test_a_contract_has_the_schema_and_the_sources_of_each_column(reader: FactsReader) -> None:
    total = column(new_export(reader), "total")
    assert total["logicalType"] == "string"
    assert total["transformSourceObjects"] == ["gold.daily_revenue.total", "silver.orders.amount"]
    assert total["transformLogic"] == "sum(amount); total + old"
    assert total["customProperties"][0] == {
        "property": "lineageOrigins",
        "value": ["bronze.orders.amount"],
        "vendor": "colline",
    }


def test_the_edges_of_a_contract_equal_the_lake(reader: FactsReader) -> None:
    text = new_export(reader).text()
    table = parse_contract(text, "x").tables()[0]
    assert read_edges(table) == reader.table("gold.daily_revenue").edges


def test_personal_data_decides_the_classification(reader: FactsReader) -> None:
    customers = new_export(reader, "silver.customers")
    assert column(customers, "email")["classification"] == "personal"
    assert column(customers, "email_hash")["classification"] == "pseudonymized"
    assert "classification" not in column(customers, "region")


def test_a_second_export_changes_nothing(reader: FactsReader) -> None:
    document = new_export(reader)
    text = document.text()
    again = parse_contract(text, "x")
    merge_contract(again, generated_contract(reader.table("gold.daily_revenue")))
    assert again.text() == text


def test_what_people_wrote_survives(reader: FactsReader) -> None:
    text = new_export(reader).text()
    edited = text.replace("version: 1.0.0", "version: 2.3.0  # bumped for the audit").replace(
        "      - name: total\n",
        "      # the number the board looks at\n"
        "      - name: total\n"
        "        description: 'Revenue in EUR'\n"
        "        classification: restricted\n"
        "        quality:\n"
        "          - metric: nullValues\n"
        "            mustBe: 0\n",
    )
    edited += "slaProperties:\n  - property: latency\n    value: 1\n    unit: d\nteam:\n  name: finance\n"
    document = parse_contract(edited, "x")
    merge_contract(document, generated_contract(reader.table("gold.daily_revenue")))
    assert document.text() == edited


def test_generated_parts_follow_the_lake_and_described_columns_are_kept(reader: FactsReader) -> None:
    generated = generated_contract(reader.table("gold.daily_revenue"))
    document = new_export(reader)
    column(document, "total")["description"] = "by hand"
    changed = copy.deepcopy(generated)
    table = changed["schema"][0]
    table["properties"] = [each for each in table["properties"] if each["name"] not in ("total", "region")]
    table["properties"].append({"name": "profit", "logicalType": "number", "physicalType": "double"})
    kept = merge_contract(document, changed)
    assert kept == ["gold.daily_revenue.total"]
    assert [each["name"] for each in document.tables()[0]["properties"]] == ["profit", "total"]


def test_a_contract_of_text_only_instructions_keeps_them(reader: FactsReader) -> None:
    document = new_export(reader)
    document.tables()[0]["context"] = "Ask finance first."
    merge_contract(document, generated_contract(reader.table("gold.daily_revenue")))
    context = document.tables()[0]["context"]
    assert context["instructions"] == "Ask finance first."
    assert context["verifiedStatements"][0]["id"] == "colline-writers"


def test_fields_of_a_struct_are_below_their_column(tmp_path: Path) -> None:
    lake = shop()
    lake.column("silver.customers:address", type="struct<city:string>")
    lake.column("silver.customers:address.city", type="string")
    from colline.graph import open_lake

    with open_lake(publish_lake(lake, tmp_path / "a lake")) as lineage:
        address = column(new_export(FactsReader(lineage), "silver.customers"), "address")
    assert address["logicalType"] == "object"
    assert [each["name"] for each in address["properties"]] == ["city"]


# each line repeats the one before it ten times
BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join(['*' + old] * 10)}]\n" for old, new in pairwise("abcdefghi")
)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("kind: [", 1, "not YAML"),
        ("- a\n- b\n", 1, "not a data contract"),
        ("kind: DataContract\na: &a [x, x]\nb: *c\n", 3, "not YAML"),
        ("[" * 5000, 1, "too deep"),
        ("a: &a [*a]\n", 1, "too deep"),
        (BOMB, 6, "too deep"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_a_contract_is_an_error_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(ContractError, match=message) as error:
        parse_contract(text, "a.yaml")
    assert (error.value.file, error.value.line) == ("a.yaml", line)
    assert error.value.hint


def run(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(cli, [str(word) for word in ("contract", *words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_the_command_writes_one_file_for_each_table(shop_lake: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my contracts"
    code, output = run("export", "--layer", "gold", "-o", folder, "--lake", shop_lake)
    assert code == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "gold.contacts.odcs.yaml",
        "gold.daily_revenue.odcs.yaml",
    ]
    assert output.count("new ") == 2
    assert run("export", "--layer", "gold", "-o", folder, "--lake", shop_lake)[1].count("unchanged") == 2


@pytest.mark.delta
def test_every_contract_of_the_demo_is_valid(demo_lake: Path, tmp_path: Path) -> None:
    from datacontract.data_contract import DataContract

    assert run("export", "--all", "-o", tmp_path, "--lake", demo_lake)[0] == 0
    files = sorted(tmp_path.iterdir())
    assert len(files) >= 27
    for path in files:
        OpenDataContractStandard.from_file(str(path))
        result = DataContract(data_contract_file=str(path)).lint()
        assert result.result == "passed", (path.name, [check.reason for check in result.checks])
    assert run("check", tmp_path, "--lake", demo_lake)[0] == 0


def test_python_returns_the_contract_as_a_value(reader: FactsReader) -> None:
    contract = reader.lineage.contract("gold.daily_revenue")
    assert contract.to_yaml() == new_export(reader).text()
    assert contract.to_dict()["schema"][0]["name"] == "gold.daily_revenue"
    assert contract.table == "gold.daily_revenue"
