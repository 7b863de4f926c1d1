"""Settings → implementations: the only room that picks which transport, which file system, which name."""

from __future__ import annotations

from colline.config.resolve import Resolved, resolve, settings_from, shown
from colline.config.settings import Settings
from colline.config.transport_factory import transport_from

__all__ = ["Resolved", "Settings", "resolve", "settings_from", "shown", "transport_from"]
