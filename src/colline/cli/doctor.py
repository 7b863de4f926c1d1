"""`colline doctor`: lists what is missing on this computer, and how to get it."""

from __future__ import annotations

import json
import sys

import click

from colline.cli.print_text import print_line
from colline.environment.doctor import Check, State, check_all
from colline.terminal_text import escape_control_characters

MARKS = {State.OK: ("ok", "green"), State.MISSING: ("MISSING", "red"), State.ABSENT: ("-", "yellow")}


@click.command(epilog="Exit code: 0 if everything required is installed, 1 if something is missing.")
@click.option("--lake", envvar="COLLINE_LAKE", metavar="PATH", help="Check this lake, too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(lake: str | None, as_json: bool) -> None:
    """Check what this machine lacks, and how to get it."""
    checks = check_all(lake)
    if as_json:
        click.echo(json.dumps({"checks": [check.to_dict() for check in checks]}, indent=2))
    else:
        _print(checks)
    sys.exit(int(any(check.state is State.MISSING for check in checks)))


def _print(checks: list[Check]) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        mark, colour = MARKS[check.state]
        click.echo(
            f"{check.name:<{width}}  {click.style(f'{mark:<7}', fg=colour)}  {escape_control_characters(check.found)}"
        )
        if check.hint:
            print_line(f"{'':<{width}}  {'':<7}  hint: {check.hint}")
    missing = [check.name for check in checks if check.state is State.MISSING]
    click.echo(f"missing: {', '.join(missing)}" if missing else "ready: everything required is installed", err=True)
