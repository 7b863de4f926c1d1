"""`colline run job.py args…`: an unmodified PySpark script with capture on."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import click

from colline.cli.handover import Handover
from colline.errors import SettingError


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Exit code, output and errors are the script's own.",
)
@click.option("--lake", envvar="COLLINE_LAKE", metavar="PATH", help="Send the events to this lake's landing folder.")
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
    settings: dict[str, Any] = {"transport": _transport(lake, transport), "namespace": namespace}
    raise Handover(lambda: _run(script, arguments, {name: value for name, value in settings.items() if value}))


def _run(path: Path, arguments: tuple[str, ...], settings: dict[str, Any]) -> None:
    """Run the script; every session it makes is watched, and what was captured is delivered before the process ends."""
    import colline
    from colline.capture.script import Script, on_session

    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        from colline.machine.java import ensure_java

        ensure_java()
    on_session(lambda session: colline.attach(session, **settings))
    Script(path, arguments).run()


def _transport(lake: str | None, transport: str | None) -> Any:
    """The transport named by the flags; None leaves it to the settings of the environment and of Spark."""
    if transport is None:
        return {"type": "lake", "base": lake} if lake else None
    try:
        return json.loads(transport)
    except json.JSONDecodeError as error:
        hint = 'write it as JSON, for example \'{"type": "file", "location": "events.ndjson"}\''
        raise SettingError(f"--transport is not JSON: {error}", hint=hint) from error
