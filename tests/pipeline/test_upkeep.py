"""Quarantine, replay, upkeep, the lock and older lakes, on one small lake."""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result
from deltalake import DeltaTable

from colline.lake.tables import fields_of
from tests.lakes import land
from tests.pipeline.lake_view import commits, current, gold, table
from tests.pipeline.scenarios import BAD, BAD_REASONS, out, write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]
LIMIT = 8_000


def _ahead(job: str) -> list[Any]:
    """A run thirty days from now."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 30 * 86_400))
    return [{**event, "eventTime": at} for event in write(job, job, 1, out(job)) if isinstance(event, dict)]


def _large(job: str) -> str:
    """The end of a run, in letters of two bytes: it is bytes that count."""
    event = write(job, job, 1, out(job, documentation={"description": "\u00e9" * 5_000}))[1]
    text = json.dumps(event, ensure_ascii=False)
    assert len(text) < LIMIT < len(text.encode())
    return text


GOOD = write("good", "good", 1, out("good"))
# large, and no event even where that is allowed
STUFFED = json.dumps({"eventTime": "2026-11-01T00:00:00Z", "stuffing": "x" * LIMIT})
BROKEN = {
    "at 10:30.ndjson.gz": gzip.compress("".join(json.dumps(event) for event in GOOD).encode())[:-20],
    "none.json.gz": b"no archive\n",
}
BROKEN_REASONS = ("EOFException: Unexpected end of input stream", "IOException: not a gzip file")
# by how their names end, and (not told) one that is still being written
UNREAD = ("events.JSON", "events.txt", ".half.ndjson.part")
# a line and the reason it is given; for every reason there is
WRONG: list[tuple[Any, str]] = [
    *zip(_ahead("later"), ["time_out_of_range"] * 2, strict=True),
    ("{nonsense", "not_json"),
    (_large("large"), "too_large"),
    (STUFFED, "too_large"),
    *zip(BAD, BAD_REASONS, strict=True),
]


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One good run, lines that are wrong in every way, some only by these limits; broken archives, other files."""
    from colline.cli.ingest import pipeline_options
    from colline.pipeline.ingest import ingest

    folder = tmp_path_factory.mktemp("lake")
    land(folder, [*GOOD, *(line for line, _ in WRONG)], name="10:30:00-events.ndjson")
    for name, data in BROKEN.items():
        (folder / "landing" / name).write_bytes(data)
    for name in UNREAD:
        (folder / "landing" / name).write_text(json.dumps(GOOD[0]))
    with pytest.MonkeyPatch.context() as narrow:
        narrow.setenv("COLLINE__MAX_DAYS_AHEAD", "1")
        narrow.setenv("COLLINE__MAX_EVENT_BYTES", str(LIMIT))
        done = ingest(str(folder), spark=spark, options=pipeline_options())
    assert (done.events, done.quarantined) == (len(GOOD), len(WRONG))
    assert sorted(done.unreadable) == [
        f"file:{folder}/landing/{name}.unreadable cannot be read: java.io.{reason}"
        for name, reason in zip(BROKEN, BROKEN_REASONS, strict=True)
    ]
    assert done.unread == tuple(f"{folder}/landing/{name}" for name in UNREAD[:2])
    return folder


def _quarantine(*arguments: str, lake: Path) -> Result:
    from colline.cli.quarantine import command

    return CliRunner().invoke(command, [*arguments, "--lake", str(lake)])


def _text(line: Any) -> str:
    """A line as it is shown."""
    if isinstance(line, bytes):
        return line.decode(errors="replace")
    return line if isinstance(line, str) else json.dumps(line)


def test_every_reason_is_listed_and_each_line_is_shown(lake: Path) -> None:
    from colline.pipeline.parse import REASONS

    rows = json.loads(_quarantine("list", "--json", lake=lake).stdout)
    assert [(r["position"], r["reason"]) for r in rows] == [
        (at, reason) for at, (_, reason) in enumerate(WRONG, start=len(GOOD))
    ]
    assert {r["reason"] for r in rows} == set(REASONS)
    for reason in REASONS:
        some = json.loads(_quarantine("list", "--json", "--reason", reason, lake=lake).stdout)
        assert some == [r for r in rows if r["reason"] == reason]
    assert LIMIT < int(rows[3]["detail"]) == len(rows[3]["line"].encode())
    for row, (line, reason) in zip(rows, WRONG, strict=True):
        shown = _quarantine("show", row["id"], lake=lake).stdout.splitlines()
        assert f"  {reason}" in shown[0]
        assert shown[1] == _text(line)


