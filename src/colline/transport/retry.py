"""When to try again: back-off with jitter, and a breaker that stops trying for a while after failures in a row."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait after a failure. Seconds everywhere."""

    backoff: float = 0.3
    backoff_limit: float = 10.0
    breaker_after: int = 5
    breaker_seconds: float = 30.0
    breaker_limit: float = 300.0


class Breaker:
    """Counts failures in a row; `open` means that a peer is left alone for longer than a back-off."""

    def __init__(self, patience: Patience, rng: random.Random | None = None) -> None:
        self._patience = patience
        self._random = rng or random.Random()  # noqa: S311 (spreads retries, guards nothing)
        self.failures = 0

    @property
    def is_open(self) -> bool:
        """True after `breaker_after` failures in a row."""
        return self.failures >= self._patience.breaker_after

    def succeeded(self) -> bool:
        """Back to normal; True when the breaker was open until now."""
        was_open, self.failures = self.is_open, 0
        return was_open

    def failed(self, retry_after: float | None = None) -> float:
        """Seconds to wait before the next try; never shorter than what the peer asked for."""
        self.failures += 1
        patience = self._patience
        if self.is_open:
            rests = min(self.failures - patience.breaker_after, 16)
            wait = min(patience.breaker_seconds * 2.0**rests, patience.breaker_limit)
            wait *= self._random.uniform(0.9, 1.1)
        else:
            wait = self._random.uniform(
                0, min(patience.backoff * 2.0 ** min(self.failures, 16), patience.backoff_limit)
            )
        return max(wait, min(retry_after or 0.0, patience.breaker_limit))
