"""Reads the settings from all sources, and creates the transport that they describe."""

from __future__ import annotations

from colline.config.resolve import ResolvedSettings, describe_settings, resolve, settings_from
from colline.config.settings import Settings
from colline.config.transport_factory import transport_from

__all__ = ["ResolvedSettings", "Settings", "describe_settings", "resolve", "settings_from", "transport_from"]
