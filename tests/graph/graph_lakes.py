"""Small lakes written as real Delta tables in the shapes the pipeline writes, from lines of lineage."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from colline.lake.flat_shapes import FLAT_TABLES
from colline.lake.table_reader import arrow_schema
from colline.lake.tables import RUNS, TABLES, Table
from tests.graph.stored_rows import StoredRows

DAY0 = datetime(2026, 1, 1, tzinfo=timezone.utc)
WRITTEN = tuple(table for table in TABLES if not table.path.startswith("bronze/") and table.path != "silver/payloads")
INDIRECT = {"JOIN", "GROUP_BY", "FILTER", "SORT", "WINDOW", "CONDITIONAL"}


def day(number: float) -> datetime:
    """A moment of the story, in days."""
    return DAY0 + timedelta(days=number)


@dataclass
class LakeWriter:
    """Rows of the lake's tables. Columns are made when an edge or a read first names them."""

    datasets: dict[str, dict[str, Any]] = field(default_factory=dict)
    columns: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: list[dict[str, Any]] = field(default_factory=list)
    reads: list[dict[str, Any]] = field(default_factory=list)
    coverage: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    widths: Counter[str] = field(default_factory=Counter)  # how many columns each dataset has

    def dataset(self, name: str, /, **facts: Any) -> int:
        """A dataset by its short name: `gold.orders` lies in `/lake/gold/orders`."""
        if name not in self.datasets:
            layer = name.split(".", maxsplit=1)[0]
            self.datasets[name] = {
                "id": len(self.datasets),
                "namespace": "file",
                "name": "/lake/" + name.replace(".", "/"),
                "kind": "TABLE",
                "layer": layer if layer in ("bronze", "silver", "gold", "platinum") else None,
                "owner": None,
                "domain": None,
                "symlinks": [],
                "tags": [],
                "first_seen": day(0),
                "last_seen": day(10),
                "last_written": day(10),
                "last_read": None,
                "dropped_at": None,
            }
        self.datasets[name].update(facts)
        return int(self.datasets[name]["id"])

    def column(self, text: str, **facts: Any) -> int:
        """A column written `gold.orders.total`; `gold.orders.*` is the rows node; `gold.orders:a.b` a nested field."""
        if ":" in text:
            dataset, name = text.split(":")
        else:
            dataset, name = text.rsplit(".", 1)
        home = self.dataset(dataset)
        key = (dataset, name)
        if key not in self.columns:
            self.columns[key] = {
                "id": len(self.columns) + 100,
                "dataset_id": home,
                "kind": "rows" if name == "*" else "column",
                "namespace": self.datasets[dataset]["namespace"],
                "name": self.datasets[dataset]["name"],
                "field": name,
                "type": None if name == "*" else "string",
                "ordinal": self.widths[dataset],
                "tags": [],
                "first_seen": day(0),
                "last_seen": day(10),
                "removed_at": None,
            }
            self.widths[dataset] += 1
        self.columns[key].update(facts)
        return int(self.columns[key]["id"])

    def job(self, name: str, /, **facts: Any) -> int:
        if name not in self.jobs:
            self.jobs[name] = {
                "id": len(self.jobs) + 7,
                "namespace": "shop",
                "name": name,
                "integration": "SPARK",
                "owner": None,
                "first_seen": day(0),
                "last_run": f"run-of-{name}",
                "last_state": "COMPLETE",
                "last_started": day(10),
                "last_ended": day(10),
                "last_success": day(10),
                "last_failure": None,
                "last_error": None,
                "changed_at": day(0),
                "runs": 10,
            }
        self.jobs[name].update(facts)
        return int(self.jobs[name]["id"])

    def edge(self, source: str, target: str, job: str, how: str = "IDENTITY", **facts: Any) -> None:
        row = {
            "source_id": self.column(source),
            "target_id": self.column(target),
            "job_id": self.job(job),
            "type": "INDIRECT" if how in INDIRECT else "DIRECT",
            "subtype": how,
            "masking": False,
            "description": "",
            "first_seen": day(0),
            "last_seen": day(10),
            "retired_at": None,
            "first_run": "run-0",
            "last_run": f"run-of-{job}",
            "runs": 10,
        }
        self.edges.append(row | facts)

    def read(self, column: str, job: str, use: str = "value", **facts: Any) -> None:
        row = {"column_id": self.column(column), "job_id": self.job(job), "use": use, "kind": "query"}
        times = {"first_read": day(1), "last_read": day(9), "last_run": "run-q", "reads": 3}
        self.reads.append(row | times | facts)

    def gap(self, kind: str, *, job: str | None = None, dataset: str | None = None, **facts: Any) -> None:
        where = {
            "job_id": None if job is None else self.job(job),
            "dataset_id": None if dataset is None else self.dataset(dataset),
        }
        rest = {"run_id": "run-x", "detail": "", "first_seen": day(1), "last_seen": day(2), "resolved_at": None}
        self.coverage.append({"kind": kind} | where | rest | facts)

    def run(self, name: str, job: str, started: float, hours: float = 0.1, **facts: Any) -> None:
        """A run that started some days into the story."""
        where = {"run_id": name, "job_namespace": "shop", "job_name": job, "state": "COMPLETE", "error": None}
        times = {"started_at": day(started), "ended_at": day(started + hours / 24)}
        self.runs.append(where | times | {"mentions": []} | facts)

    def mention(self, role: str, dataset: str) -> dict[str, Any]:
        """A dataset as an input (I) or output (O) of a run."""
        self.dataset(dataset)
        home = self.datasets[dataset]
        return {"role": role, "dataset_id": home["id"], "namespace": home["namespace"], "name": home["name"]}

    def flat_tables(self) -> dict[str, Any]:
        """The flat tables as Arrow."""
        rows = {
            "datasets": list(self.datasets.values()),
            "columns": list(self.columns.values()),
            "jobs": list(self.jobs.values()),
            "edges": self.edges,
            "reads": self.reads,
            "coverage": self.coverage,
        }
        return {table.path: pa.Table.from_pylist(rows[table.path], schema=arrow_schema(table)) for table in FLAT_TABLES}

    def stored_tables(self) -> dict[Table, pa.Table]:
        """The stored tables that mean these rows, as the pipeline writes them."""
        stored = StoredRows(list(self.datasets.values()), list(self.columns.values()), list(self.jobs.values()))
        stored.add_edges(self.edges)
        stored.add_reads(self.reads)
        stored.add_coverage(self.coverage)
        stored.rows[RUNS] = self.runs
        return {table: pa.Table.from_pylist(stored.rows[table], schema=stored_schema(table)) for table in WRITTEN}

    def write(self, lake: Path) -> Path:
        """The stored tables as Delta, in a lake."""
        for table, rows in self.stored_tables().items():
            if table == RUNS and not self.runs:
                continue
            write_deltalake(str(lake / table.path), rows, mode="overwrite")
        return lake


