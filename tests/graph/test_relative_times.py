"""Times as people write them, in Python, the CLI, REST and MCP."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from colline.errors import SettingError
from colline.graph.queries.registry import REQUESTS
from colline.graph.queries.request_arguments import ParameterError, has_relative_time, read_arguments
from colline.graph.relative_times import read_time_text
from colline.graph.traversal.times import parse_time

UTC = timezone.utc


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-17", datetime(2026, 11, 17, tzinfo=UTC)),
        ("2026-11-17T12:30:00Z", datetime(2026, 11, 17, 12, 30, tzinfo=UTC)),
        (" 2026-11-17T12:30:00+02:00 ", datetime(2026, 11, 17, 10, 30, tzinfo=UTC)),
    ],
)
def test_absolute_times(text: str, expected: datetime) -> None:
    assert read_time_text(text) == expected
    [at] = [read_arguments(REQUESTS["coverage"], [("as_of", text.strip())])["as_of"]]
    assert at == expected


@pytest.mark.parametrize(("text", "ago"), [("2h", 7200), ("3d ago", 3 * 86400), ("15 min", 900), ("1W", 604800)])
def test_relative_times(text: str, ago: int) -> None:
    expected = datetime.now(UTC) - timedelta(seconds=ago)
    assert abs(read_time_text(text) - expected) < timedelta(minutes=1)
    found = read_arguments(REQUESTS["coverage"], [("as_of", text)])["as_of"]
    assert abs(found - expected) < timedelta(minutes=1)
    assert has_relative_time(REQUESTS["coverage"], [("as_of", text)])


def test_yesterday_is_the_start_of_the_day_before() -> None:
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    assert today - read_time_text("yesterday") in (timedelta(days=1), timedelta(days=2))  # midnight may pass meanwhile
    assert parse_time("yesterday") is not None
    assert not has_relative_time(REQUESTS["coverage"], [("as_of", "2026-01-01"), ("job", "2h")])


@pytest.mark.parametrize("text", ["yesterdayish", "2026-13-01", "h", "9999999999999d", "", "-1h"])
def test_other_text_is_an_error_with_a_hint(text: str) -> None:
    with pytest.raises(ParameterError, match="as_of"):
        read_arguments(REQUESTS["coverage"], [("as_of", text)])
    if text:
        with pytest.raises(SettingError, match="is not a time") as raised:
            parse_time(text)
        assert "yesterday" in str(raised.value.hint)
