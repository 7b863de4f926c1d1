"""A line that is split into run part and dataset part gives the same event as when it is read whole."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.lakes import dataset, event, land, lineage, source
from tests.pipeline import producers, spark_jar
from tests.pipeline.scenarios import BAD

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

STATISTICS = {"outputStatistics": {"rowCount": 3, "size": 1001}}
TRICKY = ',"outputFacets":{ "inputs":[ "columnLineage":{ }}]} \\" é \u2028'


def nightly_event(
    run: int, *, version: int = 1, rows: int | None = None, of: str = "amount", **facets: Any
) -> dict[str, Any]:
    """The event that a job emits every night; only its version and row count differ."""
    out = dataset(
        "shop/totals",
        "total double",
        version={"datasetVersion": str(version)},
        columnLineage=lineage(total=[source("shop/orders", of, description=TRICKY)]),
    )
    if rows is not None:
        out["outputFacets"] = {"outputStatistics": {"rowCount": rows}}
    orders = dataset("shop/orders", "id long", "amount double", version={"datasetVersion": str(version)})
    if rows is not None:
        orders["inputFacets"] = {"inputStatistics": {"size": 1000 * rows, "fileCount": rows}}
    at = f"2026-11-{1 + run % 20:02d}T00:00:00Z"
    return event("COMPLETE", at, run=f"run {run}", inputs=[orders], outputs=[out], **facets)


def compact(event: dict[str, Any]) -> str:
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False)


def as_the_spec_shows(event: dict[str, Any]) -> str:
    """The line of somebody who followed the examples of OpenLineage's pages."""
    order = ("eventType", "eventTime", "run", "job", "inputs", "outputs", "producer", "schemaURL")
    whole = {**event, "schemaURL": "https://openlineage.io"}
    return json.dumps({key: whole[key] for key in order})


def of_python_client(event: dict[str, Any]) -> str:
    """The line that openlineage-python writes: all keys sorted, the job among the datasets, the run after them."""
    return json.dumps({**event, "schemaURL": "https://openlineage.io"}, sort_keys=True)


def shuffle_keys(event: Any, chance: random.Random) -> Any:
    """The event with the members of every object in another order."""
    if isinstance(event, list):
        return [shuffle_keys(item, chance) for item in event]
    if not isinstance(event, dict):
        return event
    return {key: shuffle_keys(event[key], chance) for key in chance.sample(list(event), len(event))}


def spoil(line: str, chance: random.Random) -> bytes:
    """The line with a piece removed, inserted or repeated at a random place."""
    data, at = line.encode(), chance.randrange(len(line))
    piece = chance.choice((b"", b"}", b"{", b'"', b",", b"\xff", b"\\", b"]", data[at : at + chance.randrange(40)]))
    return (data[:at] + piece + data[at + chance.randrange(3) :]).replace(b"\n", b" ")


def odd_lines() -> list[str | bytes]:
    """Lines that a wrong split would misread."""
    plain = nightly_event(1)
    nested = nightly_event(2, odd={"inputs": [{"name": "x"}], "outputs": [], "note": TRICKY})
    before = {key: plain[key] for key in ("outputs", "eventType", "eventTime", "producer", "run", "job", "inputs")}
    late = {
        key: nightly_event(3)[key] for key in ("eventType", "eventTime", "producer", "inputs", "outputs", "run", "job")
    }
    facets_last = nightly_event(4, rows=4)
    facets_last["outputs"] = [{"outputFacets": STATISTICS, **facets_last["outputs"][0]}]
    two = nightly_event(5, rows=5)
    two["outputs"] = [*two["outputs"], {**two["outputs"][0], "name": "others"}]
    by_job = nightly_event(6)
    by_job["job"] = {**by_job["job"], "facets": {"lineage": {"entries": [{"type": "DATASET", "name": "by_job"}]}}}
    with_dataset = {"dataset": dataset("shop/also", "a int"), **nightly_event(7)}
    text = compact(nightly_event(8, rows=8))
    spec, client = as_the_spec_shows(nightly_event(10, rows=1)), of_python_client(nightly_event(11, rows=1))
    jobless = {key: value for key, value in nightly_event(12).items() if key != "job"}
    order = ("eventType", "eventTime", "run", "inputs", "outputs", "producer")
    job_last = {**{key: nightly_event(13)[key] for key in order}, "job": nightly_event(13)["job"]}
    no_job = {key: nightly_event(14)[key] for key in order}
    nested_producer = nightly_event(15, zz={"producer": "nobody", "run": {"runId": "x"}, "job": {"name": "y"}})
    producer_inside = {
        key: nightly_event(16)[key] for key in ("eventType", "eventTime", "run", "job", "inputs", "outputs")
    }
    producer_inside["outputs"] = [{**producer_inside["outputs"][0], "zz": {"producer": "nobody", "schemaURL": "here"}}]
    jar_sorted = nightly_event(17, parent={"run": {"runId": "above"}, "job": {"namespace": "n", "name": "daily"}})
    jar_sorted["producer"] = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
    jar_sorted["job"] = {"namespace": "jobs", "name": "daily.step"}
    return [
        *map(of_python_client, (jobless, nested_producer, jar_sorted, producer_inside, by_job, two, facets_last)),
        *map(as_the_spec_shows, (nested_producer, by_job, two, facets_last)),
        *map(compact, (job_last, no_job, producer_inside)),
        *(line.replace("2026-11-", "2026-13-") for line in (spec, client)),
        *(line.replace('"fileCount": 1', '"fileCount": 01') for line in (spec, client)),
        *(line[:-1] + ', "job": {"namespace": "jobs", "name": "other"}}' for line in (spec, client)),
        *(line[:-1] + ', "inputs": []}' for line in (spec, client)),
        *(line + "}" for line in (spec, client)),
        *(line.replace("], ", "]], ", 1) for line in (spec, client)),
        client.replace('"name": "daily"', '"name": " "'),
        *map(compact, (nested, before, late, facets_last, two, by_job, with_dataset)),
        json.dumps(nightly_event(9, rows=9)),
        text + "\r",
        "  " + text,
        text[:-1],
        text[:-2] + "}",
        text + "}",
        text.replace('"outputs":[', '"outputs":{"a":[', 1),
        text.replace('"COMPLETE"', '"DONE"'),
        text.replace('"inputs":[', '"inputs":{}, "more":[', 1),
        # the same body as a line that is right has, in a line that ends otherwise
        text[: text.rindex(',"outputFacets":')] + "}",
        text.replace('"rowCount":8', '"rowCount":'),
        text.encode().replace(b"shop", b"sh\xffop"),
    ]


