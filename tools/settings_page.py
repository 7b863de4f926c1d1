"""Generates `docs/reference/settings.md` from the settings: `make settings-docs`. A test checks it."""

from __future__ import annotations

import typing
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal

import msgspec

from colline.config import openlineage_aliases, sources
from colline.config.setting_names import find_struct
from colline.config.settings import Kafka, Parent, Settings, Tags
from colline.config.transport_settings import KIND_ALIASES, OPTIONS
from colline.transport import options

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "settings.md"

HEAD = """# Settings

This page is generated from the code (`make settings-docs`). `colline settings` prints the effective settings on your
computer and the source of each value, with secrets hidden.

## Sources

A later source overrides an earlier one, value by value:

1. `colline.toml`: the file in `COLLINE_CONFIG`, or `./colline.toml`, or `~/.colline/colline.toml`
2. environment: `COLLINE__NAMESPACE`; two underscores for nested names: `COLLINE__TRANSPORT__URL`; lists with commas or
   as JSON
3. Spark conf: `spark.colline.namespace`, `spark.colline.transport.url`
4. the call: `colline.attach(spark, namespace="prod", transport={"type": "lake", "base": "/data/lake"})`

`batchSize`, `batch_size` and `BATCH_SIZE` are the same name. A transport with another `type` replaces the earlier one
completely. An unknown name or a value of the wrong type is an error with a hint:

```
error: there is no setting `namespce`
hint: did you mean `namespace`?
```

```toml
# colline.toml
lake = "/data/lake"
namespace = "production"

[transport]
type = "http"
url = "https://lineage.example:5000"
auth = { type = "api_key", apiKey = "…" }
spool = "/var/spool/colline"
```
"""


def type_name(annotation: Any) -> str:
    """The name of a type for users: `Annotated[float | None, …]` → `number`."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return type_name(typing.get_args(annotation)[0])
    if origin in (typing.Union, UnionType):
        return " or ".join(
            dict.fromkeys(type_name(each) for each in typing.get_args(annotation) if each is not NoneType)
        )
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in typing.get_args(annotation))
    if origin is tuple:
        return "list"
    if origin is dict or find_struct(annotation):
        return "table"
    return {bool: "yes or no", int: "whole number", float: "number", str: "text"}.get(annotation, "any")


def description(annotation: Any) -> str:
    """The description in a type annotation."""
    if typing.get_origin(annotation) is not typing.Annotated:
        return ""
    metas = [each for each in typing.get_args(annotation)[1:] if isinstance(each, msgspec.Meta)]
    return next((each.description for each in metas if each.description), "")


def default_text(field: msgspec.structs.FieldInfo) -> str:
    """The default as a user would write it, or `required`."""
    if field.required:
        return "required"
    value = field.default
    if value is msgspec.NODEFAULT:
        assert callable(field.default_factory)
        value = field.default_factory()
    if value is None or value in ({}, ()) or isinstance(value, msgspec.Struct):
        return ""
    return f"`{msgspec.json.encode(value).decode()}`"


def field_table(struct: type[msgspec.Struct], *, prefix: str = "", without: frozenset[str] = frozenset()) -> str:
    """A Markdown table of the fields of a struct."""
    hints = typing.get_type_hints(struct, include_extras=True)
    lines = ["| name | kind | default | meaning |", "|---|---|---|---|"]
    for field in msgspec.structs.fields(struct):
        if field.name not in without:
            cells = (
                f"`{prefix}{field.encode_name}`",
                type_name(hints[field.name]),
                default_text(field),
                description(hints[field.name]),
            )
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def own_options(struct: type[msgspec.Struct]) -> str:
    """The options that only this kind of transport has, or that have another default."""
    common = {field.name: field.default for field in msgspec.structs.fields(options.TransportOptions)}
    same = {field.name for field in msgspec.structs.fields(struct) if common.get(field.name, ...) == field.default}
    return field_table(struct, without=frozenset(same & common.keys()))


def transport_sections() -> str:
    """A section for each kind of transport."""
    parts = [
        "## Transports",
        "`transport` is a table, a list of tables (every event is sent to each), or in Python an object with `emit`. "
        "A text is the path of a lake or the URL of a server. The default is the lake in the setting `lake`. "
        "Without that setting, events stay in memory and each write prints one line.",
        "### Common options",
        field_table(options.TransportOptions),
    ]
    for name, struct in OPTIONS.items():
        others = [other for other, target in KIND_ALIASES.items() if target == name]
        parts += [
            f"### {name}",
            (struct.__doc__ or "").strip() if name != "noop" else "Discards all events.",
        ]
        parts += [f"Also called {', '.join(f'`{other}`' for other in others)}."] if others else []
        parts += [own_options(struct)] if struct is not options.TransportOptions else []
    parts += [
        "### composite",
        "`transports` is a list or a table of transports. Each has its own queue and thread; one that fails or hangs "
        "does not affect the others. A list as `transport` has the same effect.",
        "### Nested options",
        "`auth`:",
        field_table(options.AuthOptions, prefix="auth."),
        "`retry`:",
        field_table(options.RetryOptions, prefix="retry."),
        "`sslContext`:",
        field_table(options.SslOptions, prefix="sslContext."),
        "### Transports of other packages",
        "A package adds a transport with the entry point group `colline.transports`. It is a callable with one "
        "parameter, the options as a dict. It returns an object with `emit(event: bytes)` and optionally "
        "`close()`, or a `colline.transport.Sink`, which receives batches. "
        "It runs on its own thread behind the common queue, so it may block and raise.",
    ]
    return "\n\n".join(parts)


def openlineage_names() -> str:
    """A table of the names of OpenLineage and of colline."""
    lines = ["| OpenLineage | colline |", "|---|---|"]
    lines += [f"| `spark.openlineage.{name}` | `{target}` |" for name, (target, _) in openlineage_aliases.SPARK.items()]
    lines += ["| `spark.openlineage.transport.*` | `transport.*` |"]
    lines += [f"| `{name}` | `{target}` |" for name, (target, _) in openlineage_aliases.ENVIRONMENT.items()]
    lines += ["| `OPENLINEAGE__TRANSPORT__*`, `OPENLINEAGE__TAGS__*` | `transport.*`, `tags.*` |"]
    aliases = ", ".join(f"`{other}` = `{target}`" for other, target in options.ALIASES.items())
    return "\n".join(lines) + f"\n\nOther names of options in its clients: {aliases}."


def page() -> str:
    """The text of the page."""
    short = ", ".join(f"`{name}`" for name in sources.SHORT_NAMES)
    return (
        "\n\n".join(
            [
                HEAD.rstrip(),
                "## All settings",
                field_table(Settings),
                f"Short names in the environment: {short}.",
                "`tags`:",
                field_table(Tags, prefix="tags."),
                "`parent`:",
                field_table(Parent, prefix="parent."),
                "`kafka` ([guide](../guides/ingest.md#from-kafka-or-event-hubs)):",
                field_table(Kafka, prefix="kafka."),
                transport_sections(),
                "## OpenLineage's names",
                "These names are accepted too. In the same source, a name of colline overrides them. "
                "Other `spark.openlineage.*` properties are ignored.",
                openlineage_names(),
            ]
        )
        + "\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
