"""Random lakes in the stored shapes of `lake.tables`, with every case that flattening has to handle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from colline.lake.table_reader import arrow_schema
from colline.lake.tables import (
    ALIASES,
    COLUMNS,
    COVERAGE,
    DATASETS,
    DESCRIPTIONS,
    EDGES,
    JOBS,
    LINEAGE_VERSIONS,
    MENTIONS,
    OBSERVATIONS,
    Table,
)

Row = dict[str, Any]
STORED = (ALIASES, COLUMNS, COVERAGE, DATASETS, DESCRIPTIONS, EDGES, JOBS, LINEAGE_VERSIONS, MENTIONS, OBSERVATIONS)
_EFFECTS = (
    ("DIRECT", "IDENTITY", "value"),
    ("DIRECT", "AGGREGATION", "value"),
    ("INDIRECT", "JOIN", "join"),
    ("INDIRECT", "FILTER", "filter"),
)
_FIELDS = ("id", "Id", "amount", "name", "address", "address.city", "address.zip", "*")


def write_stored(lake: Path, rows: dict[Table, list[Row]]) -> Path:
    """Writes the rows as Delta tables; a table without rows is not created, as by the pipeline."""
    for table, found in rows.items():
        if found:
            schema = arrow_schema(table)
            write_deltalake(str(lake / table.path), pa.Table.from_pylist(found, schema=schema), mode="overwrite")
    return lake


def random_rows(seeds: Iterable[int]) -> dict[Table, list[Row]]:
    """The rows of several random lakes, as one lake."""
    lakes = [RandomLake(seed).rows for seed in seeds]
    return {table: [row for rows in lakes for row in rows[table]] for table in STORED}


@dataclass
class RandomLake:
    """One random lake; ids are random 64-bit integers, as hashes are."""

    seed: int
    rows: dict[Table, list[Row]] = field(default_factory=lambda: {table: [] for table in STORED})

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self._column_ids: dict[tuple[int, str], int] = {}
        self._spellings: set[tuple[int, str]] = set()
        self.datasets = [self._dataset(number) for number in range(7)]
        if self.random.random() < 0.7:
            self._aliases()
        fingerprints = [self._fingerprint(number) for number in range(8)]
        digests = [self._mention(number, fingerprints) for number in range(14)]
        jobs = [self._job(number) for number in range(3)]
        for job in jobs:
            self._observe(job, digests)
            self._versions(job, fingerprints)
        self._describe()

    def id(self) -> int:
        return self.random.randrange(-(2**63), 2**63)

    def time(self) -> datetime:
        moment = datetime(2026, 1, 1, tzinfo=timezone.utc)
        return moment + timedelta(hours=self.random.randrange(40), microseconds=self.random.randrange(3))

    def optional(self, values: Any) -> Any:
        return self.random.choice([None, *values])

    def _dataset(self, number: int) -> int:
        found = self.id()
        row = {"dataset_id": found, "namespace": f"shop{self.seed}", "name": f"table {number}"}
        for _ in range(self.random.choice([1, 1, 2])):
            rules = {
                "layer": self.optional(["gold", "silver"]),
                "owner": self.optional(["ann", "bob"]),
                "domain": self.optional("xy"),
            }
            self.rows[DATASETS].append(row | rules)
        return found

    def _aliases(self) -> None:
        target, *others = self.random.sample(self.datasets, 3)
        self.rows[ALIASES] += [{"dataset_id": other, "direct_id": target, "target_id": target} for other in others]

    def column(self, dataset: int, name: str) -> int:
        key = (dataset, name.lower())
        found = self._column_ids.setdefault(key, self.id())
        if (dataset, name) not in self._spellings:
            self._spellings.add((dataset, name))
            tags = self.random.sample(["PII", "key"], self.random.randrange(3))
            self.rows[COLUMNS].append({"column_id": found, "dataset_id": dataset, "field": name, "tags": tags})
        return found

    def _fingerprint(self, number: int) -> tuple[str, int]:
        dataset, is_read = self.random.choice(self.datasets), number % 4 == 3
        found = f"{'r' if is_read else 'f'}{self.seed}.{number}"
        for _ in range(self.random.randrange(1, 8)):
            kind, subtype, use = self.random.choice(_EFFECTS)
            source = self.random.choice(self.datasets)
            row = {
                "dataset_id": dataset,
                "fingerprint": found,
                "source_dataset_id": source,
                "source_id": self.column(source, self.random.choice(_FIELDS[:-1])),
                "target_id": None if is_read else self.column(dataset, self.random.choice(_FIELDS)),
                "type": None if is_read else kind,
                "subtype": None if is_read else subtype,
                "masking": not is_read and self.random.random() < 0.2,
                "description": "" if is_read else self.random.choice(["", "sum(x)", "é"]),
                "use": use,
            }
            if row not in self.rows[EDGES]:
                self.rows[EDGES].append(row)
        return found, dataset

    def _mention(self, number: int, fingerprints: list[tuple[str, int]]) -> str:
        fingerprint, dataset = self.optional(fingerprints) or (None, self.random.choice(self.datasets))
        names = self.random.sample(_FIELDS[:-1], self.random.randrange(0, 5))
        columns = [
            {
                "column_id": self.column(dataset, name),
                "name": name,
                "type": self.optional(["int", "string"]),
                "tags": self.random.sample(["email", "é", "key"], self.random.randrange(3)),
                "description": self.optional(["the address", "é"]),
            }
            for name in names
        ]
        links = [
            {
                "dataset_id": self.id(),
                "namespace": "hive",
                "name": self.random.choice(["", "db.a", "db.b"]),
                "type": "TABLE",
            }
            for _ in range(self.random.randrange(3))
        ]
        self.rows[MENTIONS].append(
            {
                "digest": f"d{self.seed}.{number}",
                "role": self.random.choice("IOD"),
                "dataset_id": dataset,
                "kind": self.optional(["TABLE", "VIEW", "FILE"]),
                "lifecycle": self.optional(["CREATE", "DROP", "ALTER"]),
                "owner": self.optional(["eve", "zoe"]),
                "tags": self.random.sample(["crm", "domain=sales"], self.random.randrange(3)),
                "symlinks": links,
                "fingerprint": fingerprint,
                "schema_digest": "+".join(names) if names and self.random.random() < 0.8 else None,
                "columns": columns,
                "description": self.optional(["one row per order", "é"]),
                "expressions": self.optional(
                    [[{"column_id": each["column_id"], "text": "count(*)"} for each in columns]]
                ),
            }
        )
        return f"d{self.seed}.{number}"

    def _job(self, number: int) -> int:
        found = self.id()
        self.rows[JOBS].append(
            {
                **{"job_id": found, "namespace": "jobs", "name": f"job {number}", "first_seen": self.time()},
                **{"runs": number, "code": self._code(), "about": self._about()},
            }
        )
        gap = {"kind": "opaque_step", "job_id": found, "run_id": "r", "detail": "x", "first_seen": self.time()}
        self.rows[COVERAGE].append(gap)
        return found

    def _code(self) -> list[Row] | None:
        """Statements, the newest first; the first one or two are of the last group of runs."""
        times = sorted((self.time() for _ in range(3)), reverse=True)
        groups = self.random.choice([["b", "b", "a"], ["b", "a", "a"], [None, None, "a"]])
        rows = [{"at": at, "run_group": group, "sql": f"select {at}"} for at, group in zip(times, groups, strict=True)]
        return self.optional([rows])

    def _about(self) -> Row | None:
        about = {"at": self.time(), "location": "file:job.sql", "description": None, "tags": ["daily"]}
        return self.optional([about, about | {"description": "Builds orders", "tags": []}])

    def _observe(self, job: int, digests: list[str]) -> None:
        for digest in self.random.sample(digests, 8):
            for kind in self.random.sample([None, "write", "query"], self.random.randrange(1, 3)):
                first, last = sorted([self.time(), self.time()])
                self.rows[OBSERVATIONS].append(
                    {
                        "job_id": job, "digest": digest, "kind": kind, "runs": self.random.randrange(9),
                        "first_seen": first, "last_seen": last, "last_run": f"run {self.random.randrange(30)}",
                        "part": "p0",
                    }
                )  # fmt: skip

    def _versions(self, job: int, fingerprints: list[tuple[str, int]]) -> None:
        targets = {row["dataset_id"]: row["target_id"] for row in self.rows[ALIASES]}
        outputs = {targets.get(dataset, dataset) for name, dataset in fingerprints if name[0] == "f"}
        for output in sorted(outputs):
            names = [n for n, dataset in fingerprints if n[0] == "f" and targets.get(dataset, dataset) == output]
            count = self.random.randrange(1, 6)
            for version in range(count):
                chosen = self.random.sample(names, self.random.randrange(len(names) + 1))
                self.rows[LINEAGE_VERSIONS].append(
                    {
                        "job_id": job, "dataset_id": output, "version": version, "valid_from": self.time(),
                        "valid_to": None if version == count - 1 else self.time(), "is_current": version == count - 1,
                        "fingerprints": chosen, "reported": [self._fingerprint_facts(name) for name in chosen],
                    }
                )  # fmt: skip

    def _fingerprint_facts(self, fingerprint: str) -> Row:
        first, last = sorted([self.time(), self.time()])
        return {
            "fingerprint": fingerprint, "runs": self.random.randrange(1, 9), "first_seen": first,
            "first_run": f"run {self.random.randrange(9)}", "last_seen": last,
            "last_run": f"run {self.random.randrange(9)}",
        }  # fmt: skip

    def _describe(self) -> None:
        for row in self.rows[DATASETS][:3]:
            key = {"namespace": row["namespace"], "name": row["name"]}
            if any(key.items() <= known.items() for known in self.rows[DESCRIPTIONS]):
                continue
            about = {
                "layer": self.optional(["raw"]),
                "owner": self.optional(["lead"]),
                "domain": None,
                "tags": ["described"],
            }
            self.rows[DESCRIPTIONS].append(key | {"column": None} | about)
            self.rows[DESCRIPTIONS].append(key | {"column": "ID", "tags": ["PII", "described"]})