@pytest.fixture(scope="module")
def landed_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    chance = random.Random(7)
    lake = tmp_path_factory.mktemp("heads")
    nights = [nightly_event(n, version=n, rows=n) for n in range(20)]
    others = [e for e in (*producers.events(), *spark_jar.EVENTS) if isinstance(e, dict)]
    writers = (compact, as_the_spec_shows, of_python_client)
    files = [
        [compact(e) for e in nights],
        [compact(e) + "\r" for e in nights],
        [as_the_spec_shows(e) for e in nights],
        # in the order of keys lineage comes before the version, where versions are not looked for
        [of_python_client(nightly_event(n, rows=n)) for n in range(20)],
        [compact(nightly_event(n, version=n)) for n in range(20, 40)],
        [compact(shuffle_keys(chance.choice(nights + others), chance)) for _ in range(60)],
        [spoil(compact(chance.choice(nights[:3] + others)), chance) for _ in range(150)],
        [spoil(chance.choice(writers)(chance.choice(nights[:3])), chance) for _ in range(150)],
        [spoil(chance.choice(writers)(chance.choice(nights[:3])), chance) + b"\r" for _ in range(50)],
        [*map(compact, others), *odd_lines(), *BAD],
    ]
    return [land(lake, lines) for lines in files]


def test_split_lines_give_the_same_events_as_whole_lines(
    spark: SparkSession, landed_files: list[Path], tmp_path: Path
) -> None:
    from colline.environment.hadoop_files import HadoopFiles
    from colline.pipeline.delta_tables import LakeTables, Stamp
    from colline.pipeline.ingest_settings import pipeline_session
    from colline.pipeline.parsing.event_parsing import Limits, parse_lines
    from colline.pipeline.parsing.payloads import REFERENCES, Options, read_events
    from colline.pipeline.parsing.raw_events import bronze_of_batch, run_parts, split_bronze, write_bronze
    from colline.pipeline.sources.landing import lines_of
    from colline.pipeline.user_rules import Rules

    with pipeline_session(spark) as session:
        lines = lines_of(session, [path.as_uri() for path in landed_files])
        assert lines is not None
        tables, files = LakeTables(session, str(tmp_path), Stamp("a stream", 1)), HadoopFiles(session)
        write_bronze(tables, lines, Limits())
        tables.close()
        events = read_events(tables, files, Options()).events.drop("job_id")
        read = {row["line_id"]: row.asDict(recursive=True) for row in events.collect()}
        each = parse_lines(lines, Limits(), Rules())
        each = each.selectExpr(*(c for c in each.columns if c != "mentions"), f"{REFERENCES} as mentions")
        whole = each.select(*events.columns).collect()
        assert len(read) == len(whole) == lines.count()
        bad = [row for row in whole if row["reason"]]
        assert 80 < len(bad) < len(whole) - 80
        for row in whole:
            found, wanted = read[row["line_id"]], row.asDict(recursive=True)
            if wanted["reason"]:  # nothing else is used
                assert (found["reason"], found["detail"]) == (wanted["reason"], wanted["detail"])
            else:
                assert found == wanted
        parts = run_parts(split_bronze(bronze_of_batch(tables, files), Limits()), Limits()).localCheckpoint()
        split = parts.where("is_split")
        nights = split.where("file like '%20events.ndjson'")
        # one payload of the runs that report how many rows they wrote, in each form, one of the others
        assert (nights.count(), nights.select("payload").distinct().count()) == (100, 4)
        assert nights.where("not has_job").count() == 20
        assert split.where("reason is not null").count() > 0
