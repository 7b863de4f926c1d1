"""A process that answers questions, so that a long walk never holds up the receiver, and several cores can walk.

The functions here run in the child. Only plain values cross: what to ask on the way in, bytes on the way out.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import pickle
import select
import signal
import socket
import struct
import traceback
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from colline.errors import CollineError
from colline.server.asking import Values, ask, encoded, problem_of
from colline.server.endpoints import BY_NAME, Endpoint
from colline.server.http_errors import Problem

if TYPE_CHECKING:
    from colline.graph import Lineage
    from colline.graph.traversal.records import View

_PACKED_FROM = 16 * 1024
_COLLECT = (100_000, 20, 20)
_WARM = 0.3  # seconds of work for a snapshot that is new here: its first thousand answers cost less then
_SLICE = 0.003  # seconds of it between two looks at whether somebody asks
_LOOK = 2.0  # seconds between two looks for a newer snapshot while nobody asks
ASKED = struct.Struct("!I")  # how long a question is
TOLD = struct.Struct("!Iq")  # how long what is told is, and the body of an answer after it; -1: there is none


class Asked(NamedTuple):
    """A question. Its values cross as they are: to pickle a named tuple goes through Python code."""

    name: str
    query: bytes
    values: Values
    known: str = ""  # the tags the asker has already
    packs: bool = False


class Found(NamedTuple):
    """What comes back, as a plain tuple with the body beside it. No body: the asker has it already."""

    version: str = ""
    etag: str | None = None
    packed: bool = False
    problem: dict[str, Any] | None = None
    body: bytes | None = None


class Fault(NamedTuple):
    """A fault in our code, told instead of an answer."""

    text: str


class _Lake:
    """The lake this process has open."""

    path: Path
    others: Mapping[str, Path]
    lineage: Lineage | None = None
    ready: View | None = None  # the snapshot whose words were read beforehand
    begun: View | None = None  # the one whose words are being read
    left: float = 0.0  # seconds of work that may still go into that
    health: tuple[str, Any] = ("", None)


def serve(lake: Path, others: Mapping[str, Path], line: socket.socket) -> None:
    """Answer what comes over the line until its other end is closed, however that went."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's to deal with
    _Lake.path, _Lake.others = lake, others
    with line, contextlib.suppress(OSError):
        while (asked := _asked(line)) is not None:
            _tell(line, _called(*asked))
            _prepare(line)


def _asked(line: socket.socket) -> Any:
    """The next call and its arguments, None at the end; while there is none, a newer snapshot is made ready."""
    while not _is_asked(line, _LOOK if _Lake.lineage is not None else None):
        _called("look", ())  # what is wrong is told to who asks next
        _prepare(line)
    head = line.recv(ASKED.size, socket.MSG_WAITALL)
    if len(head) < ASKED.size:
        return None
    return pickle.loads(line.recv(ASKED.unpack(head)[0], socket.MSG_WAITALL))  # noqa: S301 - our own parent wrote it


def _is_asked(line: socket.socket, seconds: float | None) -> bool:
    return bool(select.select([line], [], [], seconds)[0])


def _prepare(line: socket.socket) -> None:
    """Read what answers from a newer snapshot will need, as long as nobody asks."""
    if _Lake.lineage is None or _Lake.lineage.current_view is _Lake.ready:
        return
    _begin(_Lake.lineage.current_view)
    while not _is_asked(line, 0):
        if _is_ready(_Lake.lineage.current_view, _SLICE):
            return


def _begin(view: View) -> None:
    """Let the snapshot before go, which answers refer to in cycles, and have the system read the arrays of this one."""
    if _Lake.begun is not view:
        _Lake.begun, _Lake.left, _Lake.ready = view, _WARM, None
        gc.unfreeze()
        gc.collect()
        view.arrays.read_ahead()


def _is_ready(view: View, seconds: float) -> bool:
    """Read words for so long; whether that was all of them, or enough."""
    from colline.graph.traversal.json_rows import writing

    _Lake.left -= seconds
    if not writing(view).warm(seconds) and _Lake.left > 0:
        return False
    _Lake.ready = view
    # rows of answers are made by the thousand and hold no cycles: looking for some took a sixth of an answer's time
    gc.freeze()
    gc.set_threshold(*_COLLECT)
    return True


