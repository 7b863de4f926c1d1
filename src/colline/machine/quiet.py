"""Keeping a JVM's chatter off the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from colline.errors import CollineError


@contextmanager
def stderr_into(log: Path) -> Iterator[None]:
    """What a JVM started inside says goes to the log, for its whole life; Python's own stderr comes back."""
    kept = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    except Exception as error:
        hint = f"`colline doctor` says what is missing; {log} has what Java said"
        raise CollineError(f"Spark did not start: {error}", hint=hint) from error
    finally:
        os.dup2(kept, 2)
        os.close(kept)
