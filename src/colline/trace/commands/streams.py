"""Streaming writes: each micro-batch is a command with the query of the batch."""

from __future__ import annotations

import re
from dataclasses import replace

from colline.plan.node import Node
from colline.plan.source import Source
from colline.trace.commands.target import kafka_target, write_query
from colline.trace.result import Write
from colline.trace.rule_registry import command
from colline.trace.scan_source import memory_sink_source, path_source, source_of, table_source
from colline.trace.tracer import Trace

STREAM_WRITES = (
    "WriteToMicroBatchDataSource",
    "WriteToMicroBatchDataSourceV1",
    "WriteToContinuousDataSource",
    "WriteToStream",
)

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
    return _kafka_sink(node) or _memory_sink(node) or _path_sink(node)


def _identifier(node: Node) -> tuple[str, ...]:
    """The catalog and the name of the table that a stream was started with."""
    pair = node.get("catalogAndIdent")
    if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], Node) or not isinstance(pair[1], tuple):
        return ()
    return (pair[0].text("name"), *(str(part) for part in pair[1]))


def _kafka_sink(node: Node) -> Source | None:
    options = tuple((key.lower(), value) for key, value in node.pairs("writeOptions"))
    write = node.optional("write")
    if write is not None and write.kind == "KafkaWrite":  # a continuous stream
        options = (("kafka.bootstrap.servers", write.text("servers")), ("topic", write.text("topic")))
    is_kafka = {"topic", "kafka.bootstrap.servers"} & {key for key, _ in options}
    return kafka_target(options, node) if is_kafka else None


def _memory_sink(node: Node) -> Source | None:
    """`df.writeStream.format("memory").queryName("totals")` → totals, which is the name of its view."""
    sink = node.optional("sink") or node.optional("table")
    if sink is None or not sink.text("class").endswith("MemorySink"):
        return None
    options = {key.lower(): value for key, value in node.pairs("writeOptions")}
    return memory_sink_source(options["queryname"]) if "queryname" in options else None


def _path_sink(node: Node) -> Source | None:
    sink = node.optional("sink") or node.optional("table")
    if sink is None:
        return None
    if sink.text("path"):
        return replace(source_of(node), table=_identifier(node))
    match = _SINK.match(sink.text("description"))
    if match is None:
        return None
    options = {key.lower(): value for key, value in node.pairs("writeOptions")}
    return path_source(match.group(2), "delta" if match.group(1) == "Delta" else options.get("format", ""))