def stored_schema(table: Table) -> pa.Schema:
    """The Arrow schema of a stored table."""
    return arrow_schema(table)


def shop() -> LakeWriter:
    """The lake the answers are tried on: a food shop with a leak, a mask, a changed job and a column nobody reads."""
    lake = LakeWriter()
    lake.dataset("bronze.customers", tags=["crm"])
    lake.column("bronze.customers.email", tags=["PII"], type="string")
    lake.edge("bronze.customers.id", "silver.customers.id", "clean_customers")
    lake.edge(
        "bronze.customers.email",
        "silver.customers.email",
        "clean_customers",
        "TRANSFORMATION",
        description="lower(email)",
    )
    lake.edge(
        "bronze.customers.email",
        "silver.customers.email_hash",
        "clean_customers",
        "TRANSFORMATION",
        description="sha2(email, 256)",
        masking=True,
    )
    lake.edge("bronze.customers.region", "silver.customers.region", "clean_customers")
    lake.edge("bronze.orders.id", "silver.orders.id", "clean_orders")
    lake.edge("bronze.orders.customer_id", "silver.orders.customer_id", "clean_orders")
    lake.edge(
        "bronze.orders.amount",
        "silver.orders.amount",
        "clean_orders",
        "TRANSFORMATION",
        description="cast(amount as double)",
    )
    lake.edge("bronze.orders.status", "silver.orders.*", "clean_orders", "FILTER", description="status = 'done'")
    lake.edge(
        "silver.orders.amount", "gold.daily_revenue.total", "daily_revenue", "AGGREGATION", description="sum(amount)"
    )
    lake.edge(
        "silver.orders.amount",
        "gold.daily_revenue.total",
        "daily_revenue",
        "AGGREGATION",
        description="sum(amount * 2)",
        first_seen=day(0),
        retired_at=day(5),
        last_seen=day(5),
    )
    lake.edge("silver.customers.region", "gold.daily_revenue.region", "daily_revenue")
    lake.edge("silver.customers.region", "gold.daily_revenue.*", "daily_revenue", "GROUP_BY")
    lake.edge("silver.customers.id", "gold.daily_revenue.*", "daily_revenue", "JOIN")
    lake.edge("silver.orders.customer_id", "gold.daily_revenue.*", "daily_revenue", "JOIN")
    lake.edge("silver.customers.email", "gold.contacts.email", "contacts")
    lake.edge("silver.customers.email_hash", "gold.contacts.key", "contacts")
    lake.edge("gold.contacts.email", "exports.mailing.address", "mailing")
    lake.dataset("exports.mailing", kind="FILE")
    lake.edge(
        "gold.daily_revenue.total",
        "gold.daily_revenue.total",
        "daily_revenue",
        "TRANSFORMATION",
        description="total + old",
    )
    lake.edge("gold.daily_revenue.total", "platinum.kpi.revenue", "kpi", "AGGREGATION")
    lake.column("silver.customers.nickname")
    lake.column("gold.contacts.fax", removed_at=day(4))
    lake.edge("silver.customers.fax", "gold.contacts.fax", "contacts", retired_at=day(4))
    lake.read("gold.daily_revenue.total", "dashboard")
    lake.read("silver.customers.email", "old_report", last_read=day(-200), first_read=day(-300))
    lake.job("daily_revenue", changed_at=day(5), owner="finance")
    orders, revenue = lake.mention("I", "silver.orders"), lake.mention("O", "gold.daily_revenue")
    lake.run("run-1", "daily_revenue", 9, hours=0.02, mentions=[orders, revenue])
    lake.run("run-2", "daily_revenue", 10, hours=0.5, mentions=[orders, revenue])
    lake.run("run-3", "kpi", 9, hours=0.001, state="FAIL", error="no such column\n  at line 1")
    lake.job("kpi", last_state="FAIL", last_failure=day(9), last_success=day(8), last_error="no such column")
    return lake
