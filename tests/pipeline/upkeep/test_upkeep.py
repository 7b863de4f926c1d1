"""Quarantine, replay and maintenance of one small lake."""

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

from tests.lakes import land
from tests.pipeline.lake_view import commits, current, gold, table
from tests.pipeline.scenarios import BAD, BAD_REASONS, output, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]
LIMIT = 8_000


def _future_run(job: str) -> list[Any]:
    """A run thirty days from now."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 30 * 86_400))
    return [{**event, "eventTime": at} for event in write(job, job, 1, output(job)) if isinstance(event, dict)]


def _long_event(job: str) -> str:
    """The end of a run, in letters of two bytes: it is bytes that count."""
    event = write(job, job, 1, output(job, documentation={"description": "\u00e9" * 5_000}))[1]
    text = json.dumps(event, ensure_ascii=False)
    assert len(text) < LIMIT < len(text.encode())
    return text


GOOD = write("good", "good", 1, output("good"))
# large, and no event even where that is allowed
STUFFED = json.dumps({"eventTime": "2026-11-01T00:00:00Z", "stuffing": "x" * LIMIT})
BROKEN = {
    "at 10:30.ndjson.gz": gzip.compress("".join(json.dumps(event) for event in GOOD).encode())[:-20],
    "none.json.gz": b"no archive\n",
}
BROKEN_REASONS = ("EOFException: Unexpected end of input stream", "IOException: not a gzip file")
# ignored by their endings, and (not reported) one that is still being written
UNREAD = ("events.JSON", "events.txt", ".half.ndjson.part")
# lines with their reasons; every reason occurs
WRONG: list[tuple[Any, str]] = [
    *zip(_future_run("later"), ["time_out_of_range"] * 2, strict=True),
    ("{nonsense", "not_json"),
    (_long_event("large"), "too_large"),
    (STUFFED, "too_large"),
    *zip(BAD, BAD_REASONS, strict=True),
]


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One good run, lines that are wrong in every way, some only by these limits; broken archives, other files."""
    from colline.cli.operate.ingest import pipeline_options
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
    assert done.ignored == tuple(f"{folder}/landing/{name}" for name in UNREAD[:2])
    return folder


def _quarantine(*arguments: str, lake: Path) -> Result:
    from colline.cli.operate.quarantine import command

    return CliRunner().invoke(command, [*arguments, "--lake", str(lake)])


def _text(line: Any) -> str:
    """A line as it is shown."""
    if isinstance(line, bytes):
        return line.decode(errors="replace")
    return line if isinstance(line, str) else json.dumps(line)


def test_every_reason_is_listed_and_each_line_is_shown(lake: Path) -> None:
    from colline.pipeline.parsing.event_parsing import REASONS

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
    assert short.stderr == "1 more line; use --limit 0 to list all\n"
    header, line = short.stdout.splitlines()
    assert header.split() == ["id", "reason", "place", "line"] and "not_json" in line


def test_replay_lands_valid_lines_and_reports_the_others(spark: SparkSession, lake: Path) -> None:
    # a corrected event that is sent again is ingested at the same time
    right = {"eventType": "COMPLETE", "eventTime": "2026-11-01T00:00:00Z", "run": {"runId": "x"}}
    land(lake, [{**right, "job": {"namespace": "n", "name": "j"}, "outputs": [output("mended")]}])
    left = Counter(reason for _, reason in WRONG)
    # the limits are wider now: large lines are parsed
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


def test_corrupt_archives_are_kept_under_another_name(lake: Path) -> None:
    landing = lake / "landing"
    assert {name: (landing / f"{name}.unreadable").read_bytes() for name in BROKEN} == BROKEN
    assert not any((landing / name).exists() for name in BROKEN)
    assert not [row["file"] for row in table(lake, "bronze/events") if ".gz" in row["file"]]


def test_a_second_replay_changes_nothing(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.upkeep.quarantine import replay

    before = commits(lake)
    assert replay(str(lake), spark=spark).replayed == 0
    assert commits(lake) == before


def test_maintain_compacts_and_keeps_every_answer(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.upkeep.maintain import Keep, maintain

    before = gold(lake)
    landed = len(list((lake / "landing").rglob("*events.ndjson")))
    done = maintain(str(lake), spark=spark, keep=Keep(landing=0, old_files=0))
    assert gold(lake) == before
    assert done.landing_deleted >= landed > 0
    assert not list((lake / "landing").rglob("*events.ndjson"))
    assert done.compacted["bronze/events"] > 0
    assert done.compacted["silver/mentions"] > 0
    # only files that a table needs are left, one per partition
    for name in commits(lake):
        kept = [Path(file) for file in DeltaTable(str(lake / name)).file_uris()]
        assert sorted(kept) == sorted((lake / name).rglob("*.parquet")), name
        assert len({file.parent for file in kept}) == len(kept), name


def test_upkeep_of_a_lake_with_nothing_new_writes_nothing(spark: SparkSession, lake: Path) -> None:
    from colline.pipeline.upkeep.maintain import Keep, maintain

    before = commits(lake)
    done = maintain(str(lake), spark=spark, keep=Keep(landing=0, old_files=0))
    assert (done.compacted, done.landing_deleted, commits(lake)) == ({}, 0, before)
