"""The settings, typed and documented. `docs/reference/settings.md` is made from this file; nothing else lists them."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct


def _doc(text: str) -> Meta:
    return Meta(description=text)


Seconds = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1, le=2**31 - 1)]


class Tags(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tags put on events."""

    job: Annotated[dict[str, str], _doc("tags of every job")] = {}
    run: Annotated[dict[str, str], _doc("tags of every run")] = {}


class Parent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The run that started this application, when an orchestrator did."""

    run_id: Annotated[str | None, _doc("run id of the parent")] = None
    job_namespace: Annotated[str | None, _doc("namespace of the parent's job")] = None
    job_name: Annotated[str | None, _doc("name of the parent's job")] = None
    root_run_id: Annotated[str | None, _doc("run id at the top, when the parent has one above it")] = None
    root_job_namespace: Annotated[str | None, _doc("namespace of the job at the top")] = None
    root_job_name: Annotated[str | None, _doc("name of the job at the top")] = None


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set. Sources, weakest first: `colline.toml`, environment, Spark conf, call."""

    disabled: Annotated[bool, _doc("attach to nothing and emit nothing")] = False
    lake: Annotated[str | None, _doc("the lake: landing folder, tables and snapshot live below it")] = None
    namespace: Annotated[str, _doc("namespace of the jobs")] = "default"
    job: Annotated[str | None, _doc("name of the job, when neither `colline.job` nor the platform gives one")] = None
    app_name: Annotated[str | None, _doc("name of the application, instead of Spark's")] = None
    transport: Annotated[
        Any,
        _doc(
            "where events go: a table, a list of tables, an object with `emit`; without it the lake, else the console"
        ),
    ] = None
    tags: Annotated[Tags, _doc("tags put on jobs and runs")] = Tags()
    parent: Annotated[Parent, _doc("the run that started this application")] = Parent()
    shutdown_timeout: Annotated[Seconds, _doc("seconds that delivery may take when the program ends")] = 10.0
    redact_literals: Annotated[bool, _doc("write `?` instead of literals in descriptions and SQL text")] = False
    masking_functions: Annotated[tuple[str, ...], _doc("more functions that hide their argument, by name")] = ()
    spark_properties: Annotated[
        tuple[str, ...], _doc("Spark properties that events may carry; no other one ever leaves")
    ] = ("spark.master", "spark.app.name", "spark.app.id")
    cartesian: Annotated[bool, _doc("repeat dataset-level inputs on every column, the older form of the facet")] = False
    rules: Annotated[
        Any, _doc("names, owners and tags that ingest gives to what it reads; see `docs/guides/ingest.md`")
    ] = None
    max_event_bytes: Annotated[Count, _doc("ingest puts a longer event into quarantine")] = 32 * 1024 * 1024
    max_days_ahead: Annotated[Count, _doc("ingest puts an event further in the future into quarantine")] = 366
    lineage_facet: Annotated[bool, _doc("emit the newer `lineage` job facet instead of `columnLineage`")] = False
