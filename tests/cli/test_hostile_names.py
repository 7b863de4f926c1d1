"""Names with control characters in every command that prints without a table: escaped for people, kept in JSON."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import httpx
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from colline.graph.snapshot.publish import publish
from colline.terminal_text import get_logger
from tests.cli.ask.test_query_commands import on_terminal
from tests.graph.graph_lakes import LakeWriter
from tests.server.serving import serving

HOSTILE = "a\x1b[31mb\x9bc\x7fd\u202ee\u2066f"
ESCAPED = r"a\x1b[31mb\x9bc\x7fd\u202ee\u2066f"
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def colline(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "colline", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, **environment})


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with a quarantined line and a token whose texts contain control characters."""
    path = tmp_path_factory.mktemp("hostile") / "lake"
    schema = pa.schema(
        {name: pa.string() for name in ("event_id", "reason", "detail", "line", "file")}
        | {"position": pa.int64()}
        | {name: pa.timestamp("us", "UTC") for name in ("received_at", "replayed_at")}
    )
    texts = {"event_id": "0123456789abcdef", "reason": "json", "detail": HOSTILE, "line": HOSTILE, "file": HOSTILE}
    row = {**texts, "position": 0, "received_at": datetime(2026, 3, 2, tzinfo=timezone.utc), "replayed_at": None}
    write_deltalake(str(path / "bronze/quarantine"), pa.Table.from_pylist([row], schema))
    assert colline("token", "create", "--lake", str(path), "--label", HOSTILE).returncode == 0
    return path


@pytest.mark.parametrize(
    "command",
    [
        "quarantine list",
        "quarantine show 0123",
        "token list",
        f"token revoke {HOSTILE}x",
        f"nonsense{HOSTILE}",
        f"upstream --limit {HOSTILE} x",
        f"settings --conf spark.colline.namespace={HOSTILE}",
    ],
    ids=lambda command: ascii(command)[:30],
)
def test_control_characters_are_escaped_for_people(lake: Path, command: str) -> None:
    options = [] if command.startswith(("settings", "nonsense")) else ["--lake", str(lake)]
    done = colline(*command.split(" "), *options)
    shown = done.stdout + done.stderr
    assert ESCAPED in shown
    assert not CONTROL.search(shown)
    assert "Traceback" not in shown


def test_path_of_a_lake_is_escaped(tmp_path: Path) -> None:
    for command in (["doctor"], ["find", "x"], ["ingest"]):
        done = colline(*command, "--lake", str(tmp_path / HOSTILE))
        assert ESCAPED in done.stdout + done.stderr
        assert not CONTROL.search(done.stdout + done.stderr), command


def test_pager_and_colored_output_are_escaped(tmp_path: Path) -> None:
    writer, pager = LakeWriter(), tmp_path / "pager"
    for number in range(30):
        writer.edge(f"a.one:{number}{HOSTILE}", f"b.two:{number}{HOSTILE}", f"job {HOSTILE}", description=HOSTILE)
    publish(writer.write(tmp_path / "lake"))
    pager.write_text("#!/bin/sh\necho PAGED\ncat\n")
    pager.chmod(0o755)
    shown = on_terminal(tmp_path / "lake", "columns", "--top", "50", PAGER=str(pager), LINES="10")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n")  # the colors of colline itself
    assert "PAGED" in plain
    assert ESCAPED in plain.replace("\n", "")
    assert not CONTROL.search(plain)


def test_json_keeps_the_characters(lake: Path) -> None:
    assert json.loads(colline("quarantine", "list", "--json", "--lake", str(lake)).stdout)[0]["line"] == HOSTILE
    assert json.loads(colline("token", "list", "--json", "--lake", str(lake)).stdout)[0]["label"] == HOSTILE
    settings = colline("settings", "--conf", f"spark.colline.namespace={HOSTILE}", "--json")
    assert HOSTILE in [json.loads(line)["value"] for line in settings.stdout.splitlines()]


def test_log_of_the_server_is_escaped(tmp_path: Path) -> None:
    with serving(tmp_path / "lake") as server:
        httpx.get(f"{server.address}/a%1b%5b31m%0aforged%c2%9b%e2%80%ae")
        log = server.log_text("forged")
    assert not CONTROL.search(log)
    assert not any(line.startswith("forged") for line in log.splitlines())


def test_log_messages_and_tracebacks_are_escaped(caplog: pytest.LogCaptureFixture) -> None:
    log = get_logger("colline.tests")
    try:
        raise ValueError(f"{HOSTILE}\nforged")
    except ValueError as error:
        log.exception("failed: %s\nhint: %s", error, "do this")
    text = logging.Formatter("%(message)s").format(caplog.records[0])
    assert text.startswith(f"failed: {ESCAPED}\n  forged\nhint: do this\n")
    assert text.endswith(f"ValueError: {ESCAPED}\n  forged")
    assert not CONTROL.search(text)
