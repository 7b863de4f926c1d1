"""`colline doctor`: lists what is missing on this computer, and how to get it."""

from __future__ import annotations

import json
import os
import sys

import click

from colline.cli.print_text import print_line
from colline.environment.doctor import Check, State, check_all
from colline.environment.platforms import find_platform, notebook_runtime, spark_defaults
from colline.terminal_text import escape_control_characters

MARKS = {State.OK: ("ok", "green"), State.MISSING: ("MISSING", "red"), State.ABSENT: ("-", "yellow")}


@click.command(epilog="Exit code: 0 if everything required is installed, 1 if something is missing.")
@click.option("--lake", envvar="COLLINE_LAKE", metavar="PATH", help="Check this lake, too.")
@click.option("--platform", "shows_platform", is_flag=True, help="Print what the platform reveals, for a report.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(lake: str | None, shows_platform: bool, as_json: bool) -> None:
    """Check what this machine lacks, and how to get it."""
    if shows_platform:
        _print_platform(as_json=as_json)
        return
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
    verdict = f"not ready: {', '.join(missing)}" if missing else "ready: everything required is installed"
    click.echo(verdict, err=True)


def _print_platform(*, as_json: bool) -> None:
    """The platform, the names found on it, and where each of them comes from."""
    found = find_platform(spark_defaults(os.environ), os.environ, notebook_runtime())
    report = {
        "platform": found.platform,
        "job": found.job,
        "tags": dict(found.tags),
        "settings": dict(found.settings),
        "python": ".".join(map(str, sys.version_info[:3])),
        "auto_attach": "colline.capture.auto_attach" in sys.modules,
    }
    if as_json:
        click.echo(json.dumps(report, indent=2))
        return
    print_line(f"platform     {found.platform or 'not recognized'}")
    print_line(f"job          {found.job or 'no name found'}")
    for title, values in (("tag", found.tags), ("setting", found.settings)):
        for name, value in values.items():
            print_line(f"{title:<12} {name} = {value}")
    print_line(f"auto attach  {'on' if report['auto_attach'] else 'off (set COLLINE_ATTACH=1)'}")