def test_a_reason_that_does_not_exist_is_refused(lake: Path) -> None:
    refused = _quarantine("list", "--reason", "to_large", lake=lake)
    assert refused.exit_code == 2
    assert "too_large" in refused.stderr
    short = _quarantine("list", "--limit", "1", "--reason", "not_json", lake=lake)
    assert (len(short.stdout.splitlines()), short.stderr) == (1, "1 more line; use --limit 0 to list all\n")


def test_what_is_an_event_by_now_is_replayed_and_the_rest_is_told(spark: SparkSession, lake: Path) -> None:
    # what a producer puts right and sends again comes with the same ingest
    right = {"eventType": "COMPLETE", "eventTime": "2026-11-01T00:00:00Z", "run": {"runId": "x"}}
    land(lake, [{**right, "job": {"namespace": "n", "name": "j"}, "outputs": [out("mended")]}])
    left = Counter(reason for _, reason in WRONG)
    # the limits are wider by now: what is large is looked into
    left -= Counter({"time_out_of_range": 2, "too_large": 2})
    left += Counter({"not_an_event": 1})
    done = _quarantine("replay", "--json", lake=lake)
    assert json.loads(done.stdout) == {"replayed": 3, "left": left}
    assert "still not valid: 1 bad_event_time, " in done.stderr
    for job, table_name in {"later": "later", "large": "large", "j": "mended"}.items():
        assert current(lake, job) == {f"orders.amount -> {table_name}.total DIRECT/AGGREGATION"}
    waiting = json.loads(_quarantine("list", "--json", lake=lake).stdout)
    assert Counter(r["reason"] for r in waiting) == left
    assert next(r["reason"] for r in waiting if r["line"] == STUFFED) == "not_an_event"
    everything = json.loads(_quarantine("list", "--json", "--replayed", lake=lake).stdout)
    assert [r["position"] for r in everything if r["replayed_at"]] == [2, 3, 5]


def test_broken_archives_are_kept_beside_all_else(lake: Path) -> None:
    landing = lake / "landing"
    assert {name: (landing / f"{name}.unreadable").read_bytes() for name in BROKEN} == BROKEN
    assert not any((landing / name).exists() for name in BROKEN)
    assert not [row["file"] for row in table(lake, "bronze/events") if ".gz" in row["file"]]


