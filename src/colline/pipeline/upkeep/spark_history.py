"""Reads expected runs from Spark's event logs (plain, compressed, rolling) and from a history server."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from colline.environment.hadoop_files import HadoopFiles
from colline.errors import SettingError
from colline.pipeline.delta_tables import empty
from colline.pipeline.upkeep.reconcile import EXPECTED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

APPLICATION_START = "SparkListenerApplicationStart"


def from_event_logs(spark: SparkSession, folder: str, scratch: str) -> DataFrame:
    """The applications in a folder of event logs.

    Spark's own reader opens them, so every codec and rolling logs work; the plain text is written to `scratch`, where
    it is read as lines.
    """
    from pyspark.sql import functions as F

    files = HadoopFiles(spark)
    if not files.exists(folder):
        raise SettingError(f"no event logs at {folder}", hint="give the folder that spark.eventLog.dir names")
    if not files.unpack_event_logs(folder, scratch):
        return empty(spark, EXPECTED)
    lines = spark.read.option("recursiveFileLookup", "true").text(scratch)
    event = "struct<`Event`:string,`App ID`:string,`App Name`:string,`Timestamp`:bigint>"
    starts = lines.where(F.col("value").contains(APPLICATION_START)).select(F.from_json("value", event).alias("e"))
    return starts.where(F.col("e.Event") == APPLICATION_START).select(
        F.col("e.`App ID`").alias("run"),
        F.col("e.`App Name`").alias("job"),
        F.timestamp_millis("e.Timestamp").alias("started"),
    )


def from_history_server(spark: SparkSession, url: str, timeout: float = 30.0) -> DataFrame:
    """The applications a Spark history server knows, by its REST API."""
    from pyspark.sql import functions as F

    if urlsplit(url).scheme not in {"http", "https"}:
        raise SettingError(f"{url} is not the address of a history server", hint="like http://host:18080")
    address = f"{url.rstrip('/')}/api/v1/applications"
    try:
        with urllib.request.urlopen(address, timeout=timeout) as answer:  # noqa: S310 (scheme is checked above)
            found: list[dict[str, Any]] = json.load(answer)
    except (urllib.error.URLError, TimeoutError, ValueError) as error:
        raise SettingError(f"cannot read {address}: {error}", hint="is it a Spark history server?") from error
    rows = [
        (app["id"], app.get("name"), min(int(a["startTimeEpoch"]) for a in app["attempts"]))
        for app in found
        if app.get("attempts")
    ]
    if not rows:
        return empty(spark, EXPECTED)
    frame = spark.createDataFrame(rows, "run string, job string, at bigint")
    return frame.select("run", "job", F.timestamp_millis("at").alias("started"))
