"""Receiver: events a second of `colline serve`, compared with a FastAPI + pydantic receiver with the same checks.

Both run under uvicorn with the same options, take the same 44 KB events from 50 clients, and answer 201 after a
group-committed fdatasync. The FastAPI one is given colline's own group commit; a second one that syncs each request
by itself is measured as well. They take turns, so that other work on the machine affects all of them alike.
"""

from __future__ import annotations

import asyncio
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path

CLIENTS = 50
SECONDS, ROUNDS = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0, 4

FASTAPI = """
import asyncio, os, sys, threading
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from fastapi import FastAPI, Request
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import JSONResponse

class Transformation(BaseModel):
    type: str
    subtype: str | None = None
    description: str | None = None
    masking: bool | None = None
class InputField(BaseModel):
    namespace: str
    name: str
    field: str
    transformations: list[Transformation] | None = None
class OutputField(BaseModel):
    inputFields: list[InputField]
    transformationType: str | None = None
    transformationDescription: str | None = None
class ColumnLineage(BaseModel):
    fields_: dict[str, OutputField] = Field(alias="fields")
    dataset: list[InputField] | None = None
class SchemaField(BaseModel):
    name: str
    type: str | None = None
    fields_: list["SchemaField"] | None = Field(None, alias="fields")
class Schema(BaseModel):
    fields_: list[SchemaField] | None = Field(None, alias="fields")
class Symlink(BaseModel):
    namespace: str
    name: str
    type: str | None = None
class Symlinks(BaseModel):
    identifiers: list[Symlink] | None = None
class DatasetFacets(BaseModel):
    schema_: Schema | None = Field(None, alias="schema")
    columnLineage: ColumnLineage | None = None
    symlinks: Symlinks | None = None
class Dataset(BaseModel):
    namespace: str = Field(min_length=1)
    name: str = Field(min_length=1)
    facets: DatasetFacets | None = None
class Run(BaseModel):
    runId: str = Field(min_length=1)
    facets: dict[str, Any] | None = None
class Job(BaseModel):
    namespace: str = Field(min_length=1)
    name: str = Field(min_length=1)
    facets: dict[str, Any] | None = None
class Event(BaseModel):
    eventTime: datetime
    producer: str | None = None
    schemaURL: str | None = None
    eventType: Literal["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"] | None = None
    run: Run | None = None
    job: Job | None = None
    dataset: Dataset | None = None
    inputs: list[Dataset] | None = None
    outputs: list[Dataset] | None = None

folder, mode = Path(sys.argv[1]), sys.argv[2]
if mode == "shared":
    from colline.server.receive.group_commit import GroupCommit
    spool = GroupCommit(folder / "spool", folder / "landing")
@asynccontextmanager
async def lifespan(app):
    if mode == "shared":
        sys.setswitchinterval(0.0005)
        spool.start()
    yield
    if mode == "shared":
        spool.stop()
app = FastAPI(lifespan=lifespan)

if mode == "shared":
    @app.post("/api/v1/lineage", status_code=201)
    async def receive(event: Event, request: Request):
        await spool.append([await request.body() + b"\\n"])
        return {"status": "success", "events": 1}
else:
    folder.mkdir(parents=True, exist_ok=True)
    file = os.open(folder / "events.ndjson", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    @app.post("/api/v1/lineage", status_code=201)
    def receive(event: Event):
        os.write(file, event.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\\n")
        os.fdatasync(file)
        return {"status": "success", "events": 1}

import uvicorn
uvicorn.run(app, port=int(sys.argv[3]), access_log=False, log_level="warning", timeout_keep_alive=75)
"""


