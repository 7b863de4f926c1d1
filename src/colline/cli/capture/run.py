"""`colline run job.py args…`: runs an unmodified PySpark script with lineage capture."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from colline.cli.capture.capture_options import capture_options, given_settings, with_destination


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
@capture_options
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(
    lake: str | None, transport: str | None, namespace: str | None, script: Path, *, arguments: tuple[str, ...]
) -> None:
    """Run a PySpark script with lineage capture, without changing it.

    \b
    colline run --lake /data/lake job.py --date 2026-01-31
    """
    given = given_settings(lake, transport, namespace)
    raise RunOutsideClick(lambda: _run_script(script, arguments, given))


def _run_script(path: Path, arguments: tuple[str, ...], flags: dict[str, Any]) -> None:
    """Run the script and capture every Spark session it creates."""
    import colline
    from colline.capture.run_script import Script, on_session

    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        from colline.environment.java import ensure_java

        ensure_java()
    on_session(lambda session: colline.attach(session, **with_destination(session, flags)))
    Script(path, arguments).run()
