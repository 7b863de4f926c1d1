"""Validates OpenLineage events before they are accepted, by the schema with which the pipeline reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw, UnsetType

from colline.events.json_structure import event_type

MAXIMUM_DEPTH = 200  # producers stay far below; the stack of a parser allows more
EARLIEST_EVENT = datetime(2000, 1, 1, tzinfo=timezone.utc)
MAX_UTC_OFFSET = timedelta(hours=18)  # as in Spark
MAX_CLOCK_ERROR = timedelta(days=366)
_DEPTH_CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a text, and where: `path` is `$` for the whole."""

    path: str
    reason: str


_TOO_DEEP = Fault("$", f"nested deeper than {MAXIMUM_DEPTH}")
_decode_event = msgspec.json.Decoder(event_type()).decode
_decode_array = msgspec.json.Decoder(list[Raw]).decode
_MESSAGE = re.compile(r"^(?P<reason>.*?)(?: - at `(?:key in )?(?P<path>\$.*)`)?$", re.DOTALL)
_LINE_BREAKS_TO_SPACES = bytes.maketrans(b"\r\n", b"  ")


def fault_of(text: bytes) -> Fault | None:
    """What is wrong with the text of one event; None if it is valid."""
    try:
        if not text.isascii():
            text.decode()
        event = _decode_event(text)
    except UnicodeDecodeError as error:
        return Fault("$", f"not UTF-8 at byte {error.start}")
    except RecursionError:
        return _TOO_DEEP
    except msgspec.DecodeError as error:
        return _fault_from(error)
    return _content_fault(event) or (_TOO_DEEP if nesting_depth(text) > MAXIMUM_DEPTH else None)


def _fault_from(error: msgspec.DecodeError) -> Fault:
    found = _MESSAGE.match(str(error))
    assert found is not None
    return Fault(found["path"] or "$", found["reason"])


def _content_fault(event: Any) -> Fault | None:
    try:
        time = msgspec.convert(event.eventTime, datetime)
    except msgspec.ValidationError as error:
        return Fault("$.eventTime", str(error))
    if abs(time.utcoffset() or timedelta()) > MAX_UTC_OFFSET:
        return Fault("$.eventTime", "more than 18 hours from UTC")
    time = time if time.tzinfo else time.replace(tzinfo=timezone.utc)
    if not EARLIEST_EVENT <= time <= datetime.now(timezone.utc) + MAX_CLOCK_ERROR:
        return Fault("$.eventTime", "before 2000, or more than a year ahead")
    has = {name: not isinstance(getattr(event, name), UnsetType | None) for name in ("run", "job", "dataset")}
    if has["run"] and not has["job"]:
        return Fault("$.job", "a run event needs a job")
    if not any(has.values()):
        return Fault("$", "an event needs `run` and `job`, or `job`, or `dataset`")
    return None


def nesting_depth(text: bytes) -> int:
    """How deep objects and lists of a valid JSON text are nested, in one pass over it.

    The scan uses numpy, which releases the interpreter lock: a large body in a thread does not stop the event loop.
    """
    if text.count(b"{") + text.count(b"[") <= MAXIMUM_DEPTH:
        return 0
    unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    deepest = depth = 0
    is_in_string = False
    for start in range(0, len(unescaped), _DEPTH_CHUNK_BYTES):
        chunk = np.frombuffer(unescaped, np.uint8, min(_DEPTH_CHUNK_BYTES, len(unescaped) - start), start)
        quotes = np.cumsum(chunk == ord('"'), dtype=np.int32)
        is_outside = (quotes + is_in_string) % 2 == 0
        opens = (chunk == ord("{")) | (chunk == ord("["))
        closes = (chunk == ord("}")) | (chunk == ord("]"))
        depths = depth + np.cumsum((opens & is_outside).astype(np.int8) - (closes & is_outside), dtype=np.int32)
        deepest, depth = max(deepest, int(depths.max())), int(depths[-1])
        is_in_string = bool((quotes[-1] + is_in_string) % 2)
    return deepest


def as_line(text: bytes, fault: Fault | None = None) -> bytes:
    """The text as one line of a landing file, with its line end.

    In valid JSON a line break is between two tokens, so a space has the same meaning. A rejected text is wrapped in an
    object that no reader accepts as an event, together with the reason.
    """
    if fault is None:
        return (text.translate(_LINE_BREAKS_TO_SPACES) if b"\n" in text or b"\r" in text else text) + b"\n"
    kept = {"path": fault.path, "reason": fault.reason, "text": text.decode(errors="backslashreplace")}
    return msgspec.json.encode({"colline_refused": kept}) + b"\n"


def events_in(body: bytes) -> list[bytes] | Fault:
    """The texts of a batch: the elements of a JSON array, or the lines that are not blank."""
    if body.lstrip()[:1] != b"[":
        return [line for line in body.replace(b"\r\n", b"\n").split(b"\n") if line.strip()]
    try:
        return [bytes(raw) for raw in _decode_array(body)]
    except RecursionError:
        return _TOO_DEEP
    except msgspec.DecodeError as error:
        return _fault_from(error)
