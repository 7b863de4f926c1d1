"""`colline rebuild`: silver and gold again from bronze."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from colline.pipeline.rebuild import Rebuilt


@click.command()
@click.option("--lake", envvar="COLLINE_LAKE", required=True, metavar="PATH", help="The lake (or COLLINE_LAKE).")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def command(lake: str, as_json: bool) -> None:
    """Make silver and gold again from every line that ever landed, under today's rules, with the same ids."""
    from colline.cli.ingest import given_options
    from colline.pipeline.rebuild import rebuild

    options = given_options()
    done = _unless_stopped(lambda: rebuild(lake, options=options, wrote=lambda table: click.echo(table, err=True)))
    text = f"{done.events} events rebuilt, {done.quarantined} lines were no events, {done.seconds:.1f} s"
    click.echo(json.dumps(done.to_dict()) if as_json else text)


def _unless_stopped(work: Callable[[], Rebuilt]) -> Rebuilt:
    """What the work gives; Ctrl-C ends the program. It works in another thread, where no Ctrl-C cuts a call short."""
    from colline.pipeline.ingest import asked_to_end

    done: Future[Rebuilt] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 (raised where the user waits)
            done.set_exception(error)

    with asked_to_end() as asked:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.2)
            if asked.is_set():
                click.echo("stopped; the lake is as it was, or the next ingest puts the rest in its place", err=True)
                sys.exit(130)
    return done.result()
