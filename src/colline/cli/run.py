"""`colline run job.py args…`: runs an unmodified PySpark script with lineage capture."""

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


class RunOutsideClick(BaseException):
    """Raised by a command to have `call` run after click has returned; not an error.

    click turns Ctrl-C and broken pipes into its own messages and exit codes; the user's script must keep Python's.
    """

    def __init__(self, call: Callable[[], None]) -> None:
        super().__init__()
        self.call = call


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Exit code, output and errors are those of the script.",
)
@click.option(
    "--lake",
    envvar="COLLINE_LAKE",
    metavar="PATH",
    help=f"Write events to this lake's landing folder. Default: {DEFAULT_LAKE}, if no setting gives a destination.",
)
@click.option("--transport", metavar="JSON", help='Send events here instead: \'{"type": "http", "url": "…"}\'.')
@click.option("--namespace", metavar="NAME", help="OpenLineage namespace of the jobs.")
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    lake: str | None, transport: str | None, namespace: str | None, script: Path, arguments: tuple[str, ...]
) -> None:
    """Run a PySpark script with lineage capture, without changing it.

    \b
    colline run --lake /data/lake job.py --date 2026-01-31
    """
    flags: dict[str, Any] = {"transport": _parse_transport(transport), "lake": _absolute(lake), "namespace": namespace}
    given = {name: value for name, value in flags.items() if value}
    raise RunOutsideClick(lambda: _run_script(script, arguments, given))


def _run_script(path: Path, arguments: tuple[str, ...], flags: dict[str, Any]) -> None:
    """Run the script and capture every Spark session it creates."""
    import colline
    from colline.capture.run_script import Script, on_session

    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        from colline.environment.java import ensure_java

        ensure_java()
    on_session(lambda session: colline.attach(session, **_with_destination(session, flags)))
    Script(path, arguments).run()


def _with_destination(session: Any, flags: dict[str, Any]) -> dict[str, Any]:
    """The flags, with a lake in the working folder if neither flags nor settings give a destination."""
    from colline.capture.session_names import spark_conf
    from colline.config import settings_from

    settings = settings_from(flags, spark=spark_conf(session))
    if settings.transport is not None or settings.lake is not None:
        return flags
    return {**flags, "lake": str(Path(DEFAULT_LAKE).absolute())}


def _absolute(lake: str | None) -> str | None:
    """The absolute path of a local lake, because a script may change its working folder. A URL stays unchanged."""
    return lake if lake is None or "://" in lake else str(Path(lake).absolute())


def _parse_transport(text: str | None) -> Any:
    """The value of --transport, parsed; None if it is not given."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        hint = 'write it as JSON, for example \'{"type": "file", "location": "events.ndjson"}\''
        raise SettingError(f"--transport is not JSON: {error}", hint=hint) from error
