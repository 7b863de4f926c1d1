"""Selects and groups captured events for assertions, or keeps none."""

from __future__ import annotations

from typing import Any

Event = dict[str, Any]


def query_events(events: list[Event]) -> list[Event]:
    """The events of queries, without those of the application."""
    return [event for event in events if event["job"]["facets"]["jobType"]["jobType"] != "APPLICATION"]


def run_states(events: list[Event]) -> list[tuple[str, list[str]]]:
    """For each run, in order: its job name and the states of its events."""
    runs: dict[str, tuple[str, list[str]]] = {}
    for event in query_events(events):
        runs.setdefault(event["run"]["runId"], (event["job"]["name"], []))[1].append(event["eventType"])
    return list(runs.values())


class Nowhere:
    """A transport that keeps nothing."""

    def emit(self, event: object) -> None:
        pass

    def flush(self, timeout: float) -> bool:
        return timeout >= 0

    def close(self, timeout: float = 0.0) -> None:
        pass
