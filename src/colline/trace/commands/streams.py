"""Streaming writes: each micro-batch is a command with the query of the batch."""

from __future__ import annotations

import re

from colline.plan.node import Node
from colline.plan.source import Source, SourceKind
from colline.trace.commands.target import write_query
from colline.trace.result import Write
from colline.trace.rule_registry import command
from colline.trace.scan_source import path_source, source_of, table_source
from colline.trace.tracer import Trace

STREAM_WRITES = ("WriteToMicroBatchDataSource", "WriteToMicroBatchDataSourceV1", "WriteToContinuousDataSource")

# the description of a DataSource V1 sink: FileSink[/data/out], DeltaSink[/data/out]
_SINK = re.compile(r"^(\w*)Sink\[(.*)\]$")


@command(*STREAM_WRITES)
def stream_write(node: Node, trace: Trace) -> tuple[Write, ...]:
    """`df.writeStream.format("delta").start("/d")` → /d.a from df.a; console and `foreachBatch` are not datasets."""
    target = _stream_target(node)
    return () if target is None else (write_query(target, (), node, trace),)


def _stream_target(node: Node) -> Source | None:
    table = node.optional("catalogTable")
    if table is not None:
        return table_source(table)
    relation = node.optional("relation")
    if relation is not None:
        return source_of(relation)
    sink = node.optional("sink") or node.optional("table") or node.optional("write")
    options = {key.lower(): value for key, value in node.pairs("writeOptions")}
    if "topic" in options or "kafka.bootstrap.servers" in options:
        return Source(SourceKind.KAFKA, "kafka", options=tuple(options.items()))
    match = _SINK.match(sink.text("description")) if sink is not None else None
    if match is None:
        return None
    return path_source(match.group(2), "delta" if match.group(1) == "Delta" else options.get("format", ""))