def test_a_second_replay_changes_nothing(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.quarantine import replay

    before = commits(lake)
    assert replay(str(lake), spark=spark).replayed == 0
    assert commits(lake) == before


def test_maintain_compacts_and_keeps_every_answer(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.maintain import Keep, maintain

    before = gold(lake)
    landed = len(list((lake / "landing").rglob("*events.ndjson")))
    done = maintain(str(lake), spark=spark, keep=Keep(landing=0, old_files=0))
    assert gold(lake) == before
    assert done.landing_deleted >= landed > 0
    assert not list((lake / "landing").rglob("*events.ndjson"))
    assert done.compacted["bronze/events"] > 0
    assert done.compacted["silver/observations"] > 0
    # no file is left that no table needs, and no part has two
    for name in commits(lake):
        kept = [Path(file) for file in DeltaTable(str(lake / name)).file_uris()]
        assert sorted(kept) == sorted((lake / name).rglob("*.parquet")), name
        assert len({file.parent for file in kept}) == len(kept), name


def test_upkeep_of_a_lake_with_nothing_new_writes_nothing(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.maintain import Keep, maintain

    before = commits(lake)
    done = maintain(str(lake), spark=spark, keep=Keep(landing=0, old_files=0))
    assert (done.compacted, done.landing_deleted, commits(lake)) == ({}, 0, before)


def test_a_lake_of_a_newer_version_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    from colline.errors import LakeError
    from colline.pipeline.ingest import ingest

    (tmp_path / "_colline").mkdir()
    (tmp_path / "_colline" / "lake.json").write_text('{"version": 99}')
    land(tmp_path, ["{}"])
    with pytest.raises(LakeError, match="newer colline"):
        ingest(str(tmp_path), spark=spark)


def test_a_table_without_a_newer_column_gets_it(spark: SparkSession, lake: Path) -> None:
    from colline.environment.hadoop_files import HadoopFiles
    from colline.lake.tables import QUARANTINE
    from colline.pipeline.store import Store
    from colline.pipeline.upgrade import upgraded

    store = Store(spark, str(lake))
    rows = store.read(QUARANTINE).drop("replayed_at")
    rows.localCheckpoint().write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(
        store.path(QUARANTINE)
    )
    assert upgraded(store, HadoopFiles(spark)) is False
    assert "replayed_at" in table(lake, "bronze/quarantine")[0]


def _digests(lake: Path) -> list[str]:
    """Every digest in the tables that refer to each other by them."""
    said = [row["content"] for row in table(lake, "silver/observations")]
    shapes = [f"{row['name']} {row['shape']}" for row in table(lake, "silver/observations")]
    told = [mention["content"] for row in table(lake, "silver/runs") for mention in row["mentions"]]
    return sorted([*said, *shapes, *told])


def test_an_older_lake_is_rebuilt_with_its_ids_and_digests_of_now(spark: SparkSession, lake: Path) -> None:
    from colline.environment.hadoop_files import HadoopFiles
    from colline.lake.tables import BRONZE, EDGES, OBSERVATIONS, RUNS, Table
    from colline.pipeline.ingest import ingest
    from colline.pipeline.store import Store
    from colline.pipeline.upgrade import LAKE_VERSION, upgraded

    before, store, marker = gold(lake), Store(spark, str(lake)), lake / "_colline" / "lake.json"
    digests = _digests(lake)
    ids = {(c["dataset_id"], c["field"]): c["id"] for c in table(lake, "gold/columns")}

    def put(kept: Table, rows: DataFrame, *parts: str) -> None:
        writer = rows.localCheckpoint().write.format("delta").mode("overwrite").option("overwriteSchema", "true")
        writer.partitionBy(*parts).save(store.path(kept))

    # lines without their halves, edges split otherwise, and what runs said known by digests that no event of now gives
    put(BRONZE, store.read(BRONZE).drop("body", "head", "rule"), *BRONZE.partitions)
    put(EDGES, store.read(EDGES).drop(*EDGES.partitions))
    old = "transform(mentions, m -> struct(m.role, m.namespace, m.name, {}, {}, m.lifecycle, m.overwrite)) as mentions"
    older = {name: f"md5({name}) as {name}" for name in ("content", "shape")}
    runs = {"mentions": old.format("md5(m.shape) as shape", "md5(m.content) as content")}
    put(RUNS, store.read(RUNS).selectExpr(*(runs.get(name, name) for name in fields_of(RUNS))), *RUNS.partitions)
    said = store.read(OBSERVATIONS).selectExpr(*(older.get(name, name) for name in fields_of(OBSERVATIONS)))
    put(OBSERVATIONS, said, *OBSERVATIONS.partitions)
    assert not set(_digests(lake)) & set(digests) - {name for name in digests if name.endswith(" None")}
    HadoopFiles(spark).write(str(marker), '{"version": 1}')
    assert upgraded(store, HadoopFiles(spark)) is True
    assert json.loads(marker.read_text()) == {"version": 1}
    ingest(str(lake), spark=spark)
    assert gold(lake) == before
    assert _digests(lake) == digests
    assert {(c["dataset_id"], c["field"]): c["id"] for c in table(lake, "gold/columns")} == ids
    assert json.loads(marker.read_text()) == {"version": LAKE_VERSION}


def test_digests_change_with_the_version_of_the_lake(lake: Path) -> None:
    """Rows of one version refer to each other by digest: others need another LAKE_VERSION, and a rebuild."""
    from colline.pipeline.upgrade import LAKE_VERSION

    said = {row["name"]: (row["content"], row["shape"]) for row in table(lake, "silver/observations")}
    assert (LAKE_VERSION, said["good"]) == (3, ("6021cd4b38d4734de15a3e75faea05f9", "8f9adcc0e4391903b20bf4531812191e"))
