"""What one run wrote, in rows, bytes and files: read from its events, because only an opened run shows it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import msgspec

from colline.graph.inventory_rows import WrittenDataset
from colline.graph.traversal.records import View


class _Statistics(msgspec.Struct, rename="camel"):
    row_count: int | None = None
    size: int | None = None
    file_count: int | None = None


class _OutputFacets(msgspec.Struct, rename="camel"):
    output_statistics: _Statistics | None = None


class _Output(msgspec.Struct, rename="camel"):
    namespace: str
    name: str
    output_facets: _OutputFacets | None = None


class _Event(msgspec.Struct, rename="camel"):
    event_time: str = ""
    outputs: list[_Output] | None = None


_DECODER = msgspec.json.Decoder(_Event)


def written_by_run(view: View, lake: Path, run_id: str, started: datetime | None) -> list[WrittenDataset]:
    """The datasets whose statistics the events of a run contain; the last event of each dataset counts."""
    found: dict[tuple[str, str], _Statistics] = {}
    for event in sorted(_events(lake, run_id, started), key=lambda each: each.event_time):
        for output in event.outputs or ():
            if output.output_facets and output.output_facets.output_statistics:
                found[(output.namespace, output.name)] = output.output_facets.output_statistics
    return [
        _written_dataset(view, name, statistics) for name, statistics in sorted(found.items(), key=lambda item: item[0])
    ]


def _written_dataset(view: View, name: tuple[str, str], statistics: _Statistics) -> WrittenDataset:
    dataset = view.dataset_identity(*name)
    return WrittenDataset(
        dataset.namespace, dataset.name, dataset.label, dataset.layer,
        rows=statistics.row_count, bytes=statistics.size, files=statistics.file_count,
    )  # fmt: skip


def _events(lake: Path, run_id: str, started: datetime | None) -> list[_Event]:
    """The events of a run with statistics. An event is received on the day of the run or later."""
    from colline.lake.table_reader import read_rows, sql_text
    from colline.lake.tables import BRONZE

    text = "coalesce(run_part, try_cast(raw as varchar))"
    where = [f"strpos({text}, {sql_text(run_id)}) > 0", f"strpos({text}, 'outputStatistics') > 0"]
    if started is not None:
        where.insert(0, f"dt >= date '{started:%Y-%m-%d}'")
    decoded = (_decode(row["raw"]) for row in read_rows(lake, BRONZE, ("raw",), where=where))
    return [event for event in decoded if event is not None]


def _decode(line: bytes) -> _Event | None:
    try:
        return _DECODER.decode(line)
    except msgspec.MsgspecError:  # an event that the pipeline does not understand either
        return None
