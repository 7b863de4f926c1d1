"""When to retry a failed delivery: exponential back-off with jitter, and a circuit breaker."""

from __future__ import annotations

import random
from dataclasses import dataclass

_MAX_DOUBLINGS = 16


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to wait after a failure."""

    backoff_seconds: float = 0.3
    max_backoff_seconds: float = 10.0
    breaker_after: int = 5  # failures in a row that open the circuit
    breaker_seconds: float = 30.0
    max_breaker_seconds: float = 300.0


class CircuitBreaker:
    """Counts failures in a row. After `breaker_after` of them the circuit is open: the pauses become much longer."""

    def __init__(self, policy: RetryPolicy, rng: random.Random | None = None) -> None:
        self._policy = policy
        self._random = rng or random.Random()  # noqa: S311 - spreads retries over time; not used for security
        self.failures = 0

    @property
    def is_open(self) -> bool:
        """Whether the last `breaker_after` deliveries failed."""
        return self.failures >= self._policy.breaker_after

    def record_success(self) -> None:
        """Close the circuit."""
        self.failures = 0

    def record_failure(self, retry_after: float | None = None) -> float:
        """Seconds to wait before the next attempt, at least `retry_after`."""
        self.failures += 1
        wait = self._open_pause() if self.is_open else self._backoff()
        return max(wait, min(retry_after or 0.0, self._policy.max_breaker_seconds))

    def _backoff(self) -> float:
        longest = self._policy.backoff_seconds * 2.0 ** min(self.failures, _MAX_DOUBLINGS)
        return self._random.uniform(0, min(longest, self._policy.max_backoff_seconds))

    def _open_pause(self) -> float:
        doublings = min(self.failures - self._policy.breaker_after, _MAX_DOUBLINGS)
        pause = min(self._policy.breaker_seconds * 2.0**doublings, self._policy.max_breaker_seconds)
        return pause * self._random.uniform(0.9, 1.1)
