"""Rules of third parties, found by the entry point group `colline.rules` and registered once in a process.

An entry point is a function that takes a `colline.trace.rule_plugins.Extension`. One that raises is logged with its
name and skipped: what it registered before stays, what it did not is an opaque step as before.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import entry_points

from colline.terminal_text import get_logger
from colline.trace.rule_plugins import Extension

log = get_logger("colline")

GROUP = "colline.rules"


@lru_cache(maxsize=1)
def load_rules() -> tuple[str, ...]:
    """The names of the extensions that were registered."""
    registered = []
    for point in entry_points(group=GROUP):
        try:
            point.load()(Extension())
        except Exception as error:  # noqa: BLE001  a stranger's package must not take ours with it
            log.warning(
                "the rules of `%s` were not registered: %r\nhint: update or remove that package", point.name, error
            )
            continue
        registered.append(point.name)
    return tuple(registered)
