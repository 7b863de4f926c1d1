"""Lands the events again whose plans were not analyzed where they were captured, now with their lineage.

Such an event has the facet `colline_plan` and no columns. Another program analyzes the plan
(`colline.capture.connect.resolver`), and the result lands as a further event of the run, so that the lake can be
rebuilt without analyzing plans.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import IO, Any

from pyspark.sql import DataFrame

from colline.environment.hadoop_files import HadoopFiles
from colline.terminal_text import get_logger

log = get_logger("colline")

FACET = "colline_plan"
_PROGRAM = "colline.capture.connect.resolver.event_resolver"
_EVENTS_PER_FILE = 200


def land_resolved(files: HadoopFiles, folder: str, bronze: DataFrame) -> int:
    """Land the events of these rows of bronze that have a plan again, resolved; returns how many landed.

    A batch that runs again lands nothing twice: the name of a file follows from the events in it.
    """
    rows = bronze.where(f"contains(cast(raw as string), '\"{FACET}\"')")
    columns = ("event_id", "cast(raw as string) as raw", "cast(to_date(received_at) as string) as day")
    lines = rows.selectExpr(*columns).orderBy("event_id").toLocalIterator()
    found = ((line["day"], event) for line in lines if (event := _with_plan(line["raw"])) is not None)
    count = 0
    while chunk := list(islice(found, _EVENTS_PER_FILE)):
        events = list(dict.fromkeys(event for _, event in chunk))
        digest = hashlib.sha256("\n".join(events).encode()).hexdigest()[:32]
        day_folder, name = f"{folder}/dt={chunk[0][0]}", f"resolved-{digest}-{len(events)}events.ndjson"
        if files.exists(f"{day_folder}/{name}"):
            continue
        files.write(f"{day_folder}/.{name}", "".join(f"{line}\n" for line in _replacements(events)))
        files.move(f"{day_folder}/.{name}", f"{day_folder}/{name}")
        count += len(events)
    return count


def _with_plan(line: str) -> str | None:
    """The event on one line, if it is one and has a plan."""
    try:
        event = json.loads(line)
        facets = event["run"]["facets"]
        return json.dumps(event, ensure_ascii=False) if isinstance(facets[FACET], dict) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _replacements(events: Iterable[str]) -> Iterator[str]:
    """The replacement of each event."""
    with _program() as process:
        for event in events:
            yield _exchange(process, event) or _without_plan(event)


def _exchange(process: subprocess.Popen[bytes], event: str) -> str:
    """The program's answer to an event; empty if the program has ended."""
    stdin, stdout = _pipes(process)
    try:
        stdin.write(event.encode() + b"\n")
        stdin.flush()
        return stdout.readline().decode().rstrip("\n")
    except (OSError, UnicodeError):
        log.warning("plans of Spark Connect are not analyzed: the program that analyzes them has ended")
        return ""


def _without_plan(event: str) -> str:
    """The event as it is known without its plan: its facet of opaque steps names the reason of the client."""
    decoded: dict[str, Any] = json.loads(event)
    del decoded["run"]["facets"][FACET]
    return json.dumps(decoded, ensure_ascii=False)


@contextmanager
def _program() -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", _PROGRAM]
    process = subprocess.Popen(  # noqa: S603 - this interpreter and a module of this package
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C ends the ingest, which ends the program
    )
    try:
        yield process
    finally:
        for pipe in _pipes(process):
            pipe.close()
        process.wait()


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout
