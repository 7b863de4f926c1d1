"""Times as people write them: `2026-11-17`, `2026-11-17T12:00:00Z`, `yesterday`, `2h`, `3d ago`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_AGO = re.compile(r"(\d{1,6})\s*(m|min|h|d|w)(?:\s+ago)?", re.ASCII)
_UNIT_SECONDS = {"m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_DAYS = {"today": 0, "yesterday": 1}
RELATIVE_PATTERN = "^(today|yesterday|[0-9]{1,6} ?(m|min|h|d|w)( ago)?)$"
TIME_FORMS = "2026-01-31, 2026-01-31T12:00:00Z, yesterday, or 2h for two hours ago"


def relative_time(text: str) -> datetime | None:
    """`2h` → two hours ago, `yesterday` → the start of that day in UTC; None if the text is not relative."""
    text = text.strip().lower()
    now = datetime.now(timezone.utc)
    if text in _DAYS:
        return now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=_DAYS[text])
    ago = _AGO.fullmatch(text)
    return now - timedelta(seconds=int(ago[1]) * _UNIT_SECONDS[ago[2]]) if ago else None


def read_time_text(text: str) -> datetime:
    """A relative or ISO time, in UTC without an offset; a ValueError for other text."""
    text = text.strip()
    found = relative_time(text)
    if found is not None:
        return found
    at = datetime.fromisoformat(text[:-1] + "+00:00" if text[-1:] in ("z", "Z") else text)
    return at.replace(tzinfo=timezone.utc) if at.tzinfo is None else at.astimezone(timezone.utc)
