"""The names that OpenLineage's own clients use, and what they are called here. Switching is a rename at most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def _tags(text: Any) -> dict[str, str]:
    """`environment:production;team:core:ci` → environment = production, team = core."""
    pairs = [tag.strip().split(":") for tag in str(text).split(";") if tag.strip()]
    return {pair[0].strip(): (pair[1].strip() if len(pair) > 1 else "true") for pair in pairs}


def _negated(text: Any) -> bool:
    return str(text).strip().lower() in {"false", "0", "no", "off"}


def _same(value: Any) -> Any:
    return value


def _parent(text: Any) -> dict[str, str]:
    """`namespace/job name/run id`; a job name may hold slashes itself."""
    namespace, _, rest = str(text).partition("/")
    name, _, run = rest.rpartition("/")
    return {"job_namespace": namespace, "job_name": name, "run_id": run} if namespace and name and run else {}


# below `spark.openlineage.` → (setting here, how its value is read)
SPARK: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "namespace": ("namespace", _same),
    "appName": ("app_name", _same),
    "disabled": ("disabled", _same),
    "job.tags": ("tags.job", _tags),
    "run.tags": ("tags.run", _tags),
    "parentJobNamespace": ("parent.job_namespace", _same),
    "parentJobName": ("parent.job_name", _same),
    "parentRunId": ("parent.run_id", _same),
    "rootParentJobNamespace": ("parent.root_job_namespace", _same),
    "rootParentJobName": ("parent.root_job_name", _same),
    "rootParentRunId": ("parent.root_run_id", _same),
    "columnLineage.datasetLineageEnabled": ("cartesian", _negated),
}
# environment variable → (setting here, how its value is read)
ENVIRONMENT: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "OPENLINEAGE_NAMESPACE": ("namespace", _same),
    "OPENLINEAGE_DISABLED": ("disabled", _same),
    "OPENLINEAGE_PARENT_ID": ("parent", _parent),
    "OPENLINEAGE_ROOT_PARENT_ID": (
        "parent",
        lambda text: {f"root_{name}": part for name, part in _parent(text).items()},
    ),
    "OPENLINEAGE_URL": ("transport.url", _same),
    "OPENLINEAGE_ENDPOINT": ("transport.endpoint", _same),
    "OPENLINEAGE_API_KEY": ("transport.auth.apiKey", _same),
}
