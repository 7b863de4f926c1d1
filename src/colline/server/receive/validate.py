"""Validates OpenLineage events before they are accepted, by the schema with which the pipeline reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import islice
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw, UnsetType
from numpy.typing import NDArray

from colline.events.json_structure import event_type

MAXIMUM_DEPTH = 200  # producers stay far below; the stack of a parser allows more
EARLIEST_EVENT = datetime(2000, 1, 1, tzinfo=timezone.utc)
MAX_UTC_OFFSET = timedelta(hours=18)  # as in Spark
MAX_CLOCK_ERROR = timedelta(days=366)
# A value of two bytes can take a hundred in memory. An event of 16 MB from a real producer has about a million values.
MAX_VALUES = 1_250_000
_SCAN_CHUNK_BYTES = 1024 * 1024
# Escaping makes binary data up to six times larger: beyond this size it is kept as Base64.
_MAX_ESCAPED_BYTES = 128 * 1024
_TEXT_BYTES = bytes({9, 10, 13, *range(0x20, 0x7F), *range(0x80, 0x100)})


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a text, and where: `path` is `$` for the whole."""

    path: str
    reason: str


_TOO_DEEP = Fault("$", f"nested deeper than {MAXIMUM_DEPTH}")
_TOO_MANY_VALUES = Fault("$", f"more than {MAX_VALUES} values")
_decode_event = msgspec.json.Decoder(event_type()).decode
_encode_lines = msgspec.json.Encoder().encode_lines  # bytes become Base64
_decode_array = msgspec.json.Decoder(list[Raw]).decode
_MESSAGE = re.compile(r"^(?P<reason>.*?)(?: - at `(?:key in )?(?P<path>\$.*)`)?$", re.DOTALL)
_LINE = re.compile(rb"^[ \t\r\f\v]*[^\s][^\n]*", re.MULTILINE)
_LINE_BREAKS_TO_SPACES = bytes.maketrans(b"\r\n", b"  ")


def fault_of(text: bytes) -> Fault | None:
    """What is wrong with the text of one event; None if it is valid."""
    if _has_more_values(text, MAX_VALUES):
        return _TOO_MANY_VALUES
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
    """How deep objects and lists of a valid JSON text are nested."""
    if text.count(b"{") + text.count(b"[") <= MAXIMUM_DEPTH:
        return 0
    return max(int(depths.max()) for _, depths in _scan(text))


def has_more_elements(array: bytes, limit: int) -> bool:
    """Whether a JSON array has more elements than this; of invalid JSON, as far as it is valid."""
    if array.count(b",") < limit:
        return False
    commas = sum(int(np.count_nonzero((chunk == ord(",")) & (depths == 1))) for chunk, depths in _scan(array))
    return commas >= limit


def _has_more_values(text: bytes, limit: int) -> bool:
    """Whether a JSON text has more commas and objects than this, outside of strings.

    Each value that takes memory has one of them: no list of an event that is read is directly in another list.
    """
    if text.count(b",") + text.count(b"{") <= limit:
        return False
    found = sum(int(np.count_nonzero((chunk == ord(",")) | (chunk == ord("{")))) for chunk, _ in _scan(text))
    return found > limit


def _scan(text: bytes) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int32]]]:
    """The bytes of a JSON text, in chunks, with the depth at each byte; bytes in strings are 0.

    The scan uses numpy, which releases the interpreter lock: a large body in a thread does not stop the event loop.
    """
    unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    depth, is_in_string = 0, False
    for start in range(0, len(unescaped), _SCAN_CHUNK_BYTES):
        chunk = np.frombuffer(unescaped, np.uint8, min(_SCAN_CHUNK_BYTES, len(unescaped) - start), start)
        quotes = np.cumsum(chunk == ord('"'), dtype=np.int32)
        outside = np.where((quotes + is_in_string) % 2 == 0, chunk, np.uint8(0))
        opens = ((outside == ord("{")) | (outside == ord("["))).astype(np.int8)
        closes = (outside == ord("}")) | (outside == ord("]"))
        depths = depth + np.cumsum(opens - closes, dtype=np.int32)
        yield outside, depths
        depth = int(depths[-1])
        is_in_string = bool((quotes[-1] + is_in_string) % 2)


def as_line(text: bytes, fault: Fault | None = None) -> bytes:
    """The text as one line of a landing file, with its line end.

    In valid JSON a line break is between two tokens, so a space has the same meaning. A rejected text is wrapped in an
    object that no reader accepts as an event, together with the reason.
    """
    if fault is None:
        return (text.translate(_LINE_BREAKS_TO_SPACES) if b"\n" in text or b"\r" in text else text) + b"\n"
    kept = {"path": fault.path, "reason": fault.reason, **_kept_content(text)}
    return _encode_lines([{"colline_refused": kept}])


def _kept_content(text: bytes) -> dict[str, str | bytes]:
    """A rejected text as the value of `text`, or of `base64` if it is large and not text."""
    if len(text) > _MAX_ESCAPED_BYTES and not _is_text(text):
        return {"base64": text}
    return {"text": text.decode(errors="backslashreplace")}


def _is_text(content: bytes) -> bool:
    """Whether the content is UTF-8 with few control characters."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return len(content.translate(None, _TEXT_BYTES)) * 100 < len(content)


def events_in(body: bytes, limit: int) -> list[bytes] | Fault | None:
    """The texts of a batch: the elements of a JSON array, or the lines that are not blank; None for more than `limit`.

    They are counted before they are taken apart, because a body of 16 MB may have millions.
    """
    if body.lstrip()[:1] != b"[":
        lines = [line[0].removesuffix(b"\r") for line in islice(_LINE.finditer(body), limit + 1)]
        return lines if len(lines) <= limit else None
    if has_more_elements(body, limit):
        return None
    try:
        return [bytes(raw) for raw in _decode_array(body)]
    except RecursionError:
        return _TOO_DEEP
    except msgspec.DecodeError as error:
        return _fault_from(error)
