"""The same question as a database query: downstream of a column to depth 5, on the same edges.

Each rival gives the rows that `colline downstream --depth 5` shows: how many columns are reached, and the first 500 of
them with their names, nearest first. `marquez` gives what Marquez's own query gives: every edge on a path, with names.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

Query = Callable[[int], Any]
SHOWN = 500
DEPTH = 5
TIMEOUT_SECONDS = 30  # a query that takes longer is stopped and counts as this long

LEAN = f"""
with recursive reached(node, depth) as (
    select target, 1 from edges where source = {{start}}
    union
    select e.target, r.depth + 1 from reached r join edges e on e.source = r.node where r.depth < {DEPTH}
),
nearest as (select node, min(depth) as depth from reached where node <> {{start}} group by node)
select count(*) over (), n.depth, c.namespace, c.name, c.field
from nearest n join columns c on c.id = n.node
order by n.depth, c.namespace, c.name, c.field limit {SHOWN}
"""

# Edges are walked, not nodes; each row carries its path, to see cycles; names are joined at the end. The latest of all
# edges is selected by every query. Marquez traverses both directions at once; here only downstream, in its favour.
_LATEST = """latest as (
    select distinct on (output, input) * from column_lineage where created_at <= now()
    order by output, input, updated_at desc
),"""
_MARQUEZ = f"""
with recursive {{latest}} walked as (
    select input, output, description, kind, 0 as depth, false as is_cycle, array[row(output, input)] as path
    from {{edges}} where input = '{{start}}'
    union all
    select e.input, e.output, e.description, e.kind, w.depth + 1,
           row(e.input, e.output) = any(w.path), w.path || row(e.input, e.output)
    from {{edges}} e, walked w
    where e.input = w.output and w.depth < {DEPTH} - 1 and not w.is_cycle
)
select o.namespace, o.name, o.field, array_agg(distinct array[i.namespace, i.name, i.field]), w.description, w.kind
from walked w join fields o on o.uuid = w.output left join fields i on i.uuid = w.input
where not w.is_cycle
group by o.namespace, o.name, o.field, w.description, w.kind
"""


@contextmanager
def duckdb(edges: dict[str, Any]) -> Iterator[Query]:
    """DuckDB in this process, its table sorted and indexed by source."""
    import duckdb as engine

    connection = engine.connect()
    connection.register("given", pa.table({"source": edges["source"], "target": edges["target"]}))
    connection.register("names", edges["names"])
    connection.execute("create table edges as select distinct source, target from given order by source")
    connection.execute("create index by_source on edges(source)")
    connection.execute("create table columns as select * from names")
    yield lambda start: connection.execute(LEAN.format(start=start)).fetchall()
    connection.close()


@contextmanager
def postgres(edges: dict[str, Any]) -> Iterator[dict[str, Query]]:
    """PostgreSQL with Marquez's query, with the same one for known latest edges, and with the leanest query."""
    import psycopg

    with _server() as home, psycopg.connect(f"host={home} user=bench dbname=postgres", autocommit=True) as connection:
        connection.execute("create table raw(source int, target int)")
        with connection.cursor().copy("copy raw from stdin") as copy:
            for part in np.array_split(np.stack([edges["source"], edges["target"]], axis=1), 50):
                copy.write("\n".join(f"{a}\t{b}" for a, b in part.tolist()) + "\n")
        connection.execute("create table columns(id int primary key, namespace text, name text, field text)")
        with connection.cursor().copy("copy columns from stdin") as copy:
            rows = zip(*(column.to_pylist() for column in edges["names"].columns), strict=True)
            for part in np.array_split(np.array(list(rows), dtype=object), 20):
                copy.write("\n".join("\t".join(map(str, row)) for row in part.tolist()) + "\n")
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"set statement_timeout = '{TIMEOUT_SECONDS}s'")

        def query_shape(latest: str, table: str) -> Query:
            def query(start: int) -> Any:
                key = f"00000000-0000-0000-0000-{start:012x}"
                try:
                    return connection.execute(_MARQUEZ.format(latest=latest, edges=table, start=key)).fetchall()
                except psycopg.errors.QueryCanceled:
                    return None

            return query

        yield {
            "marquez": query_shape(_LATEST, "latest"),
            "marquez, latest known": query_shape("", "column_lineage"),
            "lean": lambda start: connection.execute(LEAN.format(start=start)).fetchall(),
        }


_UUID = "('00000000-0000-0000-0000-' || lpad(to_hex({0}), 12, '0'))::uuid"
_TABLES = (
    "create table edges as select distinct source, target from raw",
    "create index on edges(source, target)",
    f"create table column_lineage as select {_UUID.format('source')} as input, {_UUID.format('target')} as output,"
    " 'f' || source % 997 as description, 'IDENTITY' as kind, now() as created_at, now() as updated_at from edges",
    "create index on column_lineage(input)",
    "create index on column_lineage(output, input, updated_at desc)",
    f"create table fields as select {_UUID.format('id')} as uuid, namespace, name, field from columns",
    "alter table fields add primary key (uuid)",
    "vacuum analyze edges",
    "vacuum analyze column_lineage",
    "vacuum analyze fields",
    "vacuum analyze columns",
)


@contextmanager
def _server() -> Iterator[Path]:
    """A server of its own in a temporary folder, run by an unprivileged user where we are root."""
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    home = Path(tempfile.mkdtemp(prefix="colline-postgres-"))
    as_user: dict[str, Any] = {}
    if os.geteuid() == 0:
        account = pwd.getpwnam("nobody")
        os.chown(home, account.pw_uid, account.pw_gid)
        as_user = {"user": account.pw_uid, "group": account.pw_gid}
    data = home / "data"
    quiet: dict[str, Any] = {"capture_output": True, **as_user}
    subprocess.run([binaries / "initdb", "-D", data, "-A", "trust", "-U", "bench"], check=True, **quiet)
    options = f"-k {home} -c listen_addresses= -c shared_buffers=1GB -c work_mem=256MB -c fsync=off"
    server = [binaries / "pg_ctl", "-D", data, "-w", "-o", options, "-l", home / "log"]
    subprocess.run([*server, "start"], check=True, **quiet)
    try:
        yield home
    finally:
        subprocess.run([binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop"], check=False, **quiet)
        shutil.rmtree(home, ignore_errors=True)


def is_there(rival: str) -> bool:
    """Whether this computer has the rival."""
    return rival != "PostgreSQL" or any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
