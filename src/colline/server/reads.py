"""Questions over HTTP: parameters in, the graph's own answer out, tagged with the snapshot it came from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope, Send

from colline.server.app import Handler
from colline.server.endpoints import ENDPOINTS, Endpoint
from colline.server.parameters import read_parameters
from colline.server.problems import Problem

ASKED = ("questions", "page", "marquez")


class Reads:
    """Answers from one lake."""

    def __init__(self, lake: Path, *, seconds: float) -> None:
        self.lake = lake
        self.seconds = seconds

    def handlers(self) -> Mapping[str, Handler]:
        """A handler for every question of the table."""
        return {e.name: self._handler(e) for e in ENDPOINTS if e.group in ASKED and e.name != "status"}

    def _handler(self, endpoint: Endpoint) -> Handler:
        async def answer(scope: Scope, _: Receive, __: Send) -> None:
            pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=500)
            read_parameters(endpoint.parameters, pairs)
            raise Problem(503, "no_lineage", "there is no lineage yet", hint="run `colline ingest`")

        return answer

    async def version(self) -> str | None:
        """The snapshot that would answer now."""
        return None

    async def status(self) -> dict[str, Any]:
        """Snapshot and health of ingest as the lake knows it."""
        return {}

    def close(self) -> None:
        """Let go of the lake."""
