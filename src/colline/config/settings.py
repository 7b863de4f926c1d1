"""All settings with their types, defaults and descriptions; `docs/reference/settings.md` is generated from them."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from colline.transport.secrets import SecretFreeStruct


def _doc(text: str) -> Meta:
    return Meta(description=text)


Seconds = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1, le=2**31 - 1)]


class Tags(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tags of jobs and runs."""

    job: Annotated[dict[str, str], _doc("tags of every job")] = {}
    run: Annotated[dict[str, str], _doc("tags of every run")] = {}


class Parent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The run of an orchestrator that started this application."""

    run_id: Annotated[str | None, _doc("run id of the parent")] = None
    job_namespace: Annotated[str | None, _doc("namespace of the parent's job")] = None
    job_name: Annotated[str | None, _doc("name of the parent's job")] = None
    root_run_id: Annotated[str | None, _doc("run id of the root run, if it is not the parent")] = None
    root_job_namespace: Annotated[str | None, _doc("namespace of the root job")] = None
    root_job_name: Annotated[str | None, _doc("name of the root job")] = None


class Settings(SecretFreeStruct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. A later source overrides an earlier one: `colline.toml`, environment, Spark conf, call."""

    disabled: Annotated[bool, _doc("capture nothing")] = False
    lake: Annotated[str | None, _doc("path or URL of the lake: landing folder, tables and snapshot")] = None
    namespace: Annotated[str, _doc("namespace of the jobs")] = "default"
    job: Annotated[str | None, _doc("name of the job, if neither `colline.job` nor the platform provides one")] = None
    app_name: Annotated[str | None, _doc("name of the application, instead of Spark's")] = None
    transport: Annotated[
        Any,
        _doc("where events are sent: a table, a list of tables or an object with `emit`; default: lake or console"),
    ] = None
    tags: Annotated[Tags, _doc("tags of jobs and runs")] = Tags()
    parent: Annotated[Parent, _doc("the run that started this application")] = Parent()
    shutdown_timeout: Annotated[Seconds, _doc("how many seconds delivery may take when the program ends")] = 10.0
    redact_literals: Annotated[bool, _doc("replace literals in descriptions and SQL text by `?`")] = False
    masking_functions: Annotated[tuple[str, ...], _doc("names of additional functions that mask their argument")] = ()
    spark_properties: Annotated[
        tuple[str, ...], _doc("Spark properties that events contain; no others are captured")
    ] = ("spark.master", "spark.app.name", "spark.app.id")
    cartesian: Annotated[
        bool, _doc("repeat dataset-level inputs for every column, as in the older form of the facet")
    ] = False
    rules: Annotated[
        Any, _doc("rules by which ingest sets names, owners and tags; see `docs/guides/extend-naming-and-rules.md`")
    ] = None
    max_event_bytes: Annotated[Count, _doc("ingest moves larger events to quarantine")] = 32 * 1024 * 1024
    max_days_ahead: Annotated[
        Count, _doc("ingest moves events with a later time than this many days from now to quarantine")
    ] = 366
    lineage_facet: Annotated[bool, _doc("emit the newer `lineage` job facet instead of `columnLineage`")] = False
