"""The receiver and the pipeline accept the same events: nothing that was answered with 201 is quarantined."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.pipeline.ingest import ingest
from colline.pipeline.upkeep.quarantine import entries
from colline.server.receive.validate import as_line, fault_of
from tests.lakes import land
from tests.server.mutations import mutated_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]
COUNT = int(os.environ.get("COLLINE_MUTATIONS", "1500"))
SEED = int(os.environ.get("COLLINE_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)


def test_accepted_events_are_not_quarantined(spark: SparkSession, tmp_path: Path) -> None:
    print(f"COLLINE_SEED={SEED} COLLINE_MUTATIONS={COUNT}")
    accepted = [text for text in mutated_events(SEED, COUNT) if fault_of(text) is None]
    assert len(accepted) > COUNT // 20
    land(tmp_path, [as_line(text)[:-1] for text in accepted])
    ingest(str(tmp_path), spark=spark)
    refused = Counter((entry.reason, entry.detail) for entry in entries(str(tmp_path)))
    assert not refused, f"seed {SEED}: of {len(accepted)} accepted events these are quarantined: {refused}"