def event_text() -> bytes:
    """An event of 100 columns and 160 edges, about 44 KB."""

    def field(i: int, k: int) -> dict[str, object]:
        how = {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": f"coalesce(c{i}, 0)", "masking": False}
        name = {"namespace": "s3://company-lake", "name": "bronze/shop/orders", "field": f"source_column_{i}_{k}"}
        return {**name, "transformations": [how]}

    def schema(prefix: str, count: int) -> dict[str, object]:
        return {"fields": [{"name": f"{prefix}_{i}", "type": "string"} for i in range(count)]}

    lineage = {
        "fields": {f"column_{i}": {"inputFields": [field(i, k) for k in range(1 + (i < 60))]} for i in range(100)}
    }
    output = {"namespace": "s3://company-lake", "name": "silver/shop/orders"}
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-03-02T12:04:00.123Z",
        "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(uuid.uuid4()), "facets": {"spark_properties": {"properties": {"spark.master": "local"}}}},
        "job": {"namespace": "shop", "name": "clean_orders", "facets": {}},
        "inputs": [
            {"namespace": "s3://company-lake", "name": "bronze/shop/orders", "facets": {"schema": schema("s", 100)}}
        ],
        "outputs": [{**output, "facets": {"schema": schema("column", 100), "columnLineage": lineage}}],
    }
    return json.dumps(event).encode()


class Client(asyncio.Protocol):
    """One connection that always has one request under way; cheap, so that the server is what is measured."""

    def __init__(self, request: bytes, times: list[float], end: float) -> None:
        self.request, self.times, self.end = request, times, end
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.got = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.send()

    def send(self) -> None:
        self.started = time.perf_counter()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.got += data
        if not self.got.endswith(b"}"):
            return
        assert self.got.startswith(b"HTTP/1.1 201"), self.got[:300]
        self.got = b""
        now = time.perf_counter()
        self.times.append(now - self.started)
        if now >= self.end:
            self.transport.close()
            self.done.set_result(None)
        else:
            self.send()


async def load(port: int, body: bytes, seconds: float) -> list[float]:
    """How long each request took, with CLIENTS of them at any time."""
    head = f"POST /api/v1/lineage HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    times: list[float] = []
    end = time.perf_counter() + seconds
    loop = asyncio.get_running_loop()
    connections = [
        await loop.create_connection(lambda: Client(request, times, end), "127.0.0.1", port) for _ in range(CLIENTS)
    ]
    await asyncio.gather(*(client.done for _, client in connections))
    return times


@contextmanager
def running_server(command: list[str], port: int) -> Iterator[None]:
    """A server that answers on this port."""
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def summarize(times: list[float], seconds: float) -> tuple[float, float, float]:
    """Events per second, and the median and 99th percentile of the times in ms."""
    times = sorted(times)
    return len(times) / seconds, statistics.median(times) * 1e3, times[int(len(times) * 0.99)] * 1e3


def main() -> None:
    body = event_text()
    print(f"{CLIENTS} clients, events of {len(body) / 1000:.0f} KB, {ROUNDS} turns of {SECONDS:g} s each")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as servers:
        script = Path(folder) / "fastapi_receiver.py"
        script.write_text(FASTAPI)
        program, lake = sys.executable, f"{folder}/lake"
        commands = {
            "colline": [
                program,
                "-m",
                "colline",
                "serve",
                "--create",
                "--lake",
                lake,
                "--port",
                "5391",
                "--no-access-log",
            ],
            "fastapi, shared fsync": [program, str(script), f"{folder}/a", "shared", "5392"],
            "fastapi, own fsync": [program, str(script), f"{folder}/b", "own", "5393"],
        }
        ports = dict(zip(commands, (5391, 5392, 5393), strict=True))
        for name, command in commands.items():
            servers.enter_context(running_server(command, ports[name]))
            asyncio.run(load(ports[name], body, 0.5))
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _, name in product(range(ROUNDS), commands):
            times[name] += asyncio.run(load(ports[name], body, SECONDS))
    rows = {name: summarize(measured, SECONDS * ROUNDS) for name, measured in times.items()}
    for name, (rate, median, p99) in rows.items():
        print(f"{name:24} {rate:8.0f} events/s   median {median:6.1f} ms   p99 {p99:6.1f} ms")
    ratio = rows["colline"][0] / rows["fastapi, shared fsync"][0]
    spread = rows["colline"][2] / rows["colline"][1]
    print(
        f"receiver: {ratio:.1f}x FastAPI + pydantic, same durability (aim 4); p99 is {spread:.1f}x the median (aim 10)"
    )


if __name__ == "__main__":
    main()
