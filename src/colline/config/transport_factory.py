"""Settings → a transport. `SINKS` lists what ships; others come by the entry point `colline.transports`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any
from urllib.parse import quote

from colline.config.settings import Settings
from colline.config.transport_settings import ENTRY_POINTS, kind_of, numbered, parts_of, rest_of, typed
from colline.errors import SettingError, TransportError
from colline.lake.location import scheme_of
from colline.spool import SpoolOptions
from colline.transport import options as kinds
from colline.transport.batching import Carrier, Pace
from colline.transport.buffer import Buffer, MemoryBuffer, open_spool
from colline.transport.composite import CompositeTransport
from colline.transport.filesystem import Files, FsspecFiles, LocalFiles, local_path
from colline.transport.http import HttpSink
from colline.transport.interfaces import Sink, Transport
from colline.transport.kafka import KafkaSink
from colline.transport.lake_sink import LakeSink
from colline.transport.local import ConsoleSink, EmitterSink, FileSink, NothingSink
from colline.transport.memory import MemoryTransport
from colline.transport.retry import Patience

FilesFor = Callable[[str], Files]  # base address → files there, with the Spark session's own credentials


def transport_from(settings: Settings, files_for: FilesFor | None = None) -> Transport:
    """The transport that the settings ask for. `files_for` gives the Spark session's files, when there is a session."""
    if settings.disabled:
        return _carrier("noop", NothingSink(), kinds.Common(), settings)
    given = settings.transport
    if given is None:
        given = {"type": "lake", "base": settings.lake} if settings.lake else {"type": "console"}
    return _built(given, settings, files_for)


def _built(given: Any, settings: Settings, files_for: FilesFor | None) -> Transport:
    if isinstance(given, (list, tuple)):
        return _composite(numbered(given), settings, files_for)
    if isinstance(given, Mapping):
        return _of_kind(given, settings, files_for)
    if isinstance(given, (Carrier, CompositeTransport, MemoryTransport)):
        return given
    if hasattr(given, "emit"):
        return _carrier("own", EmitterSink(given), kinds.Common(), settings)
    raise SettingError(
        f"setting `transport`: expected a table, a list or an object with `emit`, got {type(given).__name__}",
        hint='for example transport = {"type": "lake", "base": "/data/lake"}',
    )


def _of_kind(given: Mapping[str, Any], settings: Settings, files_for: FilesFor | None) -> Transport:
    kind = kind_of(given)
    if kind == "composite":
        return _composite(parts_of(given), settings, files_for)
    if kind not in SINKS:
        return _foreign(kind, rest_of(given), settings)
    options = typed(kind, given)
    if isinstance(options, kinds.MemoryOptions):
        return MemoryTransport(options.capacity)
    return _carrier(kind, SINKS[kind](options, settings, files_for), options, settings)


def _composite(parts: Mapping[str, Any], settings: Settings, files_for: FilesFor | None) -> Transport:
    if not parts:
        raise SettingError("setting `transport`: the list of transports is empty", hint="remove it, or name one")
    spools = [part["spool"] for part in parts.values() if isinstance(part, Mapping) and part.get("spool")]
    if len(set(spools)) < len(spools):
        raise SettingError("setting `transport`: two transports share one spool", hint="give each a folder of its own")
    built: dict[str, Transport] = {}
    try:
        for name, part in parts.items():
            built[name] = _built(part, settings, files_for)
    except BaseException:
        for transport in built.values():
            transport.close(0)
        raise
    return CompositeTransport(built)


def _foreign(kind: str, given: Mapping[str, Any], settings: Settings) -> Transport:
    """A transport of another package: its entry point is called with the options and gives a sink or an emitter."""
    [point] = [point for point in entry_points(group=ENTRY_POINTS) if point.name == kind]
    try:
        made = point.load()(dict(given))
    except Exception as error:
        hint = f"its options are that package's own: {point.value}"
        raise TransportError(f"transport `{kind}` of another package cannot be built: {error}", hint=hint) from error
    if isinstance(made, Sink):
        return _carrier(kind, made, kinds.Common(), settings)
    if not hasattr(made, "emit"):
        raise TransportError(
            f"transport `{kind}` of another package has no `emit`, and is no sink either",
            hint=f"{point.value} must give an object with `emit(event)`",
        )
    return _carrier(kind, EmitterSink(made), kinds.Common(), settings)


