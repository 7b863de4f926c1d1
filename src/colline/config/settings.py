"""All settings with their types, defaults and descriptions; `docs/reference/settings.md` is generated from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

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


class Kafka(SecretFreeStruct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Reading events from Kafka or Event Hubs (`colline ingest --from`), and forwarding to it (`colline serve`)."""

    properties: Annotated[
        dict[str, str],
        _doc(
            "properties of the Kafka client, such as `security.protocol`, `sasl.mechanism`, `sasl.username` and "
            "`sasl.password`"
        ),
    ] = field(default_factory=dict)
    connection_string: Annotated[
        str | None, _doc("connection string of Azure Event Hubs; no other property is then needed")
    ] = None
    package: Annotated[
        str | None,
        _doc(
            "Spark's connector for Kafka, as Maven coordinates or paths of jars, with commas; "
            "default: the connector of the Spark version in use"
        ),
    ] = None
    skip_deleted: Annotated[
        bool, _doc("ingest continues if Kafka deleted messages before they were read, instead of ending with an error")
    ] = False


class Settings(SecretFreeStruct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings. A later source overrides an earlier one: `colline.toml`, environment, Spark conf, call."""

    disabled: Annotated[bool, _doc("capture nothing")] = False
    lake: Annotated[str | None, _doc("path or URL of the lake: landing folder, tables and snapshot")] = None
    namespace: Annotated[str, _doc("namespace of the jobs")] = "default"
    job: Annotated[str | None, _doc("name of the job, if neither `colline.job` nor the platform provides one")] = None
    app_name: Annotated[str | None, _doc("name of the application, instead of Spark's")] = None
    transport: Annotated[
        Any,
        _doc(
            "where events are sent: a table, a list of tables, an object with `emit`, or the path of a lake; "
            "default: the lake, else memory, and one printed line per write"
        ),
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
    kafka: Annotated[Kafka, _doc("the connection to Kafka or Event Hubs")] = Kafka()
    max_event_bytes: Annotated[Count, _doc("ingest moves larger events to quarantine")] = 32 * 1024 * 1024
    max_days_ahead: Annotated[
        Count, _doc("ingest moves events with a later time than this many days from now to quarantine")
    ] = 366
    connect_server: Annotated[
        bool,
        _doc("this application is a captured Spark Connect server: its clients do not capture their queries again"),
    ] = False
    lineage_facet: Annotated[
        Literal["old", "new", "both"],
        _doc(
            "`old`: the `columnLineage` facet of outputs; `new`: the `lineage` facet of the job; `both`: both of them"
        ),
    ] = "old"
