"""The lake of a food-delivery platform as real Delta tables, with a leak, masking, changes and gaps."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake

from tests.graph.graph_lakes import LakeWriter

NOW = datetime.now(tz=timezone.utc).replace(microsecond=0)

HOME = Path(__file__).parent
# one table per line: `table: column:type …`; `!` marks personal data
TABLES = (HOME / "delivery_tables.txt").read_text().splitlines()

# one edge per line: `source -> target : job : subtype : expression : mask`; the last two are optional
EDGES = (HOME / "delivery_edges.txt").read_text().splitlines()


SQL = "insert into gold.daily_revenue\nselect day, city, count(*) as orders, sum(total) as gross\nfrom silver.orders"


def days_ago(days: float) -> datetime:
    """The time this many days before now."""
    return NOW - timedelta(days=days)


def _add_tables(lake: LakeWriter) -> None:
    for line in TABLES:
        table, columns = line.split(": ", 1)
        lake.dataset(
            table, first_seen=days_ago(60), last_seen=days_ago(0.1), last_written=days_ago(0.1), last_read=days_ago(0.2)
        )
        for text in columns.split():
            name, _, kind = text.partition(":")
            tags = ["PII"] if kind.endswith("!") else []
            times = {"first_seen": days_ago(60), "last_seen": days_ago(0.1)}
            lake.column(f"{table}.{name}", type=kind.rstrip("!"), tags=tags, **times)
    lake.dataset("exports.mailing_list", kind="FILE", layer=None)


def _add_edges(lake: LakeWriter) -> None:
    for line in EDGES:
        source, rest = line.split(" -> ")
        target, job, subtype, *options = rest.split(" : ")
        masking = "mask" in options[1:]
        times = {"first_seen": days_ago(60), "last_seen": days_ago(0.1), "runs": 60, "last_run": f"run-{job}"}
        lake.edge(source, target, job, subtype, description=options[0] if options else "", masking=masking, **times)


def delivery() -> LakeWriter:
    """The lake of the platform, not written yet."""
    lake = LakeWriter()
    _add_tables(lake)
    _add_edges(lake)
    old = {"first_seen": days_ago(60), "last_seen": days_ago(3), "retired_at": days_ago(3)}
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
        first_seen=days_ago(2),
        last_seen=days_ago(0.1),
    )
    for job in lake.jobs:
        times = {
            "last_started": days_ago(0.12),
            "last_ended": days_ago(0.118),
            "last_success": days_ago(0.118),
            "first_seen": days_ago(60),
        }
        lake.job(job, changed_at=days_ago(60), runs=60, **times)
    lake.job("daily_revenue", changed_at=days_ago(3), owner="finance@shop.example", sql=SQL, tags=["nightly"])
    described = {"description": "Revenue per day and city", "tags": ["certified"]}
    lake.dataset("gold.daily_revenue", owner="finance@shop.example", **described)
    lake.column("gold.daily_revenue.net", description="Without refunds")
    error = "AnalysisException: column `stars` cannot be resolved"
    lake.job(
        "restaurant_kpis", last_state="FAIL", last_failure=days_ago(0.12), last_error=error, last_success=days_ago(1)
    )
    lake.job("load_reviews", last_state="UNFINISHED", last_ended=None, last_started=days_ago(0.4))
    lake.read("gold.daily_revenue.net", "finance_dashboard", first_read=days_ago(50), last_read=days_ago(0.3))
    lake.read(
        "gold.daily_revenue.city", "finance_dashboard", "group_by", first_read=days_ago(50), last_read=days_ago(0.3)
    )
    lake.read("silver.customers.full_name", "old_crm_report", first_read=days_ago(400), last_read=days_ago(200))
    gaps = (
        ("opaque_step", "customer_360", "gold.customer_360", "mapInPandas(churn_model)"),
        ("no_column_lineage", "load_reviews", "bronze.reviews", "no facet"),
        ("unfinished_run", "load_reviews", "bronze.reviews", ""),
        ("unknown_source", "export_mailing", "exports.mailing_list", "jdbc query"),
    )
    for kind, job, table, detail in gaps:
        lake.gap(kind, job=job, dataset=table, detail=detail, first_seen=days_ago(9), last_seen=days_ago(0.4))
    return lake


def wide_lake(tables: int = 330, columns: int = 17) -> LakeWriter:
    """A lake that exceeds the drawing budget: one source column feeds all columns of many tables. Also a long chain."""
    lake = LakeWriter()
    for table in range(tables):
        before = "bronze.root.seed" if table < 40 else f"silver.t{table - 40:03}.c00"
        for column in range(columns):
            lake.edge(before, f"silver.t{table:03}.c{column:02}", f"job_{table % 12}")
    for step in range(9):
        lake.edge(f"silver.step{step}.x", f"silver.step{step + 1}.x", f"step_{step}")
    return lake


LONG_FIELD = "customer_lifetime_value_in_euros_after_refunds_and_" * 4
LONG_TABLE = "very_long_table_name_" * 10
SPACES = "kunden übersicht", "Kunden Name 🐟"
ARABIC = "عملاء", "اسم العميل"


def extreme(columns: int = 1000) -> LakeWriter:
    """Wide tables, long names, names with spaces and from right to left, and a table without columns."""
    lake = LakeWriter()
    for number in range(columns):
        column = f"events.col_{number:04}"
        lake.edge(f"bronze.{column}", f"silver.{column}", "load_events")
        lake.edge(f"silver.{column}", "gold.totals.all_of_them", "sum_events", "AGGREGATION")
    spaces, arabic = (f"gold.{table}.{field}" for table, field in (SPACES, ARABIC))
    long = f"silver.{LONG_TABLE}.{LONG_FIELD}"
    expression = f"case when {'abcdefghij' * 200}"
    lake.edge(f"bronze.long.{LONG_FIELD}", long, f"job_{'x' * 196}", "TRANSFORMATION", description=expression)
    lake.edge(long, spaces, "daily job with spaces 🐟")
    lake.edge(spaces, arabic, "تحميل العملاء")
    lake.edge("bronze.long.status", "silver.filtered.*", "filter_long", "FILTER")
    lake.edge(f"bronze.long.{LONG_FIELD}", "silver.filtered.kept", "filter_long")
    lake.dataset("silver.no_columns")
    return lake


def without_columns() -> LakeWriter:
    """A lake with a table whose columns are unknown."""
    lake = LakeWriter()
    lake.dataset("bronze.raw_files")
    lake.gap("no_column_lineage", job="copy_files", dataset="bronze.raw_files", detail="no facet")
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
        "started_at": days_ago(number + 0.1),
        "ended_at": days_ago(number + 0.1) + timedelta(seconds=90 + number),
    }


def _quarantined_event(number: int, line: str) -> dict[str, object]:
    file = "landing/dt=2026-11-14/1794614400000-5a4d-1events.ndjson"
    location = {"file": file, "position": number, "quarantined_at": days_ago(1)}
    return {"reason": "wrong type", "detail": "$.run.runId: expected text", "line": line, **location}


def write_runs_and_quarantine(path: Path, runs: int = 400) -> None:
    """Write a history of runs and two quarantined events."""
    write_deltalake(str(path / "silver/runs"), pa.Table.from_pylist([_run(n) for n in range(runs)], RUNS))
    lines = ('{"eventType": "COMPLETE", "run": {"runId": 12}}', "<script>alert(1)</script>")
    rows = [_quarantined_event(number, line) for number, line in enumerate(lines)]
    write_deltalake(str(path / "bronze/quarantine"), pa.Table.from_pylist(rows, QUARANTINE))


def write(lake: LakeWriter, path: Path) -> Path:
    """Write the lake and publish its snapshot."""
    from colline.graph.snapshot.publish import publish

    lake.write(path)
    publish(path)
    return path
