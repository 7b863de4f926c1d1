"""Column names: suffixes, case, quotes, unknown and ambiguous names, nested fields."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from colline.errors import ColumnError, ColumnNotFoundError
from colline.graph import Lineage, open_lake
from tests.graph.graph_lakes import LakeWriter, day


@pytest.fixture(scope="module")
def odd_names(tmp_path_factory: pytest.TempPathFactory) -> Lineage:
    """Names with spaces, upper case, symlinks, several namespaces and nested fields."""
    lake = LakeWriter()
    lake.dataset("gold.orders", symlinks=[{"namespace": "hive://h:9083", "name": "sales.Orders", "type": "TABLE"}])
    lake.column("gold.orders.Total")
    lake.column("gold.orders.total")
    lake.column("gold.orders.unit price")
    lake.column("gold.orders:price / unit")
    lake.edge("gold.orders:address.zip", "gold.labels.zip", "labels")
    lake.edge("silver.people.home", "gold.orders.address", "orders")
    lake.edge("gold.orders.address", "gold.exports.address", "export")
    lake.column("gold.orders:address.city")
    lake.dataset("pg", namespace="postgres://db:5432", name="shop.public.orders")
    lake.column("pg.id")
    lake.dataset("s3", namespace="s3://bucket", name="warehouse/gold/orders")
    lake.column("s3.id")
    return open_lake(lake.write(tmp_path_factory.mktemp("odd") / "lake"))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("zip", "gold.labels.zip"),
        ("LABELS.ZIP", "gold.labels.zip"),
        ("file:/lake/gold/labels.zip", "gold.labels.zip"),
        ("file/lake/gold/labels.zip", "gold.labels.zip"),
        ("postgres://db:5432/shop.public.orders.id", "shop.public.orders.id"),
        ("public.orders.id", "shop.public.orders.id"),
        ("s3://bucket/warehouse/gold/orders.id", "gold.orders.id"),
        ('orders."Total"', "sales.Orders.Total"),
        ("gold.orders.`total`", "sales.Orders.total"),
        ('sales."Orders".`Total`', "sales.Orders.Total"),
        ("unit price", "sales.Orders.unit price"),
        (' "unit price" ', "sales.Orders.unit price"),
        ("address.city", "sales.Orders.address.city"),
        ("price / unit", "sales.Orders.price / unit"),
        ("orders.Price / Unit", "sales.Orders.price / unit"),
        ('orders."price / unit"', "sales.Orders.price / unit"),
    ],
)
def test_any_unique_suffix_is_a_name(odd_names: Lineage, name: str, found: str) -> None:
    assert odd_names.downstream(name).of[0]["label"] == found


def test_names_that_differ_in_case_need_quotes(odd_names: Lineage) -> None:
    with pytest.raises(ColumnError, match="fits 2 columns") as error:
        odd_names.downstream("orders.total")
    assert error.value.candidates == ("sales.Orders.Total", "sales.Orders.total")
    with pytest.raises(ColumnError, match="no column is called"):
        odd_names.downstream('orders."TOTAL"')


def test_candidates_are_listed_with_distinct_names(odd_names: Lineage) -> None:
    with pytest.raises(ColumnError) as error:
        odd_names.downstream("orders.id")
    assert error.value.candidates == ("shop.public.orders.id", "gold.orders.id")


def test_unknown_name_suggests_similar_ones(lineage: Lineage) -> None:
    with pytest.raises(ColumnError) as error:
        lineage.upstream("gold.daily_revenue.totl")
    assert error.value.hint == "did you mean gold.daily_revenue.total?"
    with pytest.raises(ColumnError) as error:
        lineage.upstream("gold.daly_revenue.total")
    assert "gold.daily_revenue.total" in error.value.candidates
    with pytest.raises(ColumnError, match="no column is called 'zzzz'") as error:
        lineage.upstream("zzzz")
    assert error.value.candidates == ()


@pytest.mark.parametrize("empty", ["", "  ", "...", '""'])
def test_empty_name_is_an_error(lineage: Lineage, empty: str) -> None:
    with pytest.raises(ColumnError, match="an empty column name"):
        lineage.upstream(empty)


def test_star_means_every_column_of_a_dataset(lineage: Lineage) -> None:
    answer = lineage.downstream("silver.orders.*")
    assert [c["field"] for c in answer.of] == ["id", "customer_id", "amount"]
    with pytest.raises(ColumnError, match=r"no dataset is called 'silver.order.\*'") as error:
        lineage.downstream("silver.order.*")
    assert "silver.orders" in str(error.value.hint)


def test_struct_includes_its_members(odd_names: Lineage) -> None:
    whole = odd_names.downstream("silver.people.home")
    assert [c["label"] for c in whole.columns] == [
        "sales.Orders.address",
        "sales.Orders.address.city",
        "sales.Orders.address.zip",
        "gold.exports.address",
        "gold.labels.zip",
    ]
    member = odd_names.downstream("orders.address.city")
    assert [c["label"] for c in member.columns] == ["gold.exports.address"]
    assert [(e["from"], e["to"]) for e in member.edges] == [(member.of[0]["id"], member.columns[0]["id"])]
    assert [c["label"] for c in odd_names.upstream("gold.labels.zip").columns] == [
        "sales.Orders.address.zip",
        "silver.people.home",
    ]
    assert odd_names.droppable("orders.address").rows[0]["verdict"] == "no"
    assert [r["path"] for r in odd_names.pii("silver.people.home").landings if r["label"] == "gold.labels.zip"]


def test_find_ranks_exact_then_suffix_then_prefix_then_fuzzy(lineage: Lineage) -> None:
    found = [(row["label"], row["match"]) for row in lineage.find("id").rows]
    assert [label for label, match in found if match == "exact"] == [
        "bronze.customers.id",
        "bronze.orders.id",
        "silver.customers.id",
        "silver.orders.id",
    ]
    assert {row["layer"] for row in lineage.find("id", layer="Silver").rows} == {"silver"}
    with pytest.raises(ColumnError, match="no dataset is in the layer 'slver'"):
        lineage.find("id", layer="slver")
    email = {row["label"]: row["match"] for row in lineage.find("email").rows}
    assert email["silver.customers.email_hash"] == "prefix"
    assert {row["label"]: row["match"] for row in lineage.find("hash").rows} == {
        "silver.customers.email_hash": "suffix"
    }
    assert [row["match"] for row in lineage.find("emial").rows][:1] == ["fuzzy"]
    assert {row["match"] for row in lineage.find("contacts").rows} == {"dataset"}
    assert lineage.find("email", tag="pii").rows[0]["label"] == "bronze.customers.email"
    assert {row["layer"] for row in lineage.find("email", layer="gold").rows} == {"gold"}
    nothing = lineage.find("qqqqqq")
    assert nothing.rows == [] and nothing.verdict == "no column matches 'qqqqqq'"


def test_ten_thousand_names(tmp_path: Path) -> None:
    lake = LakeWriter()
    names = [f"bronze.wide.c{n}" for n in range(10_000)]
    for name in names:
        lake.column(name)
        lake.edge(name, "gold.one.sum", "add", "AGGREGATION", first_seen=day(1))
    lineage = open_lake(lake.write(tmp_path / "lake"))
    assert lineage.downstream(names).totals == {"columns": 1, "datasets": 1, "jobs": 1, "depth": 1, "hops": 1}
    up = lineage.upstream("one.sum", limit=10)
    assert (len(up.columns), up.left_out, up.totals["columns"]) == (10, 9_990, 10_000)
    assert lineage.droppable(names, limit=5).totals == {"columns": 10_000, "yes": 0, "no": 10_000, "unknown": 0}


@pytest.mark.parametrize("name", ["</b>", "../../etc/passwd", "a\0b", '"', "x" * 10_240, "A.b", "a.b"])
def test_json_list_names_a_column_with_any_characters(tmp_path: Path, name: str) -> None:
    lake = LakeWriter()
    lake.dataset("gold.odd_names")
    lake.datasets["gold.odd_names"]["name"] = f"/lake/{name}"
    lake.column(f"gold.odd_names:{name}")
    lake.column("gold.odd_names:a.B")
    with open_lake(lake.write(tmp_path / "lake")) as odd_names:
        found = odd_names.upstream(json.dumps(["file", f"/lake/{name}", name])).to_dict()["of"]
        assert [(row["name"], row["field"]) for row in found] == [(f"/lake/{name}", name)]
        with pytest.raises(ColumnError, match="no column is called"):
            odd_names.upstream(json.dumps(["file", f"/lake/{name}", "nope"]))
        fields = {row["field"] for row in odd_names.upstream(json.dumps(["file", f"/lake/{name}"])).to_dict()["of"]}
        assert fields == {name, "a.B"}  # without a field: all columns of the table


def test_unknown_column_error_has_the_name_and_candidates(lineage: Lineage) -> None:
    with pytest.raises(ColumnNotFoundError) as found:
        lineage.upstream("daily_revenue.totl")
    error = pickle.loads(pickle.dumps(found.value))  # query workers are other processes
    assert (error.column, error.candidates[0]) == ("daily_revenue.totl", "gold.daily_revenue.total")
    assert error.hint == "did you mean gold.daily_revenue.total?"
