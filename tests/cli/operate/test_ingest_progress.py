"""The progress that `colline ingest` prints."""

from __future__ import annotations

import io

from colline.cli.operate.ingest import ProgressPrinter
from colline.pipeline.ingest_report import Progress

BATCH = Progress(folder="landing", batch=3, events=48_000, quarantined=2, seconds=40.0)
BATCH_LINE = "batch 3: 48,000 events, 2 quarantined, 40.0 s (1,200/s)\n"
CLEAR_LINE = "\r\x1b[K"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _progress_output(stream: io.StringIO) -> str:
    printer = ProgressPrinter(stream)
    printer.show_table("bronze/events")
    printer.show_table("gold/edges")
    printer.print_batch(BATCH)
    printer.clear_line()
    return stream.getvalue()


def test_terminal_shows_the_last_table_and_a_line_per_batch() -> None:
    tables = f"{CLEAR_LINE}bronze/events written {CLEAR_LINE}gold/edges written "
    assert _progress_output(Terminal()) == f"{tables}{CLEAR_LINE}{BATCH_LINE}{CLEAR_LINE}"


def test_log_has_a_line_per_batch() -> None:
    assert _progress_output(io.StringIO()) == BATCH_LINE
