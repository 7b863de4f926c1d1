"""Removes from a plan what must not leave the user's process: rows of local data, and the code of functions.

Of a function, its name and whether it masks its argument are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from colline.capture.connect.proto_walk import Message, modernize_sql, type_name
from colline.capture.udf_masking import code_verdict
from colline.errors import CollineError

MAX_PLAN_BYTES = 128 * 1024 * 1024
# fields with pickled or serialized code, in messages of any type
_CODE_FIELDS = ("command", "payload")
_BYTES = 12


class UnreadableRequestError(CollineError):
    """A request whose plan cannot be read: a newer protocol, or a size beyond the limit."""


def opened_plan(plan: Message) -> Message:
    """A copy of a request's plan, decompressed, in the form of Spark 4: SQL commands have a relation."""
    copy = type(plan)()
    if "compressed_operation" in plan.DESCRIPTOR.fields_by_name and plan.HasField("compressed_operation"):
        _decompress(plan.compressed_operation, copy)
    else:
        copy.CopyFrom(plan)
    kind = copy.WhichOneof("op_type")
    if kind is None or (kind == "command" and _is_unknown(copy.command)):
        raise UnreadableRequestError("the plan has a message of a newer version of the protocol")
    if copy.WhichOneof("op_type") == "command" and copy.command.HasField("sql_command"):
        modernize_sql(copy.command.sql_command)
    return copy


def _is_unknown(command: Message) -> bool:
    from google.protobuf.unknown_fields import UnknownFieldSet

    return command.WhichOneof("command_type") is None and len(UnknownFieldSet(command)) > 0


def strip_plan(parts: Iterable[Message]) -> None:
    """Remove rows and code from a plan in place; `parts` are all its messages."""
    for message in parts:
        if type_name(message) == "LocalRelation":
            _strip_rows(message)
            continue
        for name in _code_fields(message.DESCRIPTOR):
            if getattr(message, name):
                setattr(message, name, code_verdict(getattr(message, name)) if name == "command" else b"")


@lru_cache(maxsize=1000)
def _code_fields(kind: Any) -> tuple[str, ...]:
    return tuple(name for name, field in kind.fields_by_name.items() if name in _CODE_FIELDS and field.type == _BYTES)


def _strip_rows(local: Message) -> None:
    if not local.schema and local.data:
        local.schema = _arrow_schema(local.data)
    local.ClearField("data")


def _arrow_schema(data: bytes) -> str:
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema

    with pa.ipc.open_stream(data) as reader:
        found: str = from_arrow_schema(reader.schema).json()
        return found


def _decompress(operation: Message, plan: Message) -> None:
    """Spark 4.1 compresses plans above a size."""
    import zstandard

    if operation.compression_codec != 1:  # ZSTD
        raise UnreadableRequestError("the plan is compressed by an unknown method")
    reader = zstandard.ZstdDecompressor().stream_reader(operation.data)
    content = reader.read(MAX_PLAN_BYTES + 1)
    if len(content) > MAX_PLAN_BYTES:
        raise UnreadableRequestError(f"the plan has more than {MAX_PLAN_BYTES} bytes")
    parse_message_of_any_depth(plan.root if operation.op_type == operation.OP_TYPE_RELATION else plan.command, content)


def parse_message_of_any_depth(message: Message, content: bytes) -> None:
    """Fill a message from its bytes, also if it is nested more deeply than protobuf allows by default."""
    from google.protobuf.message import DecodeError

    try:
        message.ParseFromString(content)
    except DecodeError:
        if not _allow_deep_messages():
            raise
        message.ParseFromString(content)


def _allow_deep_messages() -> bool:
    """Lift protobuf's limit of 100 nested messages in this process; False if this protobuf has no such limit."""
    try:
        from google._upb import _message
    except ImportError:
        return False
    _message.SetAllowOversizeProtos(True)
    return True
