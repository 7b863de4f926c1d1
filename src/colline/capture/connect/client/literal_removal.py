"""Replaces the literals of a recorded plan by neutral ones of the same type, for events with redacted literals.

Lineage does not depend on the value of a literal. Where Spark needs the value to analyze the plan, as in the schema of
`from_json`, the plan can no longer be analyzed, and its columns are unknown.
"""

from __future__ import annotations

import re

import msgspec

from colline.capture.connect.client.plan_stripping import parse_message_of_any_depth
from colline.capture.connect.client.session_definitions import TEXT_FIELDS
from colline.capture.connect.proto_walk import Message, messages, type_name
from colline.capture.connect.recorded_plan import RecordedPlan

_TOKEN = re.compile(
    r"""
    (?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
  | (?P<name>`(?:[^`]|``)*`|[^\W\d]\w*)
  | (?P<text>'(?:[^'\\]|\\.|'')*(?:'|\\?\Z)|"(?:[^"\\]|\\.|"")*(?:"|\\?\Z))
  | (?P<number>\d[\d.]{3,}\w*)
    """,
    re.VERBOSE | re.DOTALL,
)
_DATED = re.compile(r"\b(date|timestamp\w*)\s*\Z", re.IGNORECASE)
_NUMBERS = ("integer", "long", "short", "byte", "double", "float", "date", "timestamp", "timestamp_ntz")
_NEUTRAL_VALUES = {"string": "?", "binary": b"", **dict.fromkeys(_NUMBERS, 0)}


def without_literals(recorded: RecordedPlan) -> RecordedPlan:
    """The recorded plan without the values of its literals."""
    return msgspec.structs.replace(
        recorded,
        plan=_neutral_plan(recorded.plan),
        earlier=tuple(msgspec.structs.replace(each, plan=_neutral_plan(each.plan)) for each in recorded.earlier),
        tables=tuple(
            msgspec.structs.replace(table, view_text=neutral_sql(table.view_text)) for table in recorded.tables
        ),
    )


def neutral_sql(sql: str) -> str:
    """`where name = 'Ann' and account = 41111111` → `where name = '?' and account = 0`; short numbers stay."""
    parts, end = [], 0
    for token in _TOKEN.finditer(sql):
        parts.append(sql[end : token.start()])
        parts.append(_neutral_token(token, sql))
        end = token.end()
    return "".join((*parts, sql[end:]))


def _neutral_token(token: re.Match[str], sql: str) -> str:
    if token["name"] is not None:
        return token["name"]
    if token["comment"] is not None:
        return " "
    if token["number"] is not None:
        return "0"
    return "'1970-01-01'" if _DATED.search(sql[max(token.start() - 30, 0) : token.start()]) else "'?'"


def _neutral_plan(content: bytes) -> bytes:
    from pyspark.sql.connect.proto import base_pb2

    plan = base_pb2.Plan()
    parse_message_of_any_depth(plan, content)
    for message in messages(plan):
        _remove(message)
    neutral: bytes = plan.SerializeToString()
    return neutral


def _remove(message: Message) -> None:
    name = type_name(message)
    if name == "Literal":
        kind = message.WhichOneof("literal_type")
        if kind in _NEUTRAL_VALUES:
            setattr(message, kind, _NEUTRAL_VALUES[kind])
    elif name in ("SQL", "SqlCommand", "ExpressionString"):
        field = TEXT_FIELDS[name]
        setattr(message, field, neutral_sql(getattr(message, field)))
