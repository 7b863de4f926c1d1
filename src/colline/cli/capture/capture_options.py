"""What `colline run` and `colline connect-server` share: the options that decide where captured events are sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from colline.errors import SettingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from colline.cli.options import Decorated

DEFAULT_LAKE = "colline-lake"


def capture_options(decorated: Decorated) -> Decorated:
    """Adds `--lake`, `--transport` and `--namespace`."""
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


_OPTIONS = (
    click.option(
        "--lake",
        envvar="COLLINE_LAKE",
        metavar="PATH",
        help=f"Write events to this lake's landing folder. Default: {DEFAULT_LAKE}, if no setting gives a destination.",
    ),
    click.option("--transport", metavar="JSON", help='Send events here instead: \'{"type": "http", "url": "…"}\'.'),
    click.option("--namespace", metavar="NAME", help="OpenLineage namespace of the jobs."),
)


def given_settings(lake: str | None, transport: str | None, namespace: str | None) -> dict[str, Any]:
    """The settings in these options; an option that is not given is left out."""
    flags = {"transport": _parse_transport(transport), "lake": _absolute_path(lake), "namespace": namespace}
    return {name: value for name, value in flags.items() if value}


def with_destination(session: SparkSession, given: Mapping[str, Any]) -> dict[str, Any]:
    """The given settings, with a lake in the working folder if no setting gives a destination."""
    from colline.capture.session_names import spark_conf
    from colline.config import settings_from

    settings = settings_from(given, spark=spark_conf(session))
    if settings.transport is not None or settings.lake is not None:
        return dict(given)
    return {**given, "lake": str(Path(DEFAULT_LAKE).absolute())}


def _absolute_path(lake: str | None) -> str | None:
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
