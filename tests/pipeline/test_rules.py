"""Rules of a user: applied to what comes, and by a rebuild to all that ever came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from colline.errors import SettingError
from colline.pipeline.user_rules import rules_of
from tests.lakes import dataset, event, land, lineage
from tests.pipeline.lake_view import current, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = """
[[rules.datasets]]
pattern = "^/data/lake/gold/([a-z_]+)"
namespace = "lake"
name = "gold.$1"
layer = "gold"
owner = "finance"
domain = "it's sales"

[[rules.datasets]]
pattern = "^postgres://warehouse"
layer = "source"

[[rules.hosts]]
hosts = ["db1.internal", "db2.internal:5432"]
name = "warehouse"

[[rules.jobs]]
pattern = "_[0-9]{8}$"
name = ""

[[rules.columns]]
column = "e?mail|phone.*"
dataset = "warehouse.*customers"
tags = ["PII"]
"""
METADATA = """namespace,name,column,layer,owner,domain,tags
postgres://warehouse,shop.customers,,,crm team,,checked;daily\r
postgres://warehouse,shop.customers,ID,,,,key
"""


def _daily(day: int, host: str) -> list[Any]:
    """A job named after its day, reading one of two hosts and writing a path of its own each day."""
    how = [{"type": "DIRECT", "subtype": "TRANSFORMATION"}]
    total = [{"namespace": host, "name": "shop.customers", "field": "email", "transformations": how}]
    people = {**dataset("x/shop.customers", "id long", "Email string", "phone_2 string"), "namespace": host}
    out = dataset(f"/data/lake/gold/people/dt=2026-11-0{day}", "contact string", columnLineage=lineage(contact=total))
    return [
        event(
            "COMPLETE",
            f"2026-11-0{day}T00:00:00Z",
            run=f"r{day}",
            job=f"jobs/people_2026110{day}",
            inputs=[people],
            outputs=[out],
        )
    ]


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days of a job, ingested under the rules, by the command line."""
    from colline.cli.operate.ingest import command

    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    home = tmp_path_factory.mktemp("rules")
    (home / "meta data.csv").write_text(METADATA)
    _settings(home, RULES, home / "meta data.csv")
    land(home, [*_daily(1, "postgres://db1.internal:5432"), *_daily(2, "postgres://db2.internal:5432")])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        done = CliRunner().invoke(command, ["--lake", str(home), "--json"], catch_exceptions=False)
    assert json.loads(done.stdout)["events"] == 2
    return home


def _settings(home: Path, rules: str, metadata: Path) -> None:
    (home / "colline.toml").write_text(f"{rules}\n[rules]\nmetadata = {json.dumps(str(metadata))}\n")


def _dataset(lake: Path, name: str) -> dict[str, Any]:
    (found,) = [d for d in table(lake, "silver/datasets") if d["name"] == name]
    return found


def _tags(lake: Path) -> dict[str, list[str]]:
    return {c["field"]: c["tags"] for c in table(lake, "gold/columns") if c["name"] == "shop.customers"}


@pytest.mark.spark
def test_paths_hosts_jobs_and_tags_follow_the_rules(lake: Path) -> None:
    assert current(lake, "people") == {"shop.customers.Email -> gold.people.contact DIRECT/TRANSFORMATION"}
    people, customers = _dataset(lake, "gold.people"), _dataset(lake, "shop.customers")
    assert (people["namespace"], people["layer"], people["owner"], people["domain"]) == (
        "lake",
        "gold",
        "finance",
        "it's sales",
    )
    assert (customers["namespace"], customers["layer"], customers["owner"]) == (
        "postgres://warehouse",
        "source",
        "crm team",
    )
    assert customers["tags"] == ["checked", "daily"]
    assert _tags(lake) == {"id": ["key"], "Email": ["PII"], "phone_2": ["PII"]}
    assert [j["runs"] for j in table(lake, "gold/jobs")] == [2]


@pytest.mark.spark
def test_a_rebuild_applies_new_rules_to_history_with_the_same_ids(
    spark: SparkSession, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from colline.cli.operate.rebuild import command

    ids = {d["name"]: d["id"] for d in table(lake, "silver/datasets")}
    columns = {c["field"]: c["id"] for c in table(lake, "gold/columns")}
    published = (lake / "snapshot" / "CURRENT").read_text()
    rows = spark.sql(
        "select 'postgres://warehouse' namespace, 'shop.customers' name, cast(null as string) column, "
        "'platinum' layer, array('new') tags"
    )
    rows.write.format("delta").save(str(lake / "meta"))
    _settings(lake, RULES.replace('"finance"', '"treasury"').replace("e?mail|", ""), lake / "meta")
    monkeypatch.chdir(lake)
    done = CliRunner().invoke(command, ["--lake", str(lake), "--json"], catch_exceptions=False)
    assert json.loads(done.stdout)["events"] == 2
    assert _dataset(lake, "gold.people")["owner"] == "treasury"
    customers = _dataset(lake, "shop.customers")
    assert (customers["layer"], customers["owner"], customers["tags"]) == ("platinum", None, ["new"])
    assert _tags(lake) == {"id": [], "Email": [], "phone_2": ["PII"]}
    assert {d["name"]: d["id"] for d in table(lake, "silver/datasets")} == ids
    assert {c["field"]: c["id"] for c in table(lake, "gold/columns")} == columns
    assert (lake / "snapshot" / "CURRENT").read_text() != published


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ({"datasets": [{"pattern": "("}]}, "is not a regular expression"),
        ({"datasets": [{"patern": "x"}]}, "patern"),
        ({"columns": [{"column": "x", "tags": "PII"}]}, "tags"),
    ],
)
def test_wrong_rule_is_an_error_with_its_place(given: dict[str, Any], reported: str) -> None:
    with pytest.raises(SettingError, match=reported.replace("(", "\\(")):
        rules_of(given)
