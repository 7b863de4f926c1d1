"""What a watch told, as its tests look at it."""

from __future__ import annotations

from typing import Any

Event = dict[str, Any]


def of_queries(events: list[Event]) -> list[Event]:
    """The events of queries: all but the application's own."""
    return [event for event in events if event["job"]["facets"]["jobType"]["jobType"] != "APPLICATION"]


def pairs(events: list[Event]) -> list[tuple[str, list[str]]]:
    """Per run in order: its job and the states it went through."""
    found: dict[str, tuple[str, list[str]]] = {}
    for event in of_queries(events):
        found.setdefault(event["run"]["runId"], (event["job"]["name"], []))[1].append(event["eventType"])
    return list(found.values())
