"""The profiles of local Spark sessions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.environment import spark_session
from colline.environment.spark_session import (
    demo_profile,
    explain_profile,
    pipeline_profile,
    require_classic,
    session_for,
    start_session,
)
from colline.errors import LakeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def without_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_session, "_has_delta", lambda: False)


@pytest.mark.usefixtures("without_delta")
def test_missing_delta_is_an_error_with_a_hint(tmp_path: Path) -> None:
    for profile in (pipeline_profile(), demo_profile(tmp_path, None)):
        with pytest.raises(LakeError, match="delta-spark is not installed") as failed:
            start_session("never started", profile)
        assert failed.value.hint == "pip install 'colline[spark]'"


@pytest.mark.usefixtures("without_delta")
def test_explain_needs_no_delta(tmp_path: Path) -> None:
    profile = explain_profile(tmp_path)
    assert not profile.needs_delta
    assert not [key for key in profile.settings if "delta" in key or "extensions" in key]


def test_collector_of_the_user_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:+UseG1GC")
    for profile in (pipeline_profile(), explain_profile(tmp_path), demo_profile(tmp_path, None)):
        assert "UseParallelGC" not in str(profile.java_options)
        assert "UseSerialGC" not in str(profile.java_options)


def test_demo_writes_an_event_log_only_when_given_a_folder(tmp_path: Path) -> None:
    logged, unlogged = demo_profile(tmp_path, tmp_path / "events"), demo_profile(tmp_path, None)
    assert logged.settings["spark.eventLog.dir"] == (tmp_path / "events").as_uri()
    assert unlogged.settings["spark.eventLog.enabled"] == "false"


def test_thread_uses_the_session_of_the_process_and_changes_no_setting(spark: SparkSession) -> None:
    before = dict(spark.conf.getAll)
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(session_for).result()
    assert found.sparkContext.applicationId == spark.sparkContext.applicationId
    assert dict(spark.conf.getAll) == before


def test_session_of_spark_connect_cannot_write_a_lake() -> None:
    client = pytest.importorskip("pyspark.sql.connect.session").SparkSession
    with pytest.raises(LakeError, match="cannot be written over Spark Connect") as failed:
        require_classic(object.__new__(client))
    assert "dedicated cluster" in (failed.value.hint or "")
