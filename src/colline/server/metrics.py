"""Metrics in the text format of Prometheus. Labels come from the table of endpoints, so their number is bounded."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(slots=True)
class Timing:
    """A histogram of the durations of one endpoint."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS) + 1))
    total: float = 0.0


@dataclass(slots=True)
class Metrics:
    """Counters and histograms of HTTP requests."""

    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    timings: dict[str, Timing] = field(default_factory=dict)

    def count(self, name: str, method: str, status: int, seconds: float) -> None:
        """Counts a request."""
        self.requests[name, method, status] += 1
        timing = self.timings.get(name)
        if timing is None:
            timing = self.timings[name] = Timing()
        timing.buckets[bisect_left(_BOUNDS, seconds)] += 1
        timing.total += seconds

    def text(self, gauges: Mapping[str, tuple[str, str, float]]) -> str:
        """The metrics as text; `gauges` are name → (kind, help, value) of other modules."""
        return "".join(f"{line}\n" for line in (*self._requests(), *self._timings(), *_other_metrics(gauges)))

    def _requests(self) -> Iterable[str]:
        yield from _header_lines("colline_http_requests_total", "counter", "HTTP requests.")
        for (name, method, status), count in sorted(self.requests.items()):
            yield f'colline_http_requests_total{{endpoint="{name}",method="{method}",status="{status}"}} {count}'

    def _timings(self) -> Iterable[str]:
        yield from _header_lines("colline_http_request_seconds", "histogram", "Duration of HTTP requests.")
        for name, timing in sorted(self.timings.items()):
            count = 0
            for bound, bucket in zip((*_BOUNDS, "+Inf"), timing.buckets, strict=True):
                count += bucket
                yield f'colline_http_request_seconds_bucket{{endpoint="{name}",le="{bound}"}} {count}'
            yield f'colline_http_request_seconds_sum{{endpoint="{name}"}} {timing.total:.6f}'
            yield f'colline_http_request_seconds_count{{endpoint="{name}"}} {count}'


def _other_metrics(gauges: Mapping[str, tuple[str, str, float]]) -> Iterable[str]:
    for name, (kind, meaning, value) in gauges.items():
        yield from _header_lines(name, kind, meaning)
        yield f"{name} {value}"


def _header_lines(name: str, kind: str, meaning: str) -> tuple[str, str]:
    return f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"
