"""Recognizes the platform that an application runs on, and reads the names that its users know.

`PLATFORMS` is the table: for each platform the settings that reveal it, the name of the notebook or job, and what else
identifies a run. A setting is a Spark property; with `$` it is an environment variable, and with `runtime.` it is a key
of `notebookutils.runtime.context`, which only Fabric and Synapse notebooks have.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_YARN_TAGS = "spark.yarn.tags"
_DATAPROC_JOB_TAG = "dataproc_job_"


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform: settings that only it has, settings with the job's name (best first), and tags of its runs."""

    name: str
    marks: tuple[str, ...]
    job: tuple[str, ...]
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoundPlatform:
    """What was found: the platform, the name of the job or notebook, tags, and the settings these came from."""

    platform: str | None
    job: str | None
    tags: Mapping[str, str]
    settings: Mapping[str, str]


PLATFORMS = (
    Platform(
        "Databricks",
        ("$DATABRICKS_RUNTIME_VERSION", "spark.databricks.clusterUsageTags.clusterId"),
        ("spark.databricks.notebook.path", "spark.databricks.job.name"),
        {
            "databricks_job_id": ("spark.databricks.job.id",),
            "databricks_run_id": ("spark.databricks.job.runId",),
            "databricks_cluster_id": ("spark.databricks.clusterUsageTags.clusterId",),
            "databricks_cluster_name": ("spark.databricks.clusterUsageTags.clusterName",),
            "databricks_workspace": ("spark.databricks.workspaceUrl",),
        },
    ),
    Platform(
        "Microsoft Fabric",
        ("trident.workspace.id", "spark.hadoop.trident.workspace.id", "trident.artifact.name"),
        (
            "runtime.currentNotebookName",  # the child of runMultiple; the properties have the notebook that started it
            "spark.synapse.context.notebookname",
            "trident.artifact.name",
            "spark.hadoop.trident.artifact.name",
        ),
        {
            "fabric_workspace": ("runtime.currentWorkspaceName", "trident.workspace.name", "trident.workspace.id"),
            "fabric_workspace_id": ("trident.workspace.id", "spark.hadoop.trident.workspace.id"),
            "fabric_lakehouse": ("trident.lakehouse.name", "runtime.defaultLakehouseName"),
            "fabric_started_by": ("runtime.rootNotebookName",),
            "fabric_activity_id": ("runtime.activityId", "trident.activity.id"),
        },
    ),
    Platform(
        "Azure Synapse",
        ("spark.synapse.workspace.name", "spark.synapse.context.notebookname", "spark.synapse.pool.name"),
        ("spark.synapse.context.notebookname", "spark.synapse.context.activityname"),
        {
            "synapse_workspace": ("spark.synapse.workspace.name",),
            "synapse_pool": ("spark.synapse.pool.name",),
            "synapse_pipeline_run": ("spark.synapse.context.pipelinejobid",),
            "synapse_activity_run": ("spark.synapse.context.activityrunid",),
        },
    ),
    Platform(
        "AWS Glue",
        ("spark.glue.JOB_NAME", "$GLUE_VERSION"),
        ("spark.glue.JOB_NAME",),
        {"glue_run_id": ("spark.glue.JOB_RUN_ID",)},
    ),
    Platform(
        "EMR Serverless",
        ("$SERVERLESS_EMR_JOB_ID",),
        ("$SERVERLESS_EMR_JOB_NAME",),
        {
            "emr_job_id": ("$SERVERLESS_EMR_JOB_ID",),
            "emr_application_id": ("$SERVERLESS_EMR_VIRTUAL_CLUSTER_ID",),
        },
    ),
    Platform(
        "Dataproc",
        ("$DATAPROC_VERSION", "spark.dataproc.sql.joinConditionReorder.enabled", _DATAPROC_JOB_TAG),
        (_DATAPROC_JOB_TAG,),
        {"dataproc_job_id": (_DATAPROC_JOB_TAG,)},
    ),
    Platform("Amazon EMR", ("$EMR_CLUSTER_ID", "$EMR_STEP_ID"), (), {"emr_cluster_id": ("$EMR_CLUSTER_ID",)}),
)


def find_platform(
    conf: Mapping[str, str], environ: Mapping[str, str] | None = None, runtime: Mapping[str, Any] | None = None
) -> FoundPlatform:
    """The platform of an application with this Spark conf, and what it is called there."""
    known = _known_settings(conf, environ or {}, runtime or {})
    platform = next((each for each in PLATFORMS if any(known.get(mark) for mark in each.marks)), None)
    if platform is None:
        return FoundPlatform(None, _first_known_value(known, [key for each in PLATFORMS for key in each.job]), {}, {})
    tags = {tag: value for tag, keys in platform.tags.items() if (value := _first_known_value(known, keys))}
    keys = dict.fromkeys([*platform.marks, *platform.job, *(key for each in platform.tags.values() for key in each)])
    return FoundPlatform(
        platform.name,
        _first_known_value(known, platform.job),
        tags,
        {key: known[key] for key in keys if known.get(key)},
    )


def _known_settings(conf: Mapping[str, str], environ: Mapping[str, str], runtime: Mapping[str, Any]) -> dict[str, str]:
    yarn_tags = conf.get(_YARN_TAGS, "").split(",")
    job = next((tag for tag in map(str.strip, yarn_tags) if tag.startswith(_DATAPROC_JOB_TAG)), "")
    return {
        **conf,
        **{f"${name}": value for name, value in environ.items()},
        **{f"runtime.{name}": str(value) for name, value in runtime.items() if value},
        _DATAPROC_JOB_TAG: job.removeprefix(_DATAPROC_JOB_TAG),
    }


def _first_known_value(known: Mapping[str, str], keys: Any) -> str | None:
    return next((known[key] for key in keys if known.get(key)), None)


def notebook_runtime() -> dict[str, Any]:
    """`notebookutils.runtime.context` of a Fabric or Synapse notebook; empty everywhere else. It never fails."""
    try:
        utils = sys.modules.get("notebookutils") or _import_notebookutils()
        return dict(utils.runtime.context) if utils is not None else {}
    except Exception:  # noqa: BLE001 - a package of the platform; without it there is no such context
        return {}


def _import_notebookutils() -> Any:
    from importlib import import_module
    from importlib.util import find_spec

    return import_module("notebookutils") if find_spec("notebookutils") is not None else None


def spark_defaults(environ: Mapping[str, str]) -> dict[str, str]:
    """The properties in `spark-defaults.conf`, which commands see without a session; empty if there is no such file."""
    folder = environ.get("SPARK_CONF_DIR") or f"{environ.get('SPARK_HOME', '/nonexistent')}/conf"
    try:
        lines = (Path(folder) / "spark-defaults.conf").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    found = (re.match(r"\s*([^#\s=]+)[\s=]+(.*\S)", line) for line in lines)
    return {match[1]: match[2] for match in found if match}