def _tell(line: socket.socket, found: Any) -> None:
    """Send what was found; the body of an answer as it is, beside the rest."""
    body: bytes | None = None
    if isinstance(found, Found):
        body, found = found.body, found[:-1]
    value = pickle.dumps(found, pickle.HIGHEST_PROTOCOL)
    head = TOLD.pack(len(value), -1 if body is None else len(body)) + value
    sent = line.sendmsg([head, body or b""])
    if sent < len(head) + len(body or b""):
        line.sendall((head + (body or b""))[sent:])


def _called(call: str, arguments: tuple[Any, ...]) -> Any:
    try:
        return _CALLS[call](*arguments)
    except Exception:  # noqa: BLE001 - the one catch-all of this process
        return Fault(traceback.format_exc())  # the server logs it; this process goes on


def answer(asked: Asked) -> Found:
    """The answer, or the problem as plain values: exceptions with arguments of their own do not cross."""
    try:
        return _answered(asked, BY_NAME[asked.name])
    except CollineError as error:
        problem = problem_of(error)
        return Found(problem={"status": problem.status, **problem.to_dict()})


def _answered(asked: Asked, endpoint: Endpoint) -> Found:
    lineage = _opened()
    cursor, version = asked.values.get("cursor"), ""
    if asked.known or cursor is not None or endpoint.group == "marquez":  # those answers do not say their snapshot
        version = lineage.view().version
        _check_cursor(cursor, version)
        etag = _lasting_tag(lineage, version, endpoint, asked.query)
        if etag is not None and etag in asked.known:
            return Found(version, etag)
    found = ask(lineage, endpoint, asked.values, _Lake.others)
    body = encoded(found)
    version = version if isinstance(found, dict) else found.snapshot
    packs = asked.packs and len(body) > _PACKED_FROM
    etag = _lasting_tag(lineage, version, endpoint, asked.query)
    return Found(version, etag, packs, body=_gzipped(body) if packs else body)


def _lasting_tag(lineage: Lineage, version: str, endpoint: Endpoint, query: bytes) -> str | None:
    """The tag, if the answer is the same until there is another snapshot: what is missing comes without one."""
    return etag_of(version, endpoint, query) if endpoint.lasting and lineage.missing is None else None


def status() -> dict[str, Any]:
    """Snapshot, its time, and health as the lake knows it; empty if there is no snapshot."""
    try:
        lineage = _opened()
        view = lineage.view()
        if _Lake.health[0] != view.version:
            _Lake.health = (view.version, lineage.overview().to_dict().get("health"))
    except CollineError:
        return {}
    return {"snapshot": view.version, "as_of": view.as_of(None), "health": _Lake.health[1]}


def look() -> None:
    """Open a newer snapshot, if one was published; commits that none has yet are looked for when somebody asks."""
    lineage = _opened()
    if lineage.has_newer:
        lineage.view()


def _opened() -> Lineage:
    if _Lake.lineage is None:
        from colline.graph import open_lake

        _Lake.lineage = open_lake(_Lake.path)
        view = _Lake.lineage.view()
        _begin(view)
        _is_ready(view, _WARM)
    return _Lake.lineage


def etag_of(version: str, endpoint: Endpoint, query: bytes) -> str:
    """The tag of an answer: the snapshot and the question."""
    asked = hashlib.blake2b(endpoint.path.encode() + b"?" + query, digest_size=8).hexdigest()
    return f'"{version}-{asked}"'


def _check_cursor(cursor: str | None, version: str) -> None:
    if cursor is not None and cursor.partition("~")[0] != version:
        hint = "ask again without the cursor"
        raise Problem(410, "bad_cursor", "newer lineage was published since the first page", hint=hint)


def _gzipped(body: bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(body) + packer.flush()


_CALLS: Mapping[str, Callable[..., Any]] = {
    "answer": lambda *asked: answer(Asked(*asked)),
    "status": status,
    "look": look,
}
