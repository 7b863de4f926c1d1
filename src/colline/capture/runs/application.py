"""The facts about a Spark application that dataset names and events need, read once when capture starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from colline.config.settings import Parent as ParentSetting
from colline.environment.platforms import find_platform
from colline.events.event_context import Engine, ParentRun, RunName
from colline.events.lineage_facets import LineageForm
from colline.events.redact import as_is
from colline.events.run_ids import is_run_id
from colline.naming.dataset import NameContext


@dataclass(frozen=True)
class Application:
    """What all runs of one application share. `run` is the application's own run, `outer` the run that started it."""

    run: RunName
    engine: Engine
    names: NameContext = field(default_factory=NameContext)
    outer: ParentRun | None = None
    job: str | None = None
    form: LineageForm = LineageForm.COMPACT
    job_tags: Mapping[str, str] = field(default_factory=dict)
    run_tags: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    redact: Callable[[str], str] = as_is
    redact_sql: Callable[[str], str] = as_is

    @property
    def parent(self) -> ParentRun:
        """The parent of the application's queries: the application itself, with the outermost run as its root."""
        root = self.outer.root or self.outer.run if self.outer else None
        return ParentRun(self.run, root)


def notebook_name(conf: Mapping[str, str]) -> str | None:
    """The name of the notebook or job, on platforms that put it into the Spark conf."""
    return find_platform(conf).job


def outer_parent(given: ParentSetting) -> ParentRun | None:
    """The run that started the application, such as an Airflow task. An incomplete parent is ignored."""
    run = _run_name(given.job_namespace, given.job_name, given.run_id)
    if run is None:
        return None
    return ParentRun(run, _run_name(given.root_job_namespace, given.root_job_name, given.root_run_id))


def _run_name(namespace: str | None, name: str | None, run_id: str | None) -> RunName | None:
    if not (namespace and name and run_id and is_run_id(run_id)):
        return None
    return RunName(namespace, name, run_id)
