"""Creates the transport that the settings describe.

`SINKS` lists the built-in kinds. Other packages add kinds by the entry point group `colline.transports`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any
from urllib.parse import quote

from colline.config.settings import Settings
from colline.config.transport_settings import (
    ENTRY_POINT_GROUP,
    composite_parts,
    name_parts,
    parse_options,
    transport_kind,
    transport_options,
)
from colline.errors import SettingError, TransportError
from colline.events.redact import redact
from colline.lake.location import scheme_of
from colline.spool import Spool, SpoolOptions
from colline.transport.batching import BatchingPolicy, BatchingTransport
from colline.transport.buffer import Buffer, MemoryBuffer
from colline.transport.composite import CompositeTransport
from colline.transport.filesystem import FileSystem, FsspecFileSystem, LocalFileSystem, expand_local_path
from colline.transport.interfaces import Sink, Transport
from colline.transport.memory import MemoryTransport
from colline.transport.options import (
    ConsoleOptions,
    FileOptions,
    HttpOptions,
    KafkaOptions,
    LakeOptions,
    MemoryOptions,
    TransportOptions,
)
from colline.transport.retry import RetryPolicy
from colline.transport.secrets import remove_values, secret_values
from colline.transport.sinks.console import ConsoleSink
from colline.transport.sinks.custom import EmitterSink, NoopSink
from colline.transport.sinks.file import FileSink
from colline.transport.sinks.http import HttpSink
from colline.transport.sinks.kafka import KafkaSink
from colline.transport.sinks.lake_sink import LakeSink
from colline.transport.write_printer import WritePrinter

SESSION_EVENTS = 10_000  # how many events a session without a destination keeps

# base address → its file system, with the Spark session's credentials
OpenFileSystem = Callable[[str], FileSystem]


def transport_from(settings: Settings, open_file_system: OpenFileSystem | None = None) -> Transport:
    """The transport that the settings describe. With a Spark session, `open_file_system` opens its file systems."""
    if settings.disabled:
        return _batching_transport("noop", NoopSink(), TransportOptions(), settings)
    given = settings.transport
    if given is None:
        given = {"type": "lake", "base": settings.lake} if settings.lake else WritePrinter(SESSION_EVENTS)
    return _create(given, settings, open_file_system)


def _create(given: Any, settings: Settings, open_file_system: OpenFileSystem | None) -> Transport:
    if isinstance(given, (list, tuple)):
        return _create_composite(name_parts(given), settings, open_file_system)
    if isinstance(given, Mapping):
        return _create_from_table(given, settings, open_file_system)
    if isinstance(given, (BatchingTransport, CompositeTransport, MemoryTransport)):
        return given
    if hasattr(given, "emit"):
        return _batching_transport("custom", EmitterSink(given), TransportOptions(), settings)
    raise SettingError(
        f"setting `transport`: expected a table, a list or an object with `emit`, got {type(given).__name__}",
        hint='for example transport = {"type": "lake", "base": "/data/lake"}',
    )


def _create_from_table(
    given: Mapping[str, Any], settings: Settings, open_file_system: OpenFileSystem | None
) -> Transport:
    kind = transport_kind(given)
    if kind == "composite":
        return _create_composite(composite_parts(given), settings, open_file_system)
    if kind not in SINKS:
        return _create_from_entry_point(kind, transport_options(given), settings)
    options = parse_options(kind, given)
    if isinstance(options, MemoryOptions):
        return MemoryTransport(options.capacity)
    return _batching_transport(kind, SINKS[kind](options, settings, open_file_system), options, settings)


def _create_composite(
    parts: Mapping[str, Any], settings: Settings, open_file_system: OpenFileSystem | None
) -> Transport:
    if not parts:
        raise SettingError("setting `transport`: the list of transports is empty", hint="remove it, or add a transport")
    spools = [part["spool"] for part in parts.values() if isinstance(part, Mapping) and part.get("spool")]
    if len(set(spools)) < len(spools):
        raise SettingError("setting `transport`: two transports share one spool", hint="give each its own folder")
    transports: dict[str, Transport] = {}
    try:
        for name, part in parts.items():
            transports[name] = _create(part, settings, open_file_system)
    except BaseException:
        for transport in transports.values():
            transport.close(0)
        raise
    return CompositeTransport(transports)


def _create_from_entry_point(kind: str, given: Mapping[str, Any], settings: Settings) -> Transport:
    """A transport of another package. Its entry point is called with the options and returns a sink or an emitter."""
    [point] = [point for point in entry_points(group=ENTRY_POINT_GROUP) if point.name == kind]
    try:
        created = point.load()(dict(given))
    except Exception as error:
        reason = remove_values(str(error), secret_values(given))
        raise TransportError(
            f"cannot create the transport `{kind}` of another package: {reason}",
            hint=f"see the documentation of {point.value} for its options",
        ) from error
    if isinstance(created, Sink):
        return _batching_transport(kind, created, TransportOptions(), settings)
    if not hasattr(created, "emit"):
        raise TransportError(
            f"the transport `{kind}` of another package has no `emit` and is not a sink",
            hint=f"{point.value} must return an object with `emit(event)`",
        )
    return _batching_transport(kind, EmitterSink(created), TransportOptions(), settings)


def _batching_transport(name: str, sink: Sink, options: TransportOptions, settings: Settings) -> BatchingTransport:
    retry = options.retry if isinstance(options, HttpOptions) else None
    policy = BatchingPolicy(
        batch_size=options.batch_size,
        flush_seconds=options.flush_interval_seconds,
        queue_capacity=options.queue_capacity,
        shutdown_seconds=settings.shutdown_timeout,
        retry=RetryPolicy(
            backoff_seconds=retry.backoff_factor if retry else options.backoff_seconds,
            breaker_after=retry.total if retry else options.breaker_after,
            breaker_seconds=options.breaker_seconds,
        ),
    )
    return BatchingTransport(name, sink, policy, _create_buffer(options))


def _create_buffer(options: TransportOptions) -> Buffer:
    if options.spool is None:
        return MemoryBuffer(options.queue_capacity)
    return Spool(
        options.spool,
        SpoolOptions(options.spool_max_bytes, options.spool_policy, options.spool_fsync, options.queue_capacity),
    )


_GUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def onelake_address(workspace: str, lakehouse: str) -> str:
    """The address of a OneLake lakehouse.

    `Sales`, `Bronze.Lakehouse` → `abfss://Sales@onelake.dfs.fabric.microsoft.com/Bronze.Lakehouse/Files`
    """
    is_guid = _GUID.fullmatch(lakehouse) is not None
    if (_GUID.fullmatch(workspace) is not None) != is_guid:
        raise SettingError(
            "setting `transport`: OneLake takes two GUIDs or two names, not one of each",
            hint="write `workspace` and `lakehouse` in the same form",
        )
    item = lakehouse if is_guid or "." in lakehouse else f"{lakehouse}.Lakehouse"
    return f"abfss://{quote(workspace)}@onelake.dfs.fabric.microsoft.com/{quote(item)}/Files"


def lake_base(options: LakeOptions, settings: Settings) -> str:
    """The address of the lake: OneLake's for `workspace` and `lakehouse`, or `base`, or the setting `lake`."""
    if options.workspace and options.lakehouse:
        return onelake_address(options.workspace, options.lakehouse)
    if options.workspace or options.lakehouse:
        raise SettingError(
            "setting `transport`: OneLake needs both `workspace` and `lakehouse`", hint="set both, or `base` instead"
        )
    base = options.base or settings.lake
    if not base:
        raise SettingError("setting `transport.base`: the lake transport needs it", hint="set `base` or `lake`")
    return base


