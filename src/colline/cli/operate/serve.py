"""`colline serve`: receives events, and serves the REST API and the web page."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shlex
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from colline.cli.options import Decorated
from colline.cli.print_text import print_line
from colline.environment.extras import require_package
from colline.environment.listen_address import bound_socket
from colline.errors import LakeError, SettingError
from colline.lake.lake_folders import is_lake
from colline.lake.location import is_remote
from colline.terminal_text import get_logger

if TYPE_CHECKING:
    from colline.mcp.agent_http import AgentEndpoint
    from colline.server.server_settings import ServeSettings
    from colline.transport.options import KafkaOptions

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_BYTES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def _seconds(_: click.Context, __: click.Parameter, value: str | None) -> float | None:
    """The seconds of `60s`, `5m`, `1h`, `every 60s`, or a plain number."""
    if value is None:
        return None
    found = re.fullmatch(r"(?:every\s+)?(\d+(?:\.\d+)?)\s*([smh]?)", value.strip())
    if found is None or float(found[1]) <= 0:
        raise click.BadParameter(f"{value!r} is not a time such as 60s, 5m or 1h")
    return float(found[1]) * _SECONDS[found[2]]


def _bytes(_: click.Context, __: click.Parameter, value: str) -> int:
    """The bytes of `16MB`, `512KB`, or a plain number."""
    found = re.fullmatch(r"(\d+)\s*([KMG]?)B?", value.strip(), re.IGNORECASE)
    if found is None or int(found[1]) == 0:
        raise click.BadParameter(f"{value!r} is not a size such as 16MB")
    return int(found[1]) * _BYTES[found[2].upper()]


def _lakes(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, Path]:
    """The lakes of `staging=/lakes/staging` by name."""
    named = [value.partition("=") for value in values]
    for name, _equals, path in named:
        if not name or not path:
            raise click.BadParameter(f"{name!r} is not of the form NAME=PATH")
    return {name: Path(path).resolve() for name, _equals, path in named}


def _size_option(name: str, default: str, text: str) -> Callable[[Decorated], Decorated]:
    return click.option(name, callback=_bytes, default=default, show_default=True, metavar="SIZE", help=text)


def _time_option(name: str, default: str | None, text: str) -> Callable[[Decorated], Decorated]:
    shown = default is not None
    return click.option(name, callback=_seconds, default=default, show_default=shown, metavar="TIME", help=text)


def _pem_option(name: str, text: str) -> Callable[[Decorated], Decorated]:
    return click.option(name, type=click.Path(exists=True, dir_okay=False), help=text)


@click.command()
@click.option("--lake", envvar="COLLINE_LAKE", required=True, metavar="PATH", help="The lake (or COLLINE_LAKE).")
@click.option("--create", is_flag=True, help="Make a lake of a folder that is not one yet.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=5000, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks one.")
@_time_option("--ingest", None, "Also ingest, with a check for new files this often, such as 1s.")
@click.option("--forward", metavar="ADDRESS", help="Also send received events to kafka://broker/topic.")
@click.option("--require-token", is_flag=True, help="Require a token on loopback as well.")
@click.option("--allowed-host", "hosts", multiple=True, help="A host name that clients may use, next to localhost.")
@click.option("--cors-origin", "origins", multiple=True, help="An origin whose web pages may use the API.")
@_size_option("--max-body", "16MB", "Largest request body, also after decompression.")
@_size_option("--max-waiting", "64MB", "Reply 429 when more bytes are received but not on disk.")
@_time_option("--body-timeout", "30s", "Time limit for headers and body to arrive.")
@_time_option("--answer-timeout", "30s", "Time limit for an answer.")
@_time_option("--seal-after", "2s", "Longest time until an event is in landing.")
@click.option(
    "--other-lake",
    "others",
    multiple=True,
    callback=_lakes,
    metavar="NAME=PATH",
    help="A lake that can be compared with this one. Repeatable.",
)
@click.option("--readers", type=click.IntRange(1, 64), help="Worker processes for queries; one per core, at most 4.")
@_pem_option("--tls-cert", "Certificate chain, PEM.")
@_pem_option("--tls-key", "Private key of the certificate, PEM.")
@click.option("--proxy", "proxies", multiple=True, help="Address of a proxy whose X-Forwarded-* headers are trusted.")
@click.option("--access-log/--no-access-log", default=True, show_default=True, help="Log each request on stderr.")
def command(**options: Any) -> None:
    """Receive OpenLineage events, and serve the REST API and the web page.

    The server listens on loopback only. With another --host, requests need a token (`colline token create`).
    """
    require_package("uvicorn")
    import uvicorn

    from colline.server.http_limits import ConnectionLimits, protocol_with_limits
    from colline.server.service import Service

    settings = _settings(options)
    _check_tokens(settings)
    _set_up_logs()
    service = Service.from_settings(settings, _agent_endpoint(settings))
    listener = bound_socket(settings.host, settings.port)
    limits = ConnectionLimits(header_seconds=settings.body_seconds)
    if options["proxies"]:  # all clients have the address of the proxy
        limits.max_connections_per_client = limits.max_connections
    config = uvicorn.Config(service.app(), http=protocol_with_limits(limits), **_uvicorn_options(options))
    _print_address(settings, listener, tls=options["tls_cert"] is not None)
    # uvicorn shuts down on Ctrl-C, and then raises it again
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


def _uvicorn_options(options: dict[str, Any]) -> dict[str, Any]:
    return {
        "ws": "none",
        "access_log": False,
        "log_config": None,
        "lifespan": "on",
        "server_header": False,
        "timeout_keep_alive": 75,
        "timeout_graceful_shutdown": 15,
        "ssl_certfile": options["tls_cert"],
        "ssl_keyfile": options["tls_key"],
        "proxy_headers": bool(options["proxies"]),
        "forwarded_allow_ips": list(options["proxies"]) or None,
    }


def _agent_endpoint(settings: ServeSettings) -> AgentEndpoint | None:
    """What answers agents at /mcp; None without the extra `mcp`."""
    try:
        from colline.mcp.agent_http import AgentEndpoint
    except ImportError:
        return None
    return AgentEndpoint(settings.source, settings.answer_seconds)


def _settings(options: dict[str, Any]) -> ServeSettings:
    from colline.server.receive.group_commit import CommitLimits
    from colline.server.server_settings import ServeSettings

    address = options["lake"] if is_remote(options["lake"]) else None
    lake = _local_lake(Path(options["lake"]), create=options["create"]) if address is None else _copy(address, options)
    if bool(options["tls_cert"]) != bool(options["tls_key"]):
        raise SettingError("--tls-cert and --tls-key must be given together", hint="give both, or none")
    return ServeSettings(
        lake=lake.resolve(),
        address=address,
        host=options["host"],
        port=options["port"],
        needs_token=options["require_token"],
        allowed_hosts=frozenset(host.lower() for host in options["hosts"]),
        cors_origins=options["origins"],
        max_body=options["max_body"],
        body_seconds=options["body_timeout"],
        answer_seconds=options["answer_timeout"],
        ingest_seconds=options["ingest"],
        access_log=options["access_log"],
        other_lakes=options["others"],
        readers=options["readers"] or min(4, os.cpu_count() or 1),
        max_held_bytes=options["max_waiting"],
        spool=CommitLimits(seal_seconds=options["seal_after"]),
        forward=_forward(options["forward"]),
    )


def _local_lake(lake: Path, *, create: bool) -> Path:
    if lake.is_file():
        raise LakeError(f"{lake} is not a folder", hint="serve a lake on a disk or in object storage")
    if not create and not is_lake(lake):
        raise LakeError(
            f"{lake} is not a lake", hint="check --lake; `--create` makes a new lake there, which receives events"
        )
    return lake


def _copy(address: str, options: dict[str, Any]) -> Path:
    """The folder with the copy of a remote lake, which is refreshed now."""
    from colline.graph.snapshot.remote_copy import RemoteLake

    for name in ("create", "ingest", "forward"):
        if options[name]:
            raise SettingError(
                f"--{name} needs a lake on a local or mounted disk",
                hint=f"the server answers questions about {address}; run `colline ingest` where Spark can write to it",
            )
    remote = RemoteLake(address)
    remote.refresh()
    return remote.home


def _forward(address: str | None) -> KafkaOptions | None:
    """How to connect to the topic, from the settings in force."""
    if address is None:
        return None
    from colline.config import settings_from
    from colline.config.kafka_connection import client_properties, parse_topic
    from colline.transport.options import KafkaOptions

    topic = parse_topic(address)
    return KafkaOptions(topic_name=topic.name, properties=client_properties(topic, settings_from().kafka))


def _check_tokens(settings: ServeSettings) -> None:
    from colline.server.server_settings import token_file
    from colline.server.tokens import TokenBook

    if settings.requires_token and not TokenBook(token_file(settings.lake)).all():
        hint = f"colline token create --lake {shlex.quote(settings.source)} --scope send --scope read"
        raise SettingError(f"{settings.host} needs a token, and this lake has none", hint=hint)


def _print_address(settings: ServeSettings, listener: socket.socket, *, tls: bool) -> None:
    port = listener.getsockname()[1]
    host = f"[{settings.host}]" if ":" in settings.host.strip("[]") else settings.host
    address = f"{'https' if tls else 'http'}://{host}:{port}"
    print_line(f"colline serves {settings.source} at {address}", err=True)
    if settings.requires_token and not tls:
        click.echo("warning: tokens are sent unencrypted; use --tls-cert or a proxy with TLS", err=True)


def _set_up_logs() -> None:
    stderr = logging.StreamHandler(sys.stderr)
    stderr.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    for name in ("colline.server", "colline.access", "uvicorn.error"):
        logger = get_logger(name)
        logger.handlers, logger.propagate = [stderr], False
        logger.setLevel(logging.INFO)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
