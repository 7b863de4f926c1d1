"""The settings of `colline serve`, and where the server keeps its files in a lake."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from colline.lake.layout import FORWARD_OUTBOX, LANDING, RECEIVER_SPOOL, TOKENS
from colline.lake.location import is_remote
from colline.server.receive.group_commit import CommitLimits
from colline.transport.options import KafkaOptions

MEGABYTE = 1024 * 1024
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The settings of the server."""

    lake: Path  # the folder of the lake, or of the copy of a remote lake
    address: str | None = None  # of a remote lake
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
    max_held_bytes: int = 64 * MEGABYTE
    spool: CommitLimits = field(default_factory=CommitLimits)
    forward: KafkaOptions | None = None

    @property
    def source(self) -> str:
        """What questions are answered from: the path or the address of the lake."""
        return self.address or str(self.lake)

    @property
    def spool_directory(self) -> Path:
        """Received events that are not in landing yet. Spark ignores folders with a leading underscore."""
        return self.lake / RECEIVER_SPOOL

    @property
    def outbox(self) -> Path | None:
        """Landed files that are not forwarded yet; None if events are not forwarded."""
        return None if self.forward is None else self.lake / FORWARD_OUTBOX

    @property
    def landing(self) -> Path:
        """The folder for received events, read by `colline ingest`."""
        return self.lake / LANDING

    @property
    def requires_token(self) -> bool:
        """Whether requests need a token: always beyond loopback, on loopback with `--require-token`."""
        return self.needs_token or not is_loopback(self.host)


def server_folder(lake: str) -> Path:
    """The folder in which a server keeps its files: the lake, or on this machine the copy of a remote lake."""
    if not is_remote(lake):
        return Path(lake)
    from colline.graph.snapshot.remote_copy import RemoteLake

    return RemoteLake(lake).home


def token_file(lake: Path) -> Path:
    """The file with the tokens of a lake."""
    return lake / TOKENS


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
