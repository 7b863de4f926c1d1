"""The shop's lake, and the lake of the demo's recorded events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.contracts.table_facts import FactsReader
from colline.graph import open_lake
from colline.graph.snapshot.publish import publish
from tests.graph.graph_lakes import LakeWriter, shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def shop_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return publish_lake(shop(), tmp_path_factory.mktemp("contracts") / "lake")


@pytest.fixture
def reader(shop_lake: Path) -> Iterator[FactsReader]:
    with open_lake(shop_lake) as lineage:
        yield FactsReader(lineage)


def publish_lake(lake: LakeWriter, folder: Path) -> Path:
    """The lake as a folder, with a snapshot."""
    lake.write(folder)
    publish(folder)
    return folder


@pytest.fixture(scope="session")
def demo_lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with the recorded events of `colline demo`, ingested with the demo's rules."""
    from colline.cli.operate.ingest import pipeline_options
    from colline.demo.runner import SETTINGS
    from colline.pipeline.ingest import ingest
    from tests.lakes import land
    from tests.server.demo_events import demo_events

    lake = tmp_path_factory.mktemp("contracts") / "demo"
    land(lake, demo_events())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLLINE_CONFIG", str(SETTINGS))
        ingest(str(lake), spark=spark, options=pipeline_options())
    return lake
