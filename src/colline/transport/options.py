"""The options of every transport, as in a `transport = {…}` setting, with types, defaults and descriptions.

The names are those of OpenLineage's clients if they have the option. `ALIASES` lists other names that they use.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from colline.transport.secrets import SecretFreeStruct

Positive = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(ge=0)]
Timeout = Annotated[float, Meta(gt=0)]


def _doc(text: str) -> Meta:
    return Meta(description=text)


class TransportOptions(SecretFreeStruct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The options that every transport has."""

    batch_size: Annotated[Positive, _doc("maximum number of events in a batch")] = 50
    flush_interval_seconds: Annotated[Seconds, _doc("how long the first event of a batch waits for others")] = 0.1
    queue_capacity: Annotated[
        Positive, _doc("maximum number of events that wait in memory; more are dropped and counted")
    ] = 5000
    spool: Annotated[
        str | None, _doc("local folder that keeps events until they are delivered, also after a kill or a restart")
    ] = None
    spool_max_bytes: Annotated[Positive, _doc("maximum size of the spool")] = 256 * 1024 * 1024
    spool_policy: Annotated[
        Literal["drop_newest", "drop_oldest"], _doc("which events are dropped when the spool is full")
    ] = "drop_newest"
    spool_fsync: Annotated[
        Literal["never", "interval", "always"],
        _doc("`never` survives a killed process; `interval` (every second) and `always` also survive a power failure"),
    ] = "never"
    backoff_seconds: Annotated[Seconds, _doc("first pause after a failed delivery; doubles, with jitter")] = 0.3
    breaker_after: Annotated[Positive, _doc("number of failures in a row that open the circuit breaker")] = 5
    breaker_seconds: Annotated[Seconds, _doc("first pause while the circuit is open; doubles up to five minutes")] = (
        30.0
    )


class ConsoleOptions(TransportOptions, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Prints events, one JSON object per line."""

    stream: Annotated[Literal["stderr", "stdout"], _doc("where to print")] = "stderr"


class FileOptions(TransportOptions, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Appends events to one local file, one JSON object per line."""

    location: Annotated[str, _doc("path of the file")]


class LakeOptions(TransportOptions, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Writes batches as `{base}/{folder}/dt=YYYY-MM-DD/{epoch_ms}-{uuid}-{n}events.ndjson`."""

    base: Annotated[str | None, _doc("the lake: a local path or any address the Spark session can write to")] = None
    folder: Annotated[str, _doc("folder below `base`")] = "landing"
    workspace: Annotated[str | None, _doc("OneLake workspace, name or GUID; with `lakehouse` instead of `base`")] = None
    lakehouse: Annotated[str | None, _doc("OneLake lakehouse, `Name.Lakehouse` or GUID")] = None
    flush_interval_seconds: Annotated[Seconds, _doc("how long the first event of a file waits for others")] = 30.0
    storage_options: Annotated[dict[str, Any], _doc("options for fsspec, which is used without a Spark session")] = (
        field(default_factory=dict)
    )


class SslOptions(SecretFreeStruct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The certificates of an HTTPS connection."""

    ca_cert_path: Annotated[str | None, _doc("certificate authorities to trust instead of the system's")] = None
    client_cert_path: Annotated[str | None, _doc("certificate to present")] = None
    client_key_path: Annotated[str | None, _doc("its private key, if it is in another file")] = None


class AuthOptions(SecretFreeStruct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """How to authenticate."""

    type: Annotated[Literal["api_key"], _doc("the API key is sent as a bearer token")] = "api_key"
    api_key: Annotated[str, _doc("the API key")]


class RetryOptions(SecretFreeStruct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """When to retry a request, with the names of openlineage-python."""

    total: Annotated[Positive, _doc("number of failures in a row that open the circuit breaker")] = 5
    backoff_factor: Annotated[Seconds, _doc("first pause in seconds; doubles, with jitter")] = 0.3
    status_forcelist: Annotated[
        tuple[int, ...], _doc("statuses that are retried, in addition to those that are always retried")
    ] = (500, 502, 503, 504)


class HttpOptions(TransportOptions, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Posts events to an OpenLineage endpoint."""

    url: Annotated[str, _doc("address of the server")]
    endpoint: Annotated[str, _doc("path below it")] = "api/v1/lineage"
    timeout: Annotated[Timeout, _doc("seconds to wait for the server to accept or send data")] = 5.0
    total_timeout: Annotated[Timeout, _doc("seconds that one request may take in total")] = 30.0
    auth: Annotated[AuthOptions | None, _doc('`{type = "api_key", apiKey = …}`')] = None
    headers: Annotated[dict[str, str], _doc("headers to add")] = field(default_factory=dict)
    url_params: Annotated[dict[str, str], _doc("query parameters to add")] = field(default_factory=dict)
    retry: Annotated[RetryOptions | None, _doc("`total`, `backoffFactor`, `statusForcelist`")] = None
    compression: Annotated[Literal["gzip"] | None, _doc("`gzip` compresses the requests")] = None
    verify: Annotated[bool, _doc("verify the server's certificate")] = True
    ssl_context: Annotated[SslOptions | None, _doc("certificates: `caCertPath`, `clientCertPath`, `clientKeyPath`")] = (
        None
    )
    batch: Annotated[
        Literal["auto", "always", "never"], _doc("`auto` uses `{endpoint}/batch` if the server has it")
    ] = "auto"


class KafkaOptions(TransportOptions, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Produces events to a Kafka topic."""

    topic_name: Annotated[str, _doc("name of the topic")]
    properties: Annotated[dict[str, str], _doc("settings of the producer, at least `bootstrap.servers`")]
    message_key: Annotated[
        str | None, _doc("key of every message; the default is `run:{namespace}/{name}` of the root job")
    ] = None
    timeout: Annotated[Timeout, _doc("seconds that a delivery may take")] = 10.0


class MemoryOptions(SecretFreeStruct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Keeps events in memory, for tests and notebooks."""

    capacity: Annotated[Positive, _doc("maximum number of events; older ones are dropped and counted")] = 100_000


# other name → our name, for every transport; in lower case and without underscores
ALIASES = {
    "logfilepath": "location",
    "customheaders": "headers",
    "topic": "topicName",
    "config": "properties",
    "timeoutinmillis": "timeout",
    "key": "apiKey",
}
# options of OpenLineage's clients that have no effect here
IGNORED = frozenset({"append", "flush", "debugmode", "localserverid", "name", "priority", "maxretries"})