def file_system_for(base: str, options: LakeOptions, open_file_system: OpenFileSystem | None) -> FileSystem:
    """The local file system, or the Spark session's, or without a session fsspec's."""
    if scheme_of(base) in {"", "file"}:
        return LocalFileSystem()
    if open_file_system is not None:
        return open_file_system(base)
    if options.workspace:
        raise TransportError(
            f"cannot write to {base}: there is no Spark session, whose credentials OneLake needs",
            hint="attach to a running session: colline.attach(spark, …)",
        )
    return FsspecFileSystem(base, options.storage_options)


def _lake_sink(options: LakeOptions, settings: Settings, open_file_system: OpenFileSystem | None) -> Sink:
    base = lake_base(options, settings)
    if scheme_of(base) in {"", "file"}:
        base = str(expand_local_path(base).absolute())  # the process may change its working directory
    return LakeSink(base, options.folder, file_system_for(base, options, open_file_system))


def _file_sink(options: FileOptions, *_: Any) -> Sink:
    if scheme_of(options.location) not in {"", "file"}:
        raise SettingError(
            f"setting `transport.location`: {redact(options.location)} is not a local path",
            hint='use {"type": "lake", "base": …} for other file systems',
        )
    if expand_local_path(options.location).is_dir():
        raise SettingError(
            f"setting `transport.location`: {options.location} is a folder", hint="write the path of a file in it"
        )
    return FileSink(options.location)


def _console_sink(options: ConsoleOptions, *_: Any) -> Sink:
    return ConsoleSink(options.stream)


def _http_sink(options: HttpOptions, *_: Any) -> Sink:
    return HttpSink(options)


def _kafka_sink(options: KafkaOptions, *_: Any) -> Sink:
    return KafkaSink(options)


def _noop_sink(*_: Any) -> Sink:
    return NoopSink()


# kind → function that creates its sink
SINKS: dict[str, Callable[[Any, Settings, OpenFileSystem | None], Sink]] = {
    "console": _console_sink,
    "file": _file_sink,
    "lake": _lake_sink,
    "http": _http_sink,
    "kafka": _kafka_sink,
    "memory": _noop_sink,
    "noop": _noop_sink,
}
