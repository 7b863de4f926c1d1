"""Nested fields in every question: `address.city` is a member of `address`."""

from __future__ import annotations

import shutil
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colline.graph import Answer, Lineage, open_lake
from colline.graph.snapshot.array_file import write
from colline.graph.snapshot.publish import compose
from colline.graph.traversal.bfs import TraversalOptions, traverse
from tests.graph.graph_lakes import LakeWriter, day


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Lineage:
    """A struct that is written member by member, copied as a whole, and read as a whole and by member."""
    lake = LakeWriter()
    lake.edge("bronze.people.town", "silver.people:address.city", "people")
    lake.edge("bronze.people.postcode", "silver.people:address.zip", "people")
    lake.column("silver.people.address")
    lake.edge("silver.people.address", "gold.people.address", "copy")
    lake.edge("gold.people:address.city", "gold.cities.name", "cities")
    lake.edge("gold.people:address.zip", "gold.zones.*", "zones", "FILTER")
    lake.column("gold.zones.zone")
    lake.edge("gold.people.address", "exports.labels.text", "labels", "TRANSFORMATION", description="to_json(address)")
    lake.edge("silver.people.name", "gold.people.name", "copy")
    lake.read("silver.people.address", "report")
    lake.edge("bronze.devices:gps.position.lat", "silver.devices.lat", "devices")
    return open_lake(lake.write(tmp_path_factory.mktemp("members") / "lake"))


def labels(answer: Answer) -> list[str]:
    return sorted(column["label"] for column in answer.columns)


def test_reading_a_struct_reads_its_members(shop: Lineage) -> None:
    assert labels(shop.downstream("silver.people.address.city")) == [
        "exports.labels.text",
        "gold.cities.name",
        "gold.people.address",
        "gold.people.address.city",
    ]


def test_copy_of_a_struct_keeps_members_apart(shop: Lineage) -> None:
    assert labels(shop.upstream("gold.cities.name")) == [
        "bronze.people.town",
        "gold.people.address.city",
        "silver.people.address.city",
    ]
    assert [path["length"] for path in shop.paths("people.town", "gold.cities.name").paths] == [3]
    assert not shop.paths("people.postcode", "gold.cities.name").paths


def test_dropping_a_struct_breaks_the_readers_of_its_members(shop: Lineage) -> None:
    answer = shop.impact("gold.people.address")
    assert [job["name"] for job in answer.jobs if job["breaks"]] == ["cities", "labels", "zones"]
    kinds = {column["label"]: column["kinds"] for column in answer.columns}
    assert kinds == {"gold.cities.name": ["value"], "exports.labels.text": ["value"], "gold.zones.zone": ["filter"]}
    alone = shop.impact("gold.people.address.zip")
    assert [job["name"] for job in alone.jobs if job["breaks"]] == ["labels", "zones"]


def test_personal_data_in_a_member_lands_where_its_struct_is_copied(shop: Lineage) -> None:
    landings = {row["label"]: row for row in shop.pii("bronze.people.town").landings}
    assert sorted(landings) == [
        "exports.labels.text",
        "gold.cities.name",
        "gold.people.address",
        "gold.people.address.city",
        "silver.people.address",
        "silver.people.address.city",
    ]
    assert {row["verdict"] for row in landings.values()} == {"clear"}
    assert len(landings["gold.cities.name"]["path"]) == 4


def test_readers_of_a_struct_and_of_its_members_are_shared(shop: Lineage) -> None:
    member, struct = shop.droppable(["silver.people.address.zip", "gold.people.address"]).rows
    assert member["verdict"] == struct["verdict"] == "no"
    assert {row["job"]["name"] for row in member["readers"]} == {"copy", "report"}
    assert {row["job"]["name"] for row in struct["readers"]} == {"cities", "labels", "zones"}
    assert not [row for row in shop.unused("silver.people").rows if "address" in row["label"]]


def test_struct_with_a_read_member_is_not_a_leaf(shop: Lineage) -> None:
    assert not [row["label"] for row in shop.columns(leaves=True).rows if "address" in row["label"]]
    assert {row["label"]: row["down"] for row in shop.find("address").rows}["gold.people.address"] == 2


def test_name_of_an_unknown_struct_means_its_members(shop: Lineage) -> None:
    for name in ("devices.gps", "devices.gps.position", "bronze.devices.gps"):
        assert labels(shop.downstream(name)) == ["silver.devices.lat"]


def test_implied_edges_are_marked_and_not_counted(shop: Lineage) -> None:
    edges = shop.downstream("silver.people.address.city", depth=1).edges
    assert {(edge["implied"], edge["job"]["name"]) for edge in edges} == {(True, "copy")}
    read = shop.downstream("gold.people.address.city").edges
    assert {(edge["implied"], edge["job"]["name"]) for edge in read} == {(False, "cities"), (True, "labels")}
    other = shop.diff(other=shop.lake).totals
    assert (other["added"], other["removed"]) == (0, 0)
    assert shop.overview().totals["edges"] == 8


class Reported(NamedTuple):
    source: str
    target: str
    copy: bool


NAMES = [f"gold.t{t}:{field}" for t in range(3) for field in ("s", "s.a", "s.b", "s.b.x", "p")]


def expected_steps(reported: list[Reported]) -> dict[str, set[str]]:
    """Every edge by the rules in the docs, one pair of columns at a time."""
    steps: dict[str, set[str]] = defaultdict(set)
    for edge in reported:
        for source in _and_members(edge.source):
            path = source[len(edge.source) :]
            targets = {edge.target}
            if not edge.copy:
                targets |= set(_and_members(edge.target))
            elif edge.target + path in NAMES:
                targets.add(edge.target + path)
            if not path:
                targets |= {
                    t
                    for t in _and_members(edge.target)
                    if not edge.copy or edge.source + t[len(edge.target) :] not in NAMES
                }
            steps[source] |= targets
    for source, targets in list(steps.items()):
        steps[source] = targets | {
            name
            for t in targets
            for name in NAMES
            if t.startswith(f"{name}.") and not f"{source}.".startswith(f"{name}.")
        }
    return steps


def _and_members(name: str) -> list[str]:
    return [other for other in NAMES if other == name or other.startswith(f"{name}.")]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.builds(Reported, st.sampled_from(NAMES), st.sampled_from(NAMES), st.booleans()), max_size=8))
def test_edges_of_members_follow_the_rules(reported: list[Reported]) -> None:
    lake, folder = LakeWriter(), Path(tempfile.mkdtemp(prefix="colline-members-"))
    for name in NAMES:
        lake.column(name)
    for number, edge in enumerate(reported):
        how = "IDENTITY" if edge.copy else "TRANSFORMATION"
        lake.edge(edge.source, edge.target, "job", how, description=str(number), first_seen=day(0))
    arrays, meta = compose(lake.flat_tables())
    write(folder / "snapshot" / "1", arrays, meta)
    (folder / "snapshot" / "CURRENT").write_text("1")
    steps = expected_steps(reported)
    try:
        with open_lake(folder) as lineage:
            view = lineage.view()
            for name in NAMES:
                start = view.names.resolve([name.replace(":", ".")], members=False)
                reach = traverse(view.arrays, start, TraversalOptions(False, depth=1))
                found = {view.names.label(n) for n in reach.nodes.tolist()}
                assert found == {other.replace(":", ".") for other in steps[name]} - {name.replace(":", ".")}
    finally:
        shutil.rmtree(folder)
