"""Events of one session → the tables that a snapshot is built from, without Spark and without a lake.

For events of one application they contain what an ingest of the same events writes, as far as queries need it;
`tests/capture/test_session_lineage.py` compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from colline.events.model import Dataset, OutputDataset, RunEvent, RunState
from colline.flat.event_facts import Fact, job_entries, lineage_facts
from colline.lake.flat_shapes import FLAT_TABLES

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
ROWS_FIELD = "*"
_OVERWRITES = frozenset({"OVERWRITE", "CREATE", "TRUNCATE"})
_WITHOUT_DATA = frozenset({"ALTER", "DROP", "RENAME", "TRUNCATE"})
_USES = frozenset({"value", "join", "filter", "group_by", "sort", "window", "conditional"})


def event_tables(events: Iterable[RunEvent]) -> dict[str, pa.Table]:
    """The flat tables by name. The events are those of one application, in their order."""
    import pyarrow as pa

    from colline.lake.table_reader import arrow_schema

    session = SessionTables()
    for event in events:
        session.add(event)
    rows = session.rows()
    return {table.path: pa.Table.from_pylist(rows[table.path], arrow_schema(table)) for table in FLAT_TABLES}


class SessionTables:
    """The rows of the tables, filled by one event after the other."""

    def __init__(self) -> None:
        self._datasets: dict[tuple[str, str], Row] = {}
        self._columns: dict[tuple[int, str], Row] = {}
        self._jobs: dict[tuple[str, str], Row] = {}
        self._edges: dict[tuple[Any, ...], Row] = {}
        self._retired: list[Row] = []
        self._reads: dict[tuple[Any, ...], Row] = {}
        self._gaps: dict[tuple[Any, ...], Row] = {}
        self._runs: set[str] = set()

    def rows(self) -> dict[str, list[Row]]:
        """The rows of each table."""
        return {
            "datasets": list(self._datasets.values()),
            "columns": list(self._columns.values()),
            "jobs": list(self._jobs.values()),
            "edges": [*self._edges.values(), *self._retired],
            "reads": list(self._reads.values()),
            "coverage": list(self._gaps.values()),
        }

    def add(self, event: RunEvent) -> None:
        """Add what an event reports. Lineage counts once its run has completed, or while a stream is running."""
        at, job = event.time, self._job(event)
        counts = event.event_type in (RunState.COMPLETE, RunState.RUNNING)
        for each in (*(event.inputs or ()), *(event.outputs or ())):
            self._describe(each, at, is_write=counts and isinstance(each, OutputDataset))
        if counts:
            has_lineage = [self._add_output(event, output, job, at) for output in event.outputs or ()]
            if not any(has_lineage):
                self._add_columns_read(event, job, at)
            self._add_opaque_steps(event, job, at)

    def _job(self, event: RunEvent) -> int:
        key, at, facets = (event.job.namespace, event.job.name), event.time, event.job.facets or {}
        row = self._jobs.setdefault(
            key, {"id": len(self._jobs) + 1, "namespace": key[0], "name": key[1], "runs": 0, "first_seen": at}
        )
        run, state = event.run.run_id, event.event_type
        row["integration"] = (facets.get("jobType") or {}).get("integration")
        if run not in self._runs:
            self._runs.add(run)
            row |= {"runs": row["runs"] + 1, "last_started": at, "last_ended": None, "last_state": "RUNNING"}
        if state is not None and state.is_end:
            row |= {"last_state": state.value, "last_ended": at}
            row |= {"last_success": at} if state is RunState.COMPLETE else {}
        if state is RunState.FAIL:
            error = ((event.run.facets or {}).get("errorMessage") or {}).get("message")
            row |= {"last_failure": at, "last_error": error}
        row["last_run"] = run
        return int(row["id"])

    def _dataset(self, namespace: str, name: str, at: datetime) -> Row:
        key = (namespace, name)
        row = self._datasets.setdefault(
            key, {"id": len(self._datasets) + 1, "namespace": namespace, "name": name, "kind": "OTHER",
                  "symlinks": [], "tags": [], "first_seen": at},
        )  # fmt: skip
        row["last_seen"] = at
        return row

    def _describe(self, dataset: Dataset, at: datetime, *, is_write: bool) -> None:
        """Note a dataset with its other names, its kind and its schema."""
        facets, row = dataset.facets or {}, self._dataset(dataset.namespace, dataset.name, at)
        for link in (facets.get("symlinks") or {}).get("identifiers") or ():
            known = [(each["namespace"], each["name"]) for each in row["symlinks"]]
            if (link["namespace"], link["name"]) not in known:
                row["symlinks"].append({**link, "seen": at})
        row["kind"] = (facets.get("datasetType") or {}).get("datasetType") or row["kind"]
        lifecycle = _lifecycle(dataset)
        if lifecycle == "DROP":
            row["dropped_at"] = at if is_write else row.get("dropped_at")
            return
        if is_write and lifecycle not in _WITHOUT_DATA:
            row |= {"last_written": at, "dropped_at": None}
        elif not isinstance(dataset, OutputDataset):
            row["last_read"] = at
        self._add_schema(row, (facets.get("schema") or {}).get("fields") or (), at, is_write=is_write)

    def _add_schema(self, dataset: Row, fields: Iterable[Row], at: datetime, *, is_write: bool) -> None:
        names = set()
        for ordinal, field in enumerate(fields):
            column = self._column(dataset, field["name"], at)
            column |= {"type": field.get("type"), "ordinal": ordinal, "removed_at": None}
            names.add(column["field"].lower())
        for (owner, key), column in self._columns.items() if is_write and names else ():
            if owner == dataset["id"] and key not in names and column["kind"] == "column" and "." not in key:
                column["removed_at"] = column.get("removed_at") or at

    def _column(self, dataset: Row, field: str, at: datetime) -> Row:
        key = (dataset["id"], field.lower())
        row = self._columns.setdefault(
            key, {"id": len(self._columns) + 1, "dataset_id": dataset["id"], "field": field, "tags": [],
                  "kind": "rows" if field == ROWS_FIELD else "column", "namespace": dataset["namespace"],
                  "name": dataset["name"], "first_seen": at},
        )  # fmt: skip
        row["last_seen"] = at
        return row

    def _add_output(self, event: RunEvent, output: OutputDataset, job: int, at: datetime) -> bool:
        """Add the edges of one output; returns whether the event has its column lineage."""
        dataset, lifecycle = self._dataset(output.namespace, output.name, at), _lifecycle(output)
        if lifecycle in _WITHOUT_DATA:
            return False
        facts = lineage_facts(output, event.job)
        if facts is None:
            if event.inputs or lifecycle != "CREATE":
                self._add_gap("no_column_lineage", "", job, event.run.run_id, at=at, dataset=dataset["id"])
            return False
        found = [self._add_edge(fact, dataset, job, event.run.run_id, at=at) for fact in facts]
        if lifecycle in _OVERWRITES:
            self._retire_others(job, dataset["id"], set(found), at)
        for fact in facts:
            use = "value" if fact.type == "DIRECT" else fact.subtype.lower()
            use = use if use in _USES else "conditional"
            self._add_read(fact.source, use, "write", (job, event.run.run_id), at=at)
        return True

    def _add_edge(self, fact: Fact, dataset: Row, job: int, run: str, *, at: datetime) -> tuple[Any, ...]:
        source = self._column(self._dataset(*fact.source[:2], at), fact.source[2], at)["id"]
        target = self._column(dataset, fact.target or ROWS_FIELD, at)["id"]
        key = (job, dataset["id"], source, target, fact.type, fact.subtype, fact.masking)
        row = self._edges.setdefault(
            key, {"source_id": source, "target_id": target, "job_id": job, "type": fact.type, "subtype": fact.subtype,
                  "masking": fact.masking, "first_seen": at, "first_run": run, "runs": 0},
        )  # fmt: skip
        row |= {"description": fact.description, "last_seen": at, "last_run": run, "runs": row["runs"] + 1}
        return key

    def _retire_others(self, job: int, dataset: int, kept: set[tuple[Any, ...]], at: datetime) -> None:
        """Retire the edges of an output that an overwrite replaced."""
        for key in [key for key in self._edges if key[:2] == (job, dataset) and key not in kept]:
            self._retired.append({**self._edges.pop(key), "retired_at": at})

    def _add_read(
        self, source: tuple[str, str, str], use: str, kind: str, by: tuple[int, str], *, at: datetime
    ) -> None:
        column = self._column(self._dataset(*source[:2], at), source[2], at)["id"]
        row = self._reads.setdefault(
            (column, by[0], use, kind),
            {"column_id": column, "job_id": by[0], "use": use, "kind": kind, "first_read": at, "reads": 0},
        )
        row |= {"last_read": at, "last_run": by[1], "reads": row["reads"] + 1}

    def _add_columns_read(self, event: RunEvent, job: int, at: datetime) -> None:
        """Add the reads of a run without column lineage: a query, or a write that could not be analyzed."""
        kind, by = ("write" if event.outputs else "query"), (job, event.run.run_id)
        for dataset in event.inputs or ():
            facet = (dataset.input_facets or {}).get("colline_columnsRead") or (dataset.facets or {}).get(
                "colline_columnsRead"
            )
            for field in (facet or {}).get("fields") or ():
                for use in field.get("uses") or ("value",):
                    self._add_read((dataset.namespace, dataset.name, field["name"]), use.lower(), kind, by, at=at)
        for each in (each for entry in job_entries(event.job) if entry.type == "JOB" for each in entry.inputs):
            if each.field is not None:
                uses = [how.subtype.lower() for how in each.transformations or () if how.subtype]
                for use in uses or ["value"]:
                    known = use if use in _USES else "value"
                    self._add_read((each.namespace, each.name, each.field), known, kind, by, at=at)

    def _add_opaque_steps(self, event: RunEvent, job: int, at: datetime) -> None:
        facet = (event.run.facets or {}).get("colline_opaque") or {}
        for step in facet.get("steps") or ():
            parts = (step.get("node"), step.get("function"), step.get("why"))
            self._add_gap("opaque_step", " ".join(part for part in parts if part), job, event.run.run_id, at=at)

    def _add_gap(self, kind: str, detail: str, job: int, run: str, *, at: datetime, dataset: int | None = None) -> None:
        row = self._gaps.setdefault(
            (kind, detail, job, dataset),
            {"kind": kind, "detail": detail, "job_id": job, "dataset_id": dataset, "first_seen": at},
        )
        row |= {"run_id": run, "last_seen": at}


def _lifecycle(dataset: Dataset) -> str:
    facet = (dataset.facets or {}).get("lifecycleStateChange") or {}
    return str(facet.get("lifecycleStateChange") or "").upper()
