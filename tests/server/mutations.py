"""Mutations of real events: values of wrong types, missing and unknown keys, odd texts and times. Seeded."""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("demo_events.ndjson.gz")
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 7.5, 2**70, 1e300, "", " ", "\t", "x", "\0", "\ud7ff", "\U0001f41f", "{}", "[]", "null", "NaN",
    [], {}, [None], [[]], [{}], {"a": 1}, {"": None}, "x" * 5000, [1, "a", None], {"facets": []},
)  # fmt: skip
TIMES = (
    "2026-03-02", "2026-03-02T12:04", "2026-03-02 12:04:00", "2026-03-02T12:04:00", "2026-03-02T12:04:00+0100",
    "2026-03-02T12:04:00+01", "2026-03-02T12:04:00z", "2026-03-02T24:00:00Z", "2026-03-02T12:04:60Z",
    "2026-02-30T00:00:00Z",
    "2026-03-02T12:04:00.1234567890123Z", "2026-03-02T12:04:00 Z", " 2026-03-02T12:04:00Z", "+2026-03-02T12:04:00Z",
    "2026-03-02T12:04:00-00:00", "2026-03-02T12:04:00+18:30", "2026-03-02T12:04:00+23:59", "1999-12-31T23:59:59Z",
    "2000-01-01T00:00:00Z", "1e9", "now", "today", "2026-W10-1", "2026-061", "20260302T120400Z", "2026-03-02t12:04:00Z",
)  # fmt: skip
PIECES = (
    b"\n", b"\r\n", b"\0", b"\xff", b"\xed\xa0\x80", b'"', b"\\", b"[", b"]" * 300, b"{" * 300, b"1e999", b"-",
    b"\\ud800", b"\xef\xbb\xbf", b"NaN", b",", b"/*", b"\xe2\x80\xa8", b"\x1b[2J",
)  # fmt: skip
EVENT_TYPES = ("start", " START", "COMPLETE ", "Complete", "DONE", "")


def recorded_events() -> list[dict[str, Any]]:
    """Events that a real Spark sent."""
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def portions(count: int) -> list[list[dict[str, Any]]]:
    """The recorded events in `count` portions, in their order."""
    events = recorded_events()
    size = -(-len(events) // count)
    return [events[start : start + size] for start in range(0, len(events), size)]


def mutated_events(seed: int, count: int) -> Iterator[bytes]:
    """Events with one to three mutations each, the same for the same seed."""
    chance, events = random.Random(seed), recorded_events()
    for _ in range(count):
        event = copy.deepcopy(chance.choice(events))
        for _ in range(chance.choice((1, 1, 2, 3))):
            _mutate(event, chance)
        yield json.dumps(event, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")


def mangled_texts(seed: int, count: int) -> Iterator[bytes]:
    """Texts of events with one to three changed, removed, repeated or inserted pieces of bytes."""
    chance, events = random.Random(seed), recorded_events()
    for _ in range(count):
        text = json.dumps(chance.choice(events)).encode()
        for _ in range(chance.choice((1, 1, 2, 3))):
            start = chance.randrange(len(text))
            end = min(len(text), start + chance.choice((0, 1, 1, 8, 200)))
            middle = chance.choice((b"", text[start:end] * 2, chance.randbytes(end - start), chance.choice(PIECES)))
            text = text[:start] + middle + text[end:] or b" x"
        yield text


def _mutate(event: dict[str, Any], chance: random.Random) -> None:
    if chance.random() < 0.15:
        event["eventTime"] = chance.choice(TIMES)
        return
    if chance.random() < 0.05:
        event["eventType"] = chance.choice(EVENT_TYPES)
        return
    container, key = chance.choice(list(_places(event)))
    action = chance.random()
    if action < 0.7:
        container[key] = copy.deepcopy(chance.choice(VALUES))
    elif action < 0.85:
        del container[key]
    elif isinstance(container, dict):
        container[chance.choice(("", "x", "facets", "fields", "_corrupt", key.upper(), f"{key} "))] = container.pop(key)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a value in an object or list."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])
