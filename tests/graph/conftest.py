"""The shop's lake, written once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from colline.graph import Lineage, open_lake
from colline.graph.snapshot.publish import publish
from tests.graph.graph_lakes import shop


@pytest.fixture(scope="session")
def shop_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = shop().write(tmp_path_factory.mktemp("shop") / "lake")
    publish(lake)
    return lake


@pytest.fixture
def lineage(shop_lake: Path) -> Iterator[Lineage]:
    with open_lake(shop_lake) as opened:
        yield opened
