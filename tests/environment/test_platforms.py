"""Platforms, the names that jobs have there, and `colline doctor --platform`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from colline.environment.platforms import PLATFORMS, find_platform, notebook_runtime, spark_defaults

DATABRICKS = {
    "spark.databricks.clusterUsageTags.clusterId": "1118-abc",
    "spark.databricks.clusterUsageTags.clusterName": "nightly",
    "spark.databricks.workspaceUrl": "adb-1.azuredatabricks.net",
}


@pytest.mark.parametrize(
    ("conf", "environ", "runtime", "platform", "job", "tags"),
    [
        ({}, {}, {}, None, None, {}),
        ({**DATABRICKS, "spark.databricks.notebook.path": "/Repos/orders"}, {}, {}, "Databricks", "/Repos/orders",
         {"databricks_cluster_id": "1118-abc", "databricks_cluster_name": "nightly",
          "databricks_workspace": "adb-1.azuredatabricks.net"}),
        ({"spark.databricks.job.name": "daily", "spark.databricks.job.id": "42", "spark.databricks.job.runId": "99"},
         {"DATABRICKS_RUNTIME_VERSION": "16.4"}, {}, "Databricks", "daily",
         {"databricks_job_id": "42", "databricks_run_id": "99"}),
        ({"trident.workspace.id": "w1", "trident.lakehouse.name": "sales", "trident.artifact.name": "main"},
         {}, {}, "Microsoft Fabric", "main",
         {"fabric_workspace": "w1", "fabric_workspace_id": "w1", "fabric_lakehouse": "sales"}),
        # a child of runMultiple: the properties have the notebook that started it
        ({"trident.workspace.id": "w1", "spark.synapse.context.notebookname": "main"}, {},
         {"currentNotebookName": "child", "rootNotebookName": "main", "currentWorkspaceName": "Sales"},
         "Microsoft Fabric", "child",
         {"fabric_workspace": "Sales", "fabric_workspace_id": "w1", "fabric_started_by": "main"}),
        ({"spark.synapse.workspace.name": "ws", "spark.synapse.context.activityname": "copy",
          "spark.synapse.context.pipelinejobid": "p1"}, {}, {}, "Azure Synapse", "copy",
         {"synapse_workspace": "ws", "synapse_pipeline_run": "p1"}),
        ({"spark.glue.JOB_NAME": "load", "spark.glue.JOB_RUN_ID": "jr_1"}, {}, {}, "AWS Glue", "load",
         {"glue_run_id": "jr_1"}),
        ({}, {"SERVERLESS_EMR_JOB_ID": "00f", "SERVERLESS_EMR_VIRTUAL_CLUSTER_ID": "app"}, {}, "EMR Serverless", None,
         {"emr_job_id": "00f", "emr_application_id": "app"}),
        ({"spark.yarn.tags": "dataproc_hash_1, dataproc_job_orders-2026,dataproc_uuid_3"}, {}, {}, "Dataproc",
         "orders-2026", {"dataproc_job_id": "orders-2026"}),
        ({"spark.yarn.tags": "livy-session-1"}, {"EMR_CLUSTER_ID": "j-1"}, {}, "Amazon EMR", None,
         {"emr_cluster_id": "j-1"}),
        ({"spark.app.name": "anything"}, {"HOME": "/root"}, {}, None, None, {}),
    ],
)  # fmt: skip
def test_names_and_tags_of_each_platform(
    conf: dict[str, str], environ: dict[str, str], runtime: dict[str, Any], platform: str | None, job: str | None,
    tags: dict[str, str],
) -> None:  # fmt: skip
    found = find_platform(conf, environ, runtime)
    assert (found.platform, found.job, found.tags) == (platform, job, tags)
    assert set(found.settings) <= {*conf, *(f"${name}" for name in environ), *(f"runtime.{name}" for name in runtime),
                                   "dataproc_job_"}  # fmt: skip


def test_guide_lists_every_platform_with_its_settings_and_tags() -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/platforms.md").read_text("utf-8")
    rows = {cells[1].strip(): line for line in guide.split("## What is recognized")[1].splitlines()
            if line.startswith("| ") and (cells := line.split("|"))}  # fmt: skip
    assert set(rows) - {"platform"} == {platform.name for platform in PLATFORMS}
    for platform in PLATFORMS:
        assert [tag for tag in platform.tags if f"`{tag}`" not in rows[platform.name]] == []


def test_runtime_context_is_read_and_never_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    assert notebook_runtime() == {}
    context = {"currentNotebookName": "child"}
    monkeypatch.setitem(sys.modules, "notebookutils", SimpleNamespace(runtime=SimpleNamespace(context=context)))
    assert notebook_runtime() == context
    monkeypatch.setitem(sys.modules, "notebookutils", SimpleNamespace())
    assert notebook_runtime() == {}


def test_spark_defaults_are_read_as_spark_reads_them(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("# comment\nspark.a  1\nspark.b=2 3\n\n spark.glue.JOB_NAME\tload \n")
    assert spark_defaults({"SPARK_CONF_DIR": str(tmp_path)}) == {
        "spark.a": "1", "spark.b": "2 3", "spark.glue.JOB_NAME": "load",
    }  # fmt: skip
    assert spark_defaults({"SPARK_HOME": str(tmp_path)}) == {}


def test_doctor_prints_what_the_platform_reveals() -> None:
    environ = {**os.environ, "SERVERLESS_EMR_JOB_ID": "00f\x1b[31m", "SPARK_CONF_DIR": "/nonexistent"}
    command = [sys.executable, "-m", "colline", "doctor", "--platform"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, env=environ).stdout
    assert text.splitlines() == [
        "platform     EMR Serverless",
        "job          no name found",
        "tag          emr_job_id = 00f\\x1b[31m",
        "setting      $SERVERLESS_EMR_JOB_ID = 00f\\x1b[31m",
        "auto attach  off (set COLLINE_ATTACH=1)",
    ]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True, env=environ)
    assert json.loads(done.stdout)["platform"] == "EMR Serverless"
