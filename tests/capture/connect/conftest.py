"""One resolver process for all tests of Spark Connect."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from colline.capture.connect.resolver.resolver_client import ResolverProcess, why_unavailable
from tests.capture.connect.remote_server import home_python


@pytest.fixture(scope="session")
def resolver() -> Iterator[ResolverProcess]:
    if home_python() is None and (reason := why_unavailable()):
        pytest.skip(reason)
    process = ResolverProcess(home_python())
    yield process
    process.close()
