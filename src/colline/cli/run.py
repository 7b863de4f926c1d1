"""`colline run job.py args…`: an unmodified PySpark script with capture on."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from colline.errors import SettingError

DEFAULT_LAKE = "colline-lake"


class Handover(BaseException):
    """Raised by a command whose work runs outside click; never an error."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__()
        self.work = work


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Exit code, output and errors are the script's own.",
)
@click.option(
    "--lake",
    envvar="COLLINE_LAKE",
    metavar="PATH",
    help=f"Send the events to this lake's landing folder; by default {DEFAULT_LAKE}, if no setting names one.",
)
@click.option("--transport", metavar="JSON", help='Send them elsewhere: \'{"type": "http", "url": "…"}\'.')
@click.option("--namespace", metavar="NAME", help="Namespace of the jobs.")
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    lake: str | None, transport: str | None, namespace: str | None, script: Path, arguments: tuple[str, ...]
) -> None:
    """Run a PySpark script with capture on, without changing it.

    \b
    colline run --lake /data/lake job.py --date 2026-01-31
    """
    flags: dict[str, Any] = {"transport": _transport(transport), "lake": _absolute(lake), "namespace": namespace}
    raise Handover(lambda: _run(script, arguments, {name: value for name, value in flags.items() if value}))


def _run(path: Path, arguments: tuple[str, ...], flags: dict[str, Any]) -> None:
    """Run the script; every session it makes is watched until it ends."""
    import colline
    from colline.capture.run_script import Script, on_session

    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        from colline.environment.java import ensure_java

        ensure_java()
    on_session(lambda session: colline.attach(session, **_destined(session, flags)))
    Script(path, arguments).run()


def _destined(session: Any, flags: dict[str, Any]) -> dict[str, Any]:
    """The flags, with a lake beside the script's working folder where nothing says where events go."""
    from colline.capture.session_names import spark_conf
    from colline.config import settings_from

    settings = settings_from(flags, spark=spark_conf(session))
    if settings.transport is not None or settings.lake is not None:
        return flags
    return {**flags, "lake": str(Path(DEFAULT_LAKE).absolute())}


def _absolute(lake: str | None) -> str | None:
    """The lake's full path, since a script may change its working folder; an address stays as it is."""
    return lake if lake is None or "://" in lake else str(Path(lake).absolute())


def _transport(text: str | None) -> Any:
    """The transport named by the flag; None leaves it to the lake and to the settings."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        hint = 'write it as JSON, for example \'{"type": "file", "location": "events.ndjson"}\''
        raise SettingError(f"--transport is not JSON: {error}", hint=hint) from error
