"""Is this text an OpenLineage event? What is read later is checked now; facets nobody reads are only skipped over."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from colline.events.lineage_facets import ColumnLineageFacet

MAXIMUM_DEPTH = 200  # deeper than any event a producer makes; far from what a parser's stack can bear
_FIRST = datetime(2000, 1, 1, tzinfo=timezone.utc)
_AHEAD = timedelta(days=366)  # a clock may be wrong, but not by a year

Name = Annotated[str, Meta(pattern="[^ ]")]
Facets = dict[str, Raw] | None | UnsetType


class ReceivedSchemaField(Struct, gc=False):
    """One column of a schema, with its members."""

    name: str
    type: str | None = None
    fields: list[ReceivedSchemaField] | None = None


class ReceivedSchema(Struct, gc=False):
    """The schema facet; a producer that knows no schema sends none or null."""

    fields: list[ReceivedSchemaField] | None = None


class ReceivedSymlink(Struct, gc=False):
    """Another name of a dataset."""

    namespace: str
    name: str
    type: str | None = None


class ReceivedSymlinks(Struct, gc=False):
    """The symlinks facet."""

    identifiers: list[ReceivedSymlink] | None = None


class ReceivedDatasetFacets(Struct, gc=False, rename="camel"):
    """The dataset facets that lineage is made of."""

    schema: ReceivedSchema | None = None
    column_lineage: ColumnLineageFacet | None = None
    symlinks: ReceivedSymlinks | None = None


class ReceivedDataset(Struct, gc=False, rename="camel"):
    """An input or output."""

    namespace: Name
    name: Name
    facets: ReceivedDatasetFacets | None = None
    input_facets: Facets = UNSET
    output_facets: Facets = UNSET


class ReceivedRun(Struct, gc=False, rename="camel"):
    """A run; the specification wants a UUID, some producers send another key."""

    run_id: Name
    facets: Facets = UNSET


class ReceivedJob(Struct, gc=False):
    """A job."""

    namespace: Name
    name: Name
    facets: Facets = UNSET


EventType = Literal["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]


class ReceivedEvent(Struct, gc=False, rename="camel"):
    """A run event, a dataset event or a job event."""

    event_time: datetime
    producer: str | None = None
    schema_url: str | None = field(default=None, name="schemaURL")
    event_type: EventType | None = None
    run: ReceivedRun | None = None
    job: ReceivedJob | None = None
    dataset: ReceivedDataset | None = None
    inputs: list[ReceivedDataset] | None = None
    outputs: list[ReceivedDataset] | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a text, and where: `path` is `$` for the whole."""

    path: str
    reason: str


_decode = msgspec.json.Decoder(ReceivedEvent).decode
_split = msgspec.json.Decoder(list[Raw]).decode
_PLACE = re.compile(r"^(?P<reason>.*?)(?: - at `(?:key in )?(?P<path>\$.*)`)?$", re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_BREAKS = bytes.maketrans(b"\r\n", b"  ")


def fault_of(text: bytes) -> Fault | None:
    """What is wrong with one event's text; None if it is an event."""
    try:
        if not text.isascii():
            text.decode()
        event = _decode(text)
    except UnicodeDecodeError as error:
        return Fault("$", f"not UTF-8 at byte {error.start}")
    except RecursionError:
        return Fault("$", f"nested deeper than {MAXIMUM_DEPTH}")
    except msgspec.DecodeError as error:
        return _placed(str(error))
    return _incomplete(event) or (Fault("$", f"nested deeper than {MAXIMUM_DEPTH}") if is_deep(text) else None)


def _placed(message: str) -> Fault:
    found = _PLACE.match(message)
    assert found is not None
    return Fault(found["path"] or "$", found["reason"])


def _incomplete(event: ReceivedEvent) -> Fault | None:
    """The key that is missing from this kind of event, or the time it cannot have, if there is one."""
    at = event.event_time if event.event_time.tzinfo else event.event_time.replace(tzinfo=timezone.utc)
    if not _FIRST <= at <= datetime.now(timezone.utc) + _AHEAD:
        return Fault("$.eventTime", "before 2000, or more than a year ahead")
    if event.run is not None and event.job is None:
        return Fault("$.job", "a run event needs a job")
    if event.run is None and event.job is None and event.dataset is None:
        return Fault("$", "an event needs `run` and `job`, or `job`, or `dataset`")
    return None


def is_deep(text: bytes) -> bool:
    """Whether brackets nest deeper than MAXIMUM_DEPTH.

    Each pass takes away the innermost pairs, so n passes empty anything at most n deep. Brackets inside strings can
    leave a rest; only then the text is decoded to be sure.
    """
    rest = text.translate(None, _NOT_BRACKETS)
    for _ in range(MAXIMUM_DEPTH):
        if not rest:
            return False
        before, rest = len(rest), rest.replace(b"{}", b"").replace(b"[]", b"")
        if len(rest) == before:
            break
    return bool(rest) and _depth(msgspec.json.decode(text)) > MAXIMUM_DEPTH


def _depth(value: Any) -> int:
    """How deep a decoded value nests, without recursion."""
    level, depth = [value], 0
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [child for item in level for child in (item.values() if isinstance(item, dict) else item)]
    return depth


def as_line(text: bytes, fault: Fault | None = None) -> bytes:
    """The text as one line of a landing file, with its line end.

    A line break in sound JSON stands between tokens, so a space means the same. What was refused is put, whole, into an
    object that is no event: whoever reads it later, and however kindly, sets it aside too, and finds out why.
    """
    if fault is None:
        return (text.translate(_BREAKS) if b"\n" in text or b"\r" in text else text) + b"\n"
    kept = {"path": fault.path, "reason": fault.reason, "text": text.decode(errors="backslashreplace")}
    return msgspec.json.encode({"colline_refused": kept}) + b"\n"


def events_in(body: bytes) -> list[bytes] | Fault:
    """The texts of a batch: the members of a JSON array, or the lines that are not blank."""
    if body.lstrip()[:1] != b"[":
        return [line for line in body.replace(b"\r\n", b"\n").split(b"\n") if line.strip()]
    try:
        return [bytes(raw) for raw in _split(body)]
    except RecursionError:
        return Fault("$", f"nested deeper than {MAXIMUM_DEPTH}")
    except msgspec.DecodeError as error:
        return _placed(str(error))
