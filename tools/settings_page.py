"""`docs/reference/settings.md`, made from the typed settings: `make settings-docs` writes it, a test compares it."""

from __future__ import annotations

import typing
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal

import msgspec

from colline.config import openlineage_aliases, sources
from colline.config.setting_names import struct_in
from colline.config.settings import Parent, Settings, Tags
from colline.config.transport_settings import OPTIONS, SAME_AS
from colline.transport import options

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "settings.md"

HEAD = """# Settings

One typed object holds every setting. This page is made from it (`make settings-docs`); `colline settings` prints what
is in force on your computer and where each value comes from, with secrets hidden.

## Where they come from

Weakest first; a stronger source overrides a weaker one, value by value:

1. `colline.toml`: the file that `COLLINE_CONFIG` names, else `./colline.toml`, else `~/.colline/colline.toml`
2. environment: `COLLINE__NAMESPACE`, nested with two underscores: `COLLINE__TRANSPORT__URL`; lists with commas or JSON
3. Spark conf: `spark.colline.namespace`, `spark.colline.transport.url`
4. the call: `colline.attach(spark, namespace="prod", transport={"type": "lake", "base": "/data/lake"})`

`batchSize`, `batch_size` and `BATCH_SIZE` are one name. A transport given with another `type` replaces the weaker one
as a whole, so that options of two kinds do not mix. A name that does not exist, or a value of the wrong kind, is an
error that names the nearest one:

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


def kind(annotation: Any) -> str:
    """`Annotated[float | None, …]` → `number`."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return kind(typing.get_args(annotation)[0])
    if origin in (typing.Union, UnionType):
        return " or ".join(dict.fromkeys(kind(each) for each in typing.get_args(annotation) if each is not NoneType))
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in typing.get_args(annotation))
    if origin is tuple:
        return "list"
    if origin is dict or struct_in(annotation):
        return "table"
    return {bool: "yes or no", int: "whole number", float: "number", str: "text"}.get(annotation, "any")


def described(annotation: Any) -> str:
    """The description that an annotation carries."""
    if typing.get_origin(annotation) is not typing.Annotated:
        return ""
    metas = [each for each in typing.get_args(annotation)[1:] if isinstance(each, msgspec.Meta)]
    return next((each.description for each in metas if each.description), "")


def default(field: msgspec.structs.FieldInfo) -> str:
    """The default as one would type it; a required one says so."""
    if field.required:
        return "required"
    value = field.default
    if value is msgspec.NODEFAULT:
        assert callable(field.default_factory)
        value = field.default_factory()
    if value is None or value in ({}, ()) or isinstance(value, msgspec.Struct):
        return ""
    return f"`{msgspec.json.encode(value).decode()}`"


def rows(struct: type[msgspec.Struct], *, prefix: str = "", without: frozenset[str] = frozenset()) -> str:
    """A table of the struct's fields."""
    hints = typing.get_type_hints(struct, include_extras=True)
    lines = ["| name | kind | default | meaning |", "|---|---|---|---|"]
    for field in msgspec.structs.fields(struct):
        if field.name not in without:
            shown = (
                f"`{prefix}{field.encode_name}`",
                kind(hints[field.name]),
                default(field),
                described(hints[field.name]),
            )
            lines.append("| " + " | ".join(shown) + " |")
    return "\n".join(lines)


def own_options(struct: type[msgspec.Struct]) -> str:
    """The options that this kind has beyond the common ones, or with another default."""
    common = {field.name: field.default for field in msgspec.structs.fields(options.Common)}
    same = {field.name for field in msgspec.structs.fields(struct) if common.get(field.name, ...) == field.default}
    return rows(struct, without=frozenset(same & common.keys()))


def transports() -> str:
    """A section per kind of transport."""
    parts = [
        "## Transports",
        "`transport` is one table, a list of tables (every event goes to each), or in Python an object with `emit`. "
        "Without it events go to the lake that `lake` names, and without that to the console.",
        "### Options of all of them",
        rows(options.Common),
    ]
    for name, struct in OPTIONS.items():
        others = [other for other, target in SAME_AS.items() if target == name]
        parts += [
            f"### {name}",
            (struct.__doc__ or "").strip() if name != "noop" else "Takes everything, keeps nothing.",
        ]
        parts += [f"Also called {', '.join(f'`{other}`' for other in others)}."] if others else []
        parts += [own_options(struct)] if struct is not options.Common else []
    parts += [
        "### composite",
        "`transports` is a list or a table of transports. Each has its own queue and thread; one that fails or hangs "
        "never stops another. A list as `transport` is the same.",
        "### Tables inside options",
        "`auth`:",
        rows(options.AuthOptions, prefix="auth."),
        "`retry`:",
        rows(options.RetryOptions, prefix="retry."),
        "`sslContext`:",
        rows(options.SslOptions, prefix="sslContext."),
        "### Of other packages",
        "A package adds a transport by the entry point group `colline.transports`: name → a callable that takes the "
        "options as a dict and gives an object with `emit(event: bytes)` and, if it likes, `close()`; or a "
        "`colline.transport.Sink`, which is handed whole batches. "
        "It runs on a thread of its own behind the same queue, so it may block and raise.",
    ]
    return "\n\n".join(parts)


def names() -> str:
    """OpenLineage's names and ours."""
    lines = ["| OpenLineage | here |", "|---|---|"]
    lines += [f"| `spark.openlineage.{name}` | `{target}` |" for name, (target, _) in openlineage_aliases.SPARK.items()]
    lines += ["| `spark.openlineage.transport.*` | `transport.*` |"]
    lines += [f"| `{name}` | `{target}` |" for name, (target, _) in openlineage_aliases.ENVIRONMENT.items()]
    lines += ["| `OPENLINEAGE__TRANSPORT__*`, `OPENLINEAGE__TAGS__*` | `transport.*`, `tags.*` |"]
    aliases = ", ".join(f"`{other}` = `{target}`" for other, target in options.ALIASES.items())
    return "\n".join(lines) + f"\n\nOptions that its clients spell otherwise: {aliases}."


def page() -> str:
    """The whole page."""
    short = ", ".join(f"`{name}`" for name in sources.SHORT)
    return (
        "\n\n".join(
            [
                HEAD.rstrip(),
                "## All settings",
                rows(Settings),
                f"Short names in the environment: {short}.",
                "`tags`:",
                rows(Tags, prefix="tags."),
                "`parent`:",
                rows(Parent, prefix="parent."),
                transports(),
                "## OpenLineage's names",
                "They are honoured, weaker than ours in the same source. "
                "Other `spark.openlineage.*` properties are left alone.",
                names(),
            ]
        )
        + "\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
