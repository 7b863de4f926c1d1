"""`colline settings`: prints the effective settings and their sources."""

from __future__ import annotations

import json
from pathlib import Path

import click

from colline.cli.print_text import print_json, print_table
from colline.config import describe_settings, resolve, transport_from
from colline.errors import SettingError


@click.command(help="Show the effective settings, and where each one comes from.")
@click.option("--conf", "conf", multiple=True, metavar="KEY=VALUE", help="A Spark property, as for spark-submit.")
@click.option("--all", "everything", is_flag=True, help="Include settings that have their default value.")
@click.option("--check", is_flag=True, help="Also create the transport, to find invalid options.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def command(conf: tuple[str, ...], everything: bool, check: bool, as_json: bool) -> None:
    """Print one line per setting."""
    resolved = resolve(spark=properties(conf), folder=Path.cwd())
    if check:
        transport_from(resolved.settings).close(0)
    rows = [row for row in describe_settings(resolved) if everything or row[2] != "default"]
    if as_json:
        for name, value, origin in rows:
            print_json({"name": name, "value": value, "from": origin})
        return
    if not rows:
        click.echo("all settings have their default values; --all lists them", err=True)
        return
    print_table(("setting", "value", "from"), [(name, text(value), origin) for name, value, origin in rows])


def properties(conf: tuple[str, ...]) -> dict[str, str]:
    """`spark.colline.lake=/data` → `{"spark.colline.lake": "/data"}`."""
    pairs = [each.partition("=") for each in conf]
    wrong = [name for name, equals, _ in pairs if not equals]
    if wrong:
        raise SettingError(f"--conf {wrong[0]}: missing `=`", hint="--conf spark.colline.lake=/data/lake")
    return {name.strip(): value.strip() for name, _, value in pairs}


def text(value: object) -> str:
    """A value as a user would type it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
