"""When a run without a final event becomes unfinished."""

from __future__ import annotations

from datetime import timedelta

# a run whose last event is older will have no final event
UNFINISHED_AFTER = timedelta(hours=24)
