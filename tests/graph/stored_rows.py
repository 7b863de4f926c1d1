"""Rows of the lake's stored tables that mean the given flat rows: the reverse of `colline.flat`.

Each edge has a fingerprint of its own, so that it has its own times. The versions of a job and dataset begin where one
of its edges begins or ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from colline.lake.tables import (
    ALIASES,
    COLUMNS,
    COVERAGE,
    DATASETS,
    EDGES,
    JOBS,
    LINEAGE_VERSIONS,
    MENTIONS,
    OBSERVATIONS,
    Table,
)

Row = dict[str, Any]
_MOMENT = timedelta(microseconds=1)
_FILLER = -(2**62)  # a column that no dictionary has: it only takes a place in a schema


class StoredRows:
    """The rows of each stored table."""

    def __init__(self, datasets: list[Row], columns: list[Row], jobs: list[Row]) -> None:
        self.rows: dict[Table, list[Row]] = defaultdict(list)
        self._columns = {row["id"]: row for row in columns}
        for row in datasets:
            self._add_dataset(row, [column for column in columns if column["dataset_id"] == row["id"]])
        for row in columns:
            named = {
                "column_id": row["id"],
                "dataset_id": row["dataset_id"],
                "field": row["field"],
                "tags": row["tags"],
            }
            self.rows[COLUMNS].append(named)
        for row in jobs:
            self.rows[JOBS].append({**row, "job_id": row["id"], **_written_about(row)})
            # outputs without lineage: a version that no fingerprint has
            outputs = (each["dataset_id"] for each in row.get("outputs") or ())
            self.rows[LINEAGE_VERSIONS] += [_current(row["id"], dataset, row["first_seen"]) for dataset in outputs]

    def _add_dataset(self, row: Row, columns: list[Row]) -> None:
        self.rows[DATASETS].append({**row, "dataset_id": row["id"]})
        if row.get("merged_into") is not None:
            alias = {"dataset_id": row["id"], "direct_id": row["merged_into"], "target_id": row["merged_into"]}
            self.rows[ALIASES].append(alias)
        links = [{"dataset_id": 0, **link} for link in row["symlinks"] or ()]
        facts = {"kind": row["kind"], "tags": row["tags"], "symlinks": links, "description": row.get("description")}
        self._mention("D", row["id"], row["first_seen"], row["last_seen"], **facts)
        written, dropped = row["last_written"], row["dropped_at"]
        if written is not None:
            written = written if dropped is None else min(written, dropped)
            self._mention("O", row["id"], written, written)
        if row["last_read"] is not None:
            self._mention("I", row["id"], row["last_read"], row["last_read"])
        if dropped is not None:
            self._mention("D", row["id"], dropped, dropped, lifecycle="DROP")
        self._add_columns(row["id"], columns)

    def _add_columns(self, dataset: int, columns: list[Row]) -> None:
        by_time: dict[tuple[datetime, datetime], list[Row]] = defaultdict(list)
        for row in columns:
            last = row["last_seen"] if row["removed_at"] is None else min(row["last_seen"], row["removed_at"] - _MOMENT)
            by_time[row["first_seen"], last].append(row)
        for (first, last), found in by_time.items():
            values = [{"column_id": row["id"], "text": row["expression"]} for row in found if row.get("expression")]
            self._mention("D", dataset, first, last, columns=_schema(found), expressions=values)
        removed = {row["removed_at"] for row in columns} - {None}
        if removed:
            at = max(removed)
            kept = [row for row in columns if row["removed_at"] is None and row["first_seen"] <= at <= row["last_seen"]]
            self._mention("D", dataset, at, at, columns=_schema(kept), schema_digest=f"s{dataset}")

    def _mention(self, role: str, dataset: int, first: datetime, last: datetime, **facts: Any) -> None:
        digest, job = f"m{len(self.rows[MENTIONS])}", facts.pop("job", 0)
        times = {"job_id": job, "digest": digest, "first_seen": first, "last_seen": last, "runs": 0, "part": "p"}
        self.rows[OBSERVATIONS].append(times | facts.pop("observed", {}))
        self.rows[MENTIONS].append({"digest": digest, "role": role, "dataset_id": dataset} | facts)

    def _edge(self, fingerprint: str, source: int, row: Row) -> None:
        home = {"source_id": source, "source_dataset_id": self._columns[source]["dataset_id"]}
        self.rows[EDGES].append({**row, **home, "fingerprint": fingerprint})

    def add_edges(self, edges: Iterable[Row]) -> None:
        """The edges with their versions."""
        by_output: dict[tuple[int, int], list[tuple[str, Row]]] = defaultdict(list)
        for number, row in enumerate(edges):
            dataset = self._columns[row["target_id"]]["dataset_id"]
            self._edge(f"e{number}", row["source_id"], {**row, "dataset_id": dataset, "use": "value"})
            by_output[row["job_id"], dataset].append((f"e{number}", row))
        for (job, dataset), found in by_output.items():
            self.rows[LINEAGE_VERSIONS] += _versions(job, dataset, found)

    def add_reads(self, reads: Iterable[Row]) -> None:
        """Who reads which column."""
        for number, row in enumerate(reads):
            dataset = self._columns[row["column_id"]]["dataset_id"]
            self._edge(f"r{number}", row["column_id"], {"dataset_id": dataset, "use": row["use"], "masking": False})
            observed = {"kind": row["kind"], "runs": row["reads"], "last_run": row["last_run"]}
            times = (row["first_read"], row["last_read"])
            self._mention("D", dataset, *times, fingerprint=f"r{number}", job=row["job_id"], observed=observed)

    def add_coverage(self, gaps: Iterable[Row]) -> None:
        """The gaps, as they are."""
        self.rows[COVERAGE] += gaps


def _written_about(row: Row) -> Row:
    """The SQL, code location, description and tags of a job."""
    at = row["last_started"] or row["first_seen"]
    about = {name: row.get(name) for name in ("location", "description", "tags")}
    code = [{"at": at, "run_group": "r", "sql": row["sql"]}] if row.get("sql") else None
    return {"code": code, "about": {"at": at, **about} if any(about.values()) else None}


def _schema(columns: list[Row]) -> list[Row]:
    """The columns at their positions, with others that nobody knows between them."""
    by_position = {row["ordinal"]: row for row in columns}
    size = max(by_position, default=-1) + 1
    filler = {"column_id": _FILLER, "name": "", "type": None, "tags": []}
    return [
        {
            **{"column_id": row["id"], "name": row["field"], "type": row["type"], "tags": []},
            "description": row.get("description"),
        }
        if row
        else filler
        for row in map(by_position.get, range(size))
    ]


def _versions(job: int, dataset: int, edges: list[tuple[str, Row]]) -> list[Row]:
    ends = [row["retired_at"] for _, row in edges if row["retired_at"] is not None]
    starts = sorted({*(row["first_seen"] for _, row in edges), *ends})
    out: list[Row] = []
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else None
        valid = [(name, row) for name, row in edges if _is_valid(row, start)]
        reported = [_fingerprint_facts(name, row, is_first=row["first_seen"] == start) for name, row in valid]
        out.append(
            {
                "job_id": job, "dataset_id": dataset, "version": number, "valid_from": start, "valid_to": end,
                "is_current": end is None, "fingerprints": [name for name, _ in valid], "reported": reported,
            }
        )  # fmt: skip
    return out


def _current(job: int, dataset: int, since: datetime) -> Row:
    key = {"job_id": job, "dataset_id": dataset, "version": 0, "valid_from": since}
    return key | {"is_current": True, "fingerprints": [], "reported": []}


def _is_valid(row: Row, at: datetime) -> bool:
    return bool(row["first_seen"] <= at and (row["retired_at"] is None or at < row["retired_at"]))


def _fingerprint_facts(fingerprint: str, row: Row, *, is_first: bool) -> Row:
    names = ("first_seen", "first_run", "last_seen", "last_run")
    return {"fingerprint": fingerprint, "runs": row["runs"] if is_first else 0} | {name: row[name] for name in names}
