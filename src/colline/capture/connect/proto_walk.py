"""Walks the messages of Spark Connect's protocol, with a stack instead of recursion: plans can be very deep."""

from __future__ import annotations

from time import sleep
from typing import Any

_MESSAGES_WITHOUT_PAUSE = 500
# fields with positions in the user's program, which PySpark adds to every relation and expression
_POSITIONS = frozenset({"common", "origin"})
Message = Any  # google.protobuf.message.Message; its attributes follow from the protocol


def messages(root: Message) -> list[Message]:
    """The message and all messages in it, inner messages before the ones that contain them."""
    found: list[Message] = []
    stack = [root]
    while stack:
        message = stack.pop()
        found.append(message)
        if len(found) % _MESSAGES_WITHOUT_PAUSE == 0:
            sleep(0)  # lets other threads of the user's program continue
        for field, value in message.ListFields():
            if field.message_type is None or field.name in _POSITIONS:
                continue
            if hasattr(value, "DESCRIPTOR"):
                stack.append(value)
            else:  # a list, or a map whose values may be scalars
                items = value.values() if hasattr(value, "values") else value
                stack.extend(item for item in items if hasattr(item, "DESCRIPTOR"))
    found.reverse()
    return found


def type_name(message: Message) -> str:
    """The name of a message's type: `Relation`, `SaveTable`."""
    name: str = message.DESCRIPTOR.name
    return name


def relations(root: Message) -> list[Message]:
    """The relations in a message, inner relations first."""
    return [message for message in messages(root) if type_name(message) == "Relation"]


def modernize_sql(command: Message) -> None:
    """Put SQL text and its parameters into a relation, as since Spark 4. Before, they were fields of the command."""
    if "input" not in command.DESCRIPTOR.fields_by_name or command.HasField("input"):
        return
    old = type(command)()
    old.CopyFrom(command)
    command.Clear()
    sql: Any = command.input.sql
    sql.query = old.sql
    for name in ("args", "named_arguments"):
        source = getattr(old, name, {})
        for key in source:
            getattr(sql, name)[key].CopyFrom(source[key])
    for name in ("pos_args", "pos_arguments"):
        getattr(sql, name).extend(getattr(old, name, ()))
