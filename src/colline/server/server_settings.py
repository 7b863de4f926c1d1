"""What `colline serve` can be told, as one frozen value, and where its own files lie in a lake."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from colline.lake.layout import LANDING, RECEIVER_SPOOL, TOKENS
from colline.server.receive.group_commit import CommitLimits

MEGABYTE = 1024 * 1024
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Everything the server needs to know."""

    lake: Path
    host: str = "127.0.0.1"
    port: int = 5000
    needs_token: bool = False
    allowed_hosts: frozenset[str] = frozenset()
    cors_origins: tuple[str, ...] = ()
    max_body: int = 16 * MEGABYTE
    body_seconds: float = 30.0
    answer_seconds: float = 30.0
    max_requests: int = 1000
    readers: int = 2
    other_lakes: Mapping[str, Path] = field(default_factory=dict)
    ingest_seconds: float | None = None
    access_log: bool = True
    spool: CommitLimits = field(default_factory=CommitLimits)

    @property
    def spool_directory(self) -> Path:
        """Spool files that are not landed yet. Spark ignores folders with a leading underscore."""
        return self.lake / RECEIVER_SPOOL

    @property
    def landing(self) -> Path:
        """Where spool files are moved to."""
        return self.lake / LANDING

    @property
    def asks_for_token(self) -> bool:
        """Beyond loopback always; on loopback when told to."""
        return self.needs_token or not is_loopback(self.host)


def token_file(lake: Path) -> Path:
    """Where a lake's tokens are kept."""
    return lake / TOKENS


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
