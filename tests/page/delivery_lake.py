"""A food-delivery platform's lake as real Delta tables: 26 tables, a leak, a mask, a change, gaps, hostile names."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake

from tests.graph.graph_lakes import LakeWriter

NOW = datetime.now(tz=timezone.utc).replace(microsecond=0)

HOME = Path(__file__).parent
# a line a table: `table: name:type …`, where `!` marks personal data
TABLES = (HOME / "delivery_tables.txt").read_text().splitlines()

# a line an edge: `source -> target : job : effect : expression : mask`, the last two where there are some
EDGES = (HOME / "delivery_edges.txt").read_text().splitlines()


def ago(days: float) -> datetime:
    """A moment before now."""
    return NOW - timedelta(days=days)


def _tables(lake: LakeWriter) -> None:
    for line in TABLES:
        table, columns = line.split(": ", 1)
        lake.dataset(table, first_seen=ago(60), last_seen=ago(0.1), last_written=ago(0.1), last_read=ago(0.2))
        for text in columns.split():
            name, _, kind = text.partition(":")
            tags = ["PII"] if kind.endswith("!") else []
            times = {"first_seen": ago(60), "last_seen": ago(0.1)}
            lake.column(f"{table}.{name}", type=kind.rstrip("!"), tags=tags, **times)
    lake.dataset("exports.mailing_list", kind="FILE", layer=None)


def _edges(lake: LakeWriter) -> None:
    for line in EDGES:
        source, rest = line.split(" -> ")
        target, job, how, *more = rest.split(" : ")
        masking = "mask" in more[1:]
        times = {"first_seen": ago(60), "last_seen": ago(0.1), "runs": 60, "last_run": f"run-{job}"}
        lake.edge(source, target, job, how, description=more[0] if more else "", masking=masking, **times)


def delivery() -> LakeWriter:
    """The platform's lake."""
    lake = LakeWriter()
    _tables(lake)
    _edges(lake)
    old = {"first_seen": ago(60), "last_seen": ago(3), "retired_at": ago(3)}
    changed = {"job": "daily_revenue", "how": "AGGREGATION"}
    before = "sum(total) - sum(refunded)"
    lake.edge("silver.orders.total", "gold.daily_revenue.net", **changed, description=before, **old)
    lake.edge("silver.payments.paid", "gold.daily_revenue.gross", **changed, description="sum(paid)", **old)
    lake.edge(
        "silver.payments.paid",
        "gold.restaurant_kpis.revenue",
        "restaurant_kpis",
        "AGGREGATION",
        description="sum(paid)",
        first_seen=ago(2),
        last_seen=ago(0.1),
    )
    for job in lake.jobs:
        times = {"last_started": ago(0.12), "last_ended": ago(0.118), "last_success": ago(0.118), "first_seen": ago(60)}
        lake.job(job, changed_at=ago(60), runs=60, **times)
    lake.job("daily_revenue", changed_at=ago(3))
    error = "AnalysisException: column `stars` cannot be resolved"
    lake.job("restaurant_kpis", last_state="FAIL", last_failure=ago(0.12), last_error=error, last_success=ago(1))
    lake.job("load_reviews", last_state="UNFINISHED", last_ended=None, last_started=ago(0.4))
    lake.read("gold.daily_revenue.net", "finance_dashboard", first_read=ago(50), last_read=ago(0.3))
    lake.read("gold.daily_revenue.city", "finance_dashboard", "group_by", first_read=ago(50), last_read=ago(0.3))
    lake.read("silver.customers.full_name", "old_crm_report", first_read=ago(400), last_read=ago(200))
    gaps = (
        ("opaque_step", "customer_360", "gold.customer_360", "mapInPandas(churn_model)"),
        ("no_column_lineage", "load_reviews", "bronze.reviews", "no facet"),
        ("unfinished_run", "load_reviews", "bronze.reviews", ""),
        ("unknown_source", "export_mailing", "exports.mailing_list", "jdbc query"),
    )
    for kind, job, table, detail in gaps:
        lake.gap(kind, job=job, dataset=table, detail=detail, first_seen=ago(9), last_seen=ago(0.4))
    return lake


def wide(tables: int = 330, columns: int = 17) -> LakeWriter:
    """One source column that feeds every column of many tables, in ranks: more than the page draws."""
    lake = LakeWriter()
    for table in range(tables):
        before = "bronze.root.seed" if table < 40 else f"silver.t{table - 40:03}.c00"
        for column in range(columns):
            lake.edge(before, f"silver.t{table:03}.c{column:02}", f"job_{table % 12}")
    return lake


TIME = pa.timestamp("us", tz="UTC")
RUNS = pa.schema(
    [(name, pa.string()) for name in ("run_id", "job_namespace", "job_name", "state", "integration", "error")]
    + [("started_at", TIME), ("ended_at", TIME)]
)
QUARANTINE = pa.schema(
    [(name, pa.string()) for name in ("reason", "detail", "line", "file")]
    + [("position", pa.int64()), ("quarantined_at", TIME)]
)


def _run(number: int) -> dict[str, object]:
    failed = number == 3
    return {
        "run_id": f"019a85f2-{number:04}-7bb1-9d7e-5a4d1c0f2b11",
        "job_namespace": "shop",
        "job_name": "daily_revenue",
        "state": "FAIL" if failed else "COMPLETE",
        "integration": "SPARK",
        "error": "AnalysisException: no such column" if failed else None,
        "started_at": ago(number + 0.1),
        "ended_at": ago(number + 0.1) + timedelta(seconds=90 + number),
    }


def _set_aside(number: int, line: str) -> dict[str, object]:
    file = "landing/dt=2026-11-14/1794614400000-5a4d-1events.ndjson"
    where = {"file": file, "position": number, "quarantined_at": ago(1)}
    return {"reason": "wrong type", "detail": "$.run.runId: expected text", "line": line, **where}


def journal(path: Path, runs: int = 400) -> None:
    """A history of runs and two events that were set aside."""
    write_deltalake(str(path / "silver/runs"), pa.Table.from_pylist([_run(n) for n in range(runs)], RUNS))
    lines = ('{"eventType": "COMPLETE", "run": {"runId": 12}}', "<script>alert(1)</script>")
    rows = [_set_aside(number, line) for number, line in enumerate(lines)]
    write_deltalake(str(path / "bronze/quarantine"), pa.Table.from_pylist(rows, QUARANTINE))


def write(lake: LakeWriter, path: Path) -> Path:
    """The lake on disk, with its published snapshot."""
    from colline.graph.snapshot.publish import publish

    lake.write(path)
    publish(path)
    return path
