"""The settings of OpenLineage's Spark integration and Python client, and the settings of colline that they mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def _parse_tags(text: Any) -> dict[str, str]:
    """`environment:production;team:core:ci` → environment = production, team = core."""
    pairs = [tag.strip().split(":") for tag in str(text).split(";") if tag.strip()]
    return {pair[0].strip(): (pair[1].strip() if len(pair) > 1 else "true") for pair in pairs}


def _is_off(text: Any) -> bool:
    return str(text).strip().lower() in {"false", "0", "no", "off"}


def _unchanged_value(value: Any) -> Any:
    return value


def _parse_parent(text: Any) -> dict[str, str]:
    """`namespace/job name/run id`; the job name may contain slashes."""
    namespace, _, rest = str(text).partition("/")
    name, _, run = rest.rpartition("/")
    return {"job_namespace": namespace, "job_name": name, "run_id": run} if namespace and name and run else {}


# name below `spark.openlineage.` → setting of colline, and how the value is converted
SPARK: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "namespace": ("namespace", _unchanged_value),
    "appName": ("app_name", _unchanged_value),
    "disabled": ("disabled", _unchanged_value),
    "job.tags": ("tags.job", _parse_tags),
    "run.tags": ("tags.run", _parse_tags),
    "parentJobNamespace": ("parent.job_namespace", _unchanged_value),
    "parentJobName": ("parent.job_name", _unchanged_value),
    "parentRunId": ("parent.run_id", _unchanged_value),
    "rootParentJobNamespace": ("parent.root_job_namespace", _unchanged_value),
    "rootParentJobName": ("parent.root_job_name", _unchanged_value),
    "rootParentRunId": ("parent.root_run_id", _unchanged_value),
    "columnLineage.datasetLineageEnabled": ("cartesian", _is_off),
}
# environment variable → setting of colline, and how the value is converted
ENVIRONMENT: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "OPENLINEAGE_NAMESPACE": ("namespace", _unchanged_value),
    "OPENLINEAGE_DISABLED": ("disabled", _unchanged_value),
    "OPENLINEAGE_PARENT_ID": ("parent", _parse_parent),
    "OPENLINEAGE_ROOT_PARENT_ID": (
        "parent",
        lambda text: {f"root_{name}": part for name, part in _parse_parent(text).items()},
    ),
    "OPENLINEAGE_URL": ("transport.url", _unchanged_value),
    "OPENLINEAGE_ENDPOINT": ("transport.endpoint", _unchanged_value),
    "OPENLINEAGE_API_KEY": ("transport.auth.apiKey", _unchanged_value),
}
