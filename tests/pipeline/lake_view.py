"""Gold in names instead of ids, so that two lakes can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

# names of tables that are derived from others
FLAT = {
    "gold/edges": "edges",
    "gold/columns": "columns",
    "gold/reads": "reads",
    "gold/jobs": "jobs",
    "gold/coverage": "coverage",
    "silver/datasets": "datasets",
}


def table(lake: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a table, as queries see it."""
    if name not in FLAT:
        return delta_rows(lake, name)
    from colline.flat.flat_tables import read_flat

    flat: list[dict[str, Any]] = read_flat(lake)[0][FLAT[name]].to_pylist()
    return flat


def delta_rows(lake: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a Delta table; none without the table."""
    from deltalake import DeltaTable

    if not (lake / name / "_delta_log").exists():
        return []
    found: pa.Table = DeltaTable(str(lake / name)).to_pyarrow_table()
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def rows(lake: Path) -> dict[str, list[str]]:
    """Every row of every silver and gold table, with ids."""
    there = sorted(str(log.parent.relative_to(lake)) for log in lake.glob("[sg]*/*/_delta_log"))
    return {name: sorted(map(str, delta_rows(lake, name))) for name in there}


def commits(lake: Path) -> dict[str, int]:
    """How many commits each table's log holds."""
    logs = {str(log.parent.relative_to(lake)): log for log in lake.glob("*/*/_delta_log")}
    return {name: len(list(log.glob("*.json"))) for name, log in logs.items()}


def edges(lake: Path) -> list[dict[str, Any]]:
    """Every edge, current and retired, with names."""
    columns = {c["id"]: f"{c['name']}.{c['field']}" for c in table(lake, "gold/columns")}
    jobs = {j["id"]: j["name"] for j in table(lake, "gold/jobs")}
    keep = (
        "type",
        "subtype",
        "masking",
        "description",
        "first_seen",
        "last_seen",
        "retired_at",
        "first_run",
        "last_run",
        "runs",
    )
    return sorted(
        (
            {
                "source": columns[e["source_id"]],
                "target": columns[e["target_id"]],
                "job": jobs[e["job_id"]],
                **{k: e[k] for k in keep},
            }
            for e in table(lake, "gold/edges")
        ),
        key=str,
    )


def current(lake: Path, job: str) -> set[str]:
    """`source -> target TYPE/SUBTYPE` of a job's current edges."""
    return {
        f"{e['source']} -> {e['target']} {e['type']}/{e['subtype']}{' masked' if e['masking'] else ''}"
        for e in edges(lake)
        if e["job"] == job and e["retired_at"] is None
    }


def gold(lake: Path) -> dict[str, Any]:
    """Everything that answers are derived from, without ids."""
    jobs = {j["id"]: j["name"] for j in table(lake, "gold/jobs")}
    columns = {c["id"]: f"{c['namespace']}/{c['name']}.{c['field']}" for c in table(lake, "gold/columns")}
    datasets = {d["id"]: f"{d['namespace']}/{d['name']}" for d in table(lake, "silver/datasets")}
    drop = ("id", "dataset_id", "bucket", "job_id", "column_id", "outputs")

    def plain_rows(rows: list[dict[str, Any]], *more: str) -> list[str]:
        return sorted(
            str(
                {
                    **{k: v for k, v in r.items() if k not in drop},
                    "job": jobs.get(r.get("job_id", -1)),
                    "column": columns.get(r.get("column_id", -1)),
                    "of": datasets.get(r.get("dataset_id", -1)),
                }
            )
            for r in rows
        )

    live = {c["dataset_id"] for c in table(lake, "gold/columns")}
    assert live <= {d["id"] for d in table(lake, "silver/datasets") if d["merged_into"] is None}
    return {
        "edges": [str(e) for e in edges(lake)],
        "columns": plain_rows(table(lake, "gold/columns")),
        "jobs": plain_rows(table(lake, "gold/jobs")),
        "reads": plain_rows(table(lake, "gold/reads")),
        "coverage": plain_rows(table(lake, "gold/coverage")),
    }
