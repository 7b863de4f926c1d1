"""What an ingest tells while it works."""

from __future__ import annotations

import io

from colline.cli.ingest import Steps
from colline.pipeline.ingest import Progress

BATCH = Progress(folder="landing", batch=3, events=48_000, quarantined=2, seconds=40.0)
TOLD = "batch 3: 48000 events, 2 quarantined, 40.0 s (1200/s)\n"
AGAIN = "\r\x1b[K"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _told(stream: io.StringIO) -> str:
    steps = Steps(stream)
    steps.table("bronze/events")
    steps.table("gold/edges")
    steps.batch(BATCH)
    steps.over()
    return stream.getvalue()


def test_a_terminal_shows_the_table_written_last_and_a_line_a_batch() -> None:
    tables = f"{AGAIN}bronze/events written {AGAIN}gold/edges written "
    assert _told(Terminal()) == f"{tables}{AGAIN}{TOLD}{AGAIN}"


def test_a_log_has_a_line_a_batch() -> None:
    assert _told(io.StringIO()) == TOLD
