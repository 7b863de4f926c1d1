"""`colline connect-server`: starts a Spark Connect server whose queries are captured."""

from __future__ import annotations

import click

from colline.cli.capture.capture_options import capture_options, given_settings, with_destination
from colline.cli.print_text import print_line
from colline.errors import SettingError

_TOKEN = "spark.connect.authenticate.token"  # noqa: S105 - the name of a property, not a token
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})


def _properties(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """The Spark properties of `--conf key=value`."""
    pairs = [value.partition("=") for value in values]
    for name, separator, _text in pairs:
        if not name.strip() or not separator:
            raise click.BadParameter(f"{name!r} is not of the form KEY=VALUE")
    return {name.strip(): text.strip() for name, _separator, text in pairs}


@click.command()
@capture_options
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=15002, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks one.")
@click.option(
    "--conf", multiple=True, callback=_properties, metavar="KEY=VALUE", help="A Spark property, such as spark.master."
)
def command(
    lake: str | None, transport: str | None, namespace: str | None, *, host: str, port: int, conf: dict[str, str]
) -> None:
    """Start a Spark Connect server with lineage capture.

    Queries of every client are captured, in any language; clients need nothing. Ctrl-C stops the server.

    \b
    colline connect-server --lake /data/lake --conf spark.master=local[4]
    """
    try:
        from colline.capture.connect.captured_server import captured_server, stop_signals
    except ImportError as error:
        raise SettingError(f"the Connect server needs {error.name}", hint="pip install 'colline[spark]'") from error
    given = given_settings(lake, transport, namespace)
    with (
        captured_server(host, port, conf, lambda session: with_destination(session, given)) as server,
        stop_signals() as stop,
    ):
        _print_address(host, server.port, has_token=_TOKEN in conf)
        server.wait(stop)
        print_line("stopping: delivering the last events", err=True)


def _print_address(host: str, port: int, *, has_token: bool) -> None:
    shown_host = f"[{host}]" if ":" in host.strip("[]") else host
    print_line(f"captured Spark Connect server at sc://{shown_host}:{port}", err=True)
    if host.lower() not in _LOOPBACK and not has_token:
        print_line(f"warning: everyone who reaches {host} can run queries; set --conf {_TOKEN}=…", err=True)
