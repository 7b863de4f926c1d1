"""The transport of a session without a destination: keeps events in memory and prints one line per write.

```
captured gold.revenue ← orders, customers · 5 columns
```
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TextIO

from colline.events.model import Dataset, OutputDataset, RunEvent, RunState
from colline.naming.display_name import short_name
from colline.terminal_text import escape_control_characters
from colline.transport.interfaces import Event
from colline.transport.memory import MemoryTransport

_MAX_NAMED_INPUTS = 5
_MAX_ERROR_CHARS = 100
_WITHOUT_DATA = frozenset({"inmemory://"})  # namespace of rows that a program made up


class WritePrinter(MemoryTransport):
    """A MemoryTransport that prints a line for each write that ended."""

    def emit(self, event: Event) -> None:
        """Keep the event; print a line for each of its outputs if it is the final event of a run."""
        super().emit(event)
        if isinstance(event, RunEvent):
            text = "".join(f"{line}\n" for line in write_lines(event))
            if text:
                _print(text)


def write_lines(event: RunEvent) -> list[str]:
    """One line for each output of a run that ended."""
    if event.event_type not in (RunState.COMPLETE, RunState.FAIL):
        return []
    lines = [_failure_line(event, each) if event.event_type is RunState.FAIL else _write_line(event, each)
             for each in event.outputs or ()]  # fmt: skip
    return [escape_control_characters(line) for line in lines]


def _write_line(event: RunEvent, output: OutputDataset) -> str:
    inputs = [each for each in event.inputs or () if each.namespace not in _WITHOUT_DATA]
    names = list(dict.fromkeys(map(dataset_label, inputs)))
    sources = f" ← {_join_names(names)}" if names else ""
    columns = _column_count(output)
    count = f" · {columns:,} column{'s' if columns != 1 else ''}" if columns else ""
    return f"captured {dataset_label(output)}{sources}{count}"


def _failure_line(event: RunEvent, output: OutputDataset) -> str:
    facet = (event.run.facets or {}).get("errorMessage") or {}
    reason = str(facet.get("message") or "").strip().split("\n")[0][:_MAX_ERROR_CHARS]
    return f"failed {dataset_label(output)}" + (f": {reason}" if reason else "")


def dataset_label(dataset: Dataset) -> str:
    """The short name of a dataset in an event: that of its catalog, else the end of its path."""
    links = ((dataset.facets or {}).get("symlinks") or {}).get("identifiers") or ()
    label = short_name(dataset.name, [str(link["name"]) for link in links if link.get("name")])
    return label.removeprefix("default.")


def _join_names(names: list[str]) -> str:
    more = len(names) - _MAX_NAMED_INPUTS
    return ", ".join(names[:_MAX_NAMED_INPUTS]) + (f" and {more:,} more" if more > 0 else "")


def _column_count(output: Dataset) -> int:
    facets = output.facets or {}
    fields: Iterable[object] = (facets.get("schema") or {}).get("fields") or (facets.get("columnLineage") or {}).get(
        "fields", ()
    )
    return len(list(fields))


def _print(text: str) -> None:
    """Print to the notebook's output, or to the standard error of a program, whose standard output is its own."""
    stream: TextIO | None = sys.stdout if _is_interactive() else sys.stderr
    if stream is not None and not stream.closed:
        stream.write(text)
        stream.flush()


def _is_interactive() -> bool:
    """Whether this process is a notebook kernel or a Python prompt."""
    ipython = sys.modules.get("IPython")
    return hasattr(sys, "ps1") or (ipython is not None and ipython.get_ipython() is not None)
