"""The lease that locks a lake on a file system without locks."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from colline.lake import lock
from colline.lake.lock import LakeBusyError


class StoreInMemory:
    """The files of a store whose first writes may fail."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.age = 0.0
        self.failures = 0
        self.renewed = threading.Event()

    def create(self, path: str, text: str) -> bool:
        return self.texts.setdefault(path, text) is text

    def write(self, path: str, text: str) -> None:
        if self.failures:
            self.failures -= 1
            raise OSError("503 slow down")
        self.texts[path] = text
        self.renewed.set()

    def read(self, path: str) -> str | None:
        return self.texts.get(path)

    def age_seconds(self, path: str) -> float | None:
        return self.age if path in self.texts else None

    def delete(self, path: str) -> None:
        self.texts.pop(path, None)


@pytest.fixture
def store() -> StoreInMemory:
    return StoreInMemory()


def _lease(store: StoreInMemory) -> Any:
    return lock._lease("s3a://bucket/lake/_colline/ingest.lock", cast("Any", store))


def test_a_lease_has_one_holder_and_is_deleted_at_the_end(store: StoreInMemory) -> None:
    with _lease(store):
        with pytest.raises(LakeBusyError, match=r"is being written by .* process"), _lease(store):
            pass
        assert store.texts
    assert not store.texts


def test_a_lease_that_was_not_renewed_is_taken_over(store: StoreInMemory) -> None:
    store.texts["s3a://bucket/lake/_colline/ingest.lock"] = "a machine that crashed"
    store.age = lock.LEASE_EXPIRY_SECONDS + 1
    with _lease(store):
        assert "crashed" not in next(iter(store.texts.values()))


def test_a_lease_is_renewed_after_the_store_has_failed(store: StoreInMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "LEASE_RENEWAL_SECONDS", 0.01)
    store.failures = 3
    with _lease(store):
        assert store.renewed.wait(30)
