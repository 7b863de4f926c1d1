"""Loads lineage rules of other packages, once per process, from the entry point group `colline.rules`.

An entry point is a function with one parameter, a `colline.trace.rule_plugins.Extension`. If it raises, a warning is
logged. The rules that it registered before the error stay in use.
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
    """Register the rules of all packages. Returns the names of their entry points."""
    registered = []
    for point in entry_points(group=GROUP):
        try:
            point.load()(Extension())
        except Exception as error:  # noqa: BLE001 - an error in another package must not stop colline
            log.warning("cannot register the rules of `%s`: %r\nhint: update or remove that package", point.name, error)
            continue
        registered.append(point.name)
    return tuple(registered)
