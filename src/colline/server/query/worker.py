"""What a worker process does: it opens the lake once, keeps it open, and answers queries from it.

The functions here run in worker processes (`workers.py`); a CollineError that they raise reaches the server.
"""

from __future__ import annotations

import gc
import hashlib
import signal
import threading
import time
import traceback
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from colline.errors import CollineError, DamagedSnapshotError
from colline.graph.queries.registry import REQUESTS, RequestForm
from colline.graph.queries.request_arguments import has_relative_time
from colline.lake.location import is_remote

if TYPE_CHECKING:
    from colline.graph import Lineage

MIN_GZIP_BYTES = 16 * 1024
SNAPSHOT_POLL_SECONDS = 2.0


class QueryRequest(NamedTuple):
    """A query: the name of its request form, the query string, and the arguments of the question's method."""

    name: str
    query: bytes
    arguments: dict[str, Any]
    known_etags: str = ""
    accepts_gzip: bool = False


class QueryResponse(NamedTuple):
    """An answer. `body` is None if the client has it already; `etag` is None if it must not be cached."""

    snapshot: str
    etag: str | None
    body: bytes | None = None
    is_gzipped: bool = False


class WorkerFaultError(Exception):
    """An unexpected error in a worker; the message is its traceback."""


class OpenedLake:
    """The lake of this process. A thread opens new snapshots, so that queries do not wait for it."""

    def __init__(self, path: str) -> None:
        from colline.graph import open_lake

        self.path = path
        self.lock = threading.Lock()
        self.lineage: Lineage = open_lake(path)
        self.lineage.view().arrays.read_ahead()
        self.health: tuple[str, Any] = ("", None)
        threading.Thread(target=self._follow_snapshots, daemon=True).start()

    def _follow_snapshots(self) -> None:
        while True:
            time.sleep(SNAPSHOT_POLL_SECONDS)
            try:
                with self.lock:
                    self._follow()
            except DamagedSnapshotError:
                _republish(self.path)
            except CollineError:
                continue  # the next query reports it

    def _follow(self) -> None:
        if self.lineage.has_damaged_snapshot:
            _republish(self.path)
        if self.lineage.has_newer:
            self.lineage.view().arrays.read_ahead()
            gc.collect()  # reference cycles keep the previous snapshot mapped


def _republish(lake: str) -> bool:
    from colline.graph.snapshot.staleness import republish

    return not is_remote(lake) and republish(Path(lake))


_opened: OpenedLake | None = None


def _open(path: str) -> OpenedLake:
    global _opened  # noqa: PLW0603  # one lake per process, kept between calls
    if _opened is None or _opened.path != path:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C and ends its workers
        _opened = OpenedLake(path)
    return _opened


def answer_query(lake: str, request: QueryRequest) -> QueryResponse:
    """Answers a query; only its own exception type crosses for an unexpected error, because any can be pickled."""
    try:
        try:
            return _answer_from(lake, request)
        except DamagedSnapshotError:
            if not _republish(lake):
                raise
            return _answer_from(lake, request)
    except CollineError:
        raise
    except Exception as error:
        raise WorkerFaultError(traceback.format_exc()) from error


def _answer_from(lake: str, request: QueryRequest) -> QueryResponse:
    opened = _open(lake)
    with opened.lock:
        return _answer(opened.lineage, request)


def _answer(lineage: Lineage, request: QueryRequest) -> QueryResponse:
    form = REQUESTS[request.name]
    if request.known_etags:
        snapshot = lineage.view().version
        etag = _etag(lineage, snapshot, form, request)
        if etag is not None and etag in request.known_etags:
            return QueryResponse(snapshot, etag)
    answer = getattr(lineage, form.question.name)(**request.arguments)
    body = answer.to_json()
    etag = _etag(lineage, answer.snapshot, form, request)
    if request.accepts_gzip and len(body) > MIN_GZIP_BYTES:
        return QueryResponse(answer.snapshot, etag, _gzip(body), is_gzipped=True)
    return QueryResponse(answer.snapshot, etag, body)


def _etag(lineage: Lineage, snapshot: str, form: RequestForm, request: QueryRequest) -> str | None:
    """The tag of the answer: snapshot and query. None if the same query may give another answer later."""
    if not form.question.is_cacheable or lineage.missing_commits is not None or "other" in request.arguments:
        return None
    if has_relative_time(form, parse_qsl(request.query.decode("ascii"))):
        return None
    query = hashlib.blake2b(form.path.encode() + b"?" + request.query, digest_size=8).hexdigest()
    return f'"{snapshot}-{query}"'


def _gzip(body: bytes) -> bytes:
    compressor = zlib.compressobj(1, zlib.DEFLATED, 31)
    return compressor.compress(body) + compressor.flush()


def lake_status(lake: str) -> dict[str, Any]:
    """The snapshot, its time, and the health of the lake; empty without a snapshot."""
    try:
        opened = _open(lake)
        with opened.lock:
            view = opened.lineage.view()
            if opened.health[0] != view.version:
                opened.health = (view.version, opened.lineage.overview().to_dict().get("health"))
    except CollineError:
        return {}
    return {"snapshot": view.version, "as_of": view.as_of(None), "health": opened.health[1]}