def _carrier(name: str, sink: Sink, options: kinds.Common, settings: Settings) -> Carrier:
    retry = options.retry if isinstance(options, kinds.HttpOptions) else None
    pace = Pace(
        batch_size=options.batch_size,
        flush_seconds=options.flush_interval_seconds,
        queue_capacity=options.queue_capacity,
        shutdown_timeout=settings.shutdown_timeout,
        patience=Patience(
            backoff=retry.backoff_factor if retry else options.backoff_seconds,
            breaker_after=retry.total if retry else options.breaker_after,
            breaker_seconds=options.breaker_seconds,
        ),
    )
    return Carrier(name, sink, pace, _buffer(options))


def _buffer(options: kinds.Common) -> Buffer:
    if options.spool is None:
        return MemoryBuffer(options.queue_capacity)
    return open_spool(
        options.spool,
        SpoolOptions(options.spool_max_bytes, options.spool_policy, options.spool_fsync, options.queue_capacity),
    )


_GUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def onelake(workspace: str, lakehouse: str) -> str:
    """`Sales`, `Bronze.Lakehouse` → `abfss://Sales@onelake.dfs.fabric.microsoft.com/Bronze.Lakehouse/Files`."""
    by_id = _GUID.fullmatch(workspace), _GUID.fullmatch(lakehouse)
    if bool(by_id[0]) != bool(by_id[1]):
        raise SettingError(
            "setting `transport`: OneLake takes two GUIDs or two names, not one of each",
            hint="give `workspace` and `lakehouse` in the same form",
        )
    item = lakehouse if by_id[1] or "." in lakehouse else f"{lakehouse}.Lakehouse"
    return f"abfss://{quote(workspace)}@onelake.dfs.fabric.microsoft.com/{quote(item)}/Files"


def lake_base(options: kinds.LakeOptions, settings: Settings) -> str:
    """The address of the lake: `base`, or the OneLake path of `workspace` and `lakehouse`, or the `lake` setting."""
    if options.workspace and options.lakehouse:
        return onelake(options.workspace, options.lakehouse)
    if options.workspace or options.lakehouse:
        raise SettingError(
            "setting `transport`: OneLake needs both `workspace` and `lakehouse`", hint="give both, or `base` instead"
        )
    base = options.base or settings.lake
    if not base:
        raise SettingError("setting `transport.base`: the lake transport needs it", hint="or set `lake`")
    return base


def files_at(base: str, options: kinds.LakeOptions, files_for: FilesFor | None) -> Files:
    """Local disk as it is; elsewhere through the Spark session, or fsspec where there is none."""
    if scheme_of(base) in {"", "file"}:
        return LocalFiles()
    if files_for is not None:
        return files_for(base)
    if options.workspace:
        raise TransportError(
            f"cannot write to {base}: no Spark session was found to take credentials from",
            hint="attach to a live session: colline.attach(spark, …)",
        )
    return FsspecFiles(base, options.storage_options)


def _lake(options: kinds.LakeOptions, settings: Settings, files_for: FilesFor | None) -> Sink:
    base = lake_base(options, settings)
    if scheme_of(base) in {"", "file"}:
        base = str(local_path(base).absolute())  # a job may change its folder later
    return LakeSink(base, options.folder, files_at(base, options, files_for))


def _file(options: kinds.FileOptions, *_: Any) -> Sink:
    if scheme_of(options.location) not in {"", "file"}:
        raise SettingError(
            f"setting `transport.location`: {options.location} is not a local path",
            hint='{"type": "lake", "base": …} writes anywhere',
        )
    if local_path(options.location).is_dir():
        raise SettingError(f"setting `transport.location`: {options.location} is a folder", hint="name a file in it")
    return FileSink(options.location)


def _console(options: kinds.ConsoleOptions, *_: Any) -> Sink:
    return ConsoleSink(options.stream)


def _http(options: kinds.HttpOptions, *_: Any) -> Sink:
    return HttpSink(options)


def _kafka(options: kinds.KafkaOptions, *_: Any) -> Sink:
    return KafkaSink(options)


def _nothing(*_: Any) -> Sink:
    return NothingSink()


Build = Callable[[Any, Settings, "FilesFor | None"], Sink]

# kind → how its sink is made
SINKS: dict[str, Build] = {
    "console": _console,
    "file": _file,
    "lake": _lake,
    "http": _http,
    "kafka": _kafka,
    "memory": _nothing,
    "noop": _nothing,
}
