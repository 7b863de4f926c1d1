"""The options of every transport, typed and documented: what a `transport = {…}` setting may hold.

Names are OpenLineage's own where it has them. `ALIASES` lists the other names that its Java and Python clients use.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Positive = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(ge=0)]
Timeout = Annotated[float, Meta(gt=0)]


def _doc(text: str) -> Meta:
    return Meta(description=text)


class Common(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What every transport understands."""

    batch_size: Annotated[Positive, _doc("events that travel together at most")] = 50
    flush_interval_seconds: Annotated[Seconds, _doc("how long the first event of a batch waits for others")] = 0.1
    queue_capacity: Annotated[
        Positive, _doc("events that may wait in memory; beyond it they are dropped and counted")
    ] = 5000
    spool: Annotated[
        str | None, _doc("local folder that keeps events until they are delivered, over kills and restarts")
    ] = None
    spool_max_bytes: Annotated[Positive, _doc("size the spool may reach")] = 256 * 1024 * 1024
    spool_policy: Annotated[Literal["drop_newest", "drop_oldest"], _doc("what gives way when the spool is full")] = (
        "drop_newest"
    )
    spool_fsync: Annotated[
        Literal["never", "interval", "always"],
        _doc("`never` survives a killed process, `interval` (once a second) and `always` a power cut too"),
    ] = "never"
    backoff_seconds: Annotated[Seconds, _doc("first pause after a failed delivery; doubles, with jitter")] = 0.3
    breaker_after: Annotated[Positive, _doc("failures in a row after which delivery rests")] = 5
    breaker_seconds: Annotated[Seconds, _doc("how long it rests at first; doubles up to five minutes")] = 30.0


class ConsoleOptions(Common, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Prints events, one JSON object per line."""

    stream: Annotated[Literal["stderr", "stdout"], _doc("where to print")] = "stderr"


class FileOptions(Common, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Appends events to one local file, one JSON object per line."""

    location: Annotated[str, _doc("path of the file")]


class LakeOptions(Common, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Writes batches as `{base}/{folder}/dt=YYYY-MM-DD/{epoch_ms}-{uuid}-{n}events.ndjson`."""

    base: Annotated[str | None, _doc("the lake: a local path or any address the Spark session can write to")] = None
    folder: Annotated[str, _doc("folder below the base")] = "landing"
    workspace: Annotated[str | None, _doc("OneLake workspace, name or GUID; with `lakehouse` instead of `base`")] = None
    lakehouse: Annotated[str | None, _doc("OneLake lakehouse, `Name.Lakehouse` or GUID")] = None
    flush_interval_seconds: Annotated[Seconds, _doc("how long the first event of a file waits for others")] = 30.0
    storage_options: Annotated[dict[str, Any], _doc("passed to fsspec where there is no Spark session")] = {}


class SslOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Certificates of an HTTPS peer."""

    ca_cert_path: Annotated[str | None, _doc("certificate authorities to trust instead of the system's")] = None
    client_cert_path: Annotated[str | None, _doc("certificate to present")] = None
    client_key_path: Annotated[str | None, _doc("its key, when it is in a file of its own")] = None


class AuthOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """How to say who we are."""

    type: Annotated[Literal["api_key"], _doc("the api key is sent as a bearer token")] = "api_key"
    api_key: Annotated[str, _doc("the key")]


class RetryOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Which answers are tried again, in openlineage-python's words."""

    total: Annotated[Positive, _doc("tries before delivery rests")] = 5
    backoff_factor: Annotated[Seconds, _doc("first pause in seconds; doubles, with jitter")] = 0.3
    status_forcelist: Annotated[
        tuple[int, ...], _doc("statuses that are tried again, besides those that say so by themselves")
    ] = (500, 502, 503, 504)


class HttpOptions(Common, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Posts events to an OpenLineage endpoint."""

    url: Annotated[str, _doc("address of the server")]
    endpoint: Annotated[str, _doc("path below it")] = "api/v1/lineage"
    timeout: Annotated[Timeout, _doc("seconds to wait for the server")] = 5.0
    auth: Annotated[AuthOptions | None, _doc('`{type = "api_key", apiKey = …}`')] = None
    headers: Annotated[dict[str, str], _doc("headers to add")] = {}
    url_params: Annotated[dict[str, str], _doc("query parameters to add")] = {}
    retry: Annotated[RetryOptions | None, _doc("`total`, `backoffFactor`, `statusForcelist`")] = None
    compression: Annotated[Literal["gzip"] | None, _doc("`gzip` compresses what is sent")] = None
    verify: Annotated[bool, _doc("check the server's certificate")] = True
    ssl_context: Annotated[SslOptions | None, _doc("certificates: `caCertPath`, `clientCertPath`, `clientKeyPath`")] = (
        None
    )
    batch: Annotated[
        Literal["auto", "always", "never"], _doc("`auto` uses `{endpoint}/batch` as long as the server offers it")
    ] = "auto"


class KafkaOptions(Common, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Produces events to a Kafka topic."""

    topic_name: Annotated[str, _doc("topic to write to")]
    properties: Annotated[dict[str, str], _doc("settings of the producer, `bootstrap.servers` among them")]
    message_key: Annotated[
        str | None, _doc("key of every message; without it `run:{namespace}/{name}` of the root job")
    ] = None
    timeout: Annotated[Timeout, _doc("seconds a delivery may take")] = 10.0


class MemoryOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Keeps events in memory, for tests and notebooks."""

    capacity: Annotated[Positive, _doc("events kept; older ones are dropped and counted")] = 100_000


# other name → ours, for every transport; written without underscores and in lower case
ALIASES = {
    "logfilepath": "location",
    "customheaders": "headers",
    "topic": "topicName",
    "config": "properties",
    "timeoutinmillis": "timeout",
    "key": "apiKey",
}
# options of OpenLineage's clients that have no meaning here: taken and left aside
IGNORED = frozenset({"append", "flush", "debugmode", "localserverid", "name", "priority", "maxretries"})
