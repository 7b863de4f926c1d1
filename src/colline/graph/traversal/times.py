"""Converts between times as people write them and microseconds since 1970, as the arrays hold them."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from functools import lru_cache

from colline.errors import SettingError
from colline.flat.integer_arrays import NEVER, UNKNOWN
from colline.graph.relative_times import TIME_FORMS, read_time_text

When = str | datetime | date | None
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@lru_cache(maxsize=65_536)
def show_time(micros: int) -> str:
    """`2026-01-31T12:00:00Z`; a fraction only if it is not zero."""
    return (_EPOCH + timedelta(microseconds=int(micros))).isoformat().replace("+00:00", "Z")


def time_or_none(micros: int) -> str | None:
    """The time, or None if it is unknown or has not come."""
    return None if micros in (UNKNOWN, NEVER) else show_time(micros)


def parse_time(when: When) -> int | None:
    """Microseconds of an ISO time (UTC without an offset), a date (its first moment), `3d` ago; None means now."""
    if when is None or (isinstance(when, str) and when.strip().lower() in ("", "now")):
        return None
    if isinstance(when, str):
        try:
            when = read_time_text(when)
        except (ValueError, OverflowError):
            raise SettingError(f"{when!r} is not a time", hint=f"write {TIME_FORMS}") from None
    if not isinstance(when, datetime):
        when = datetime(when.year, when.month, when.day)
    moment = when if when.tzinfo else when.replace(tzinfo=timezone.utc)
    return int((moment - _EPOCH) / timedelta(microseconds=1))
