"""The table of endpoints as the Markdown of docs/rest.md. `python -m colline.server.openapi.reference` prints it."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import msgspec

from colline.server.endpoints import ENDPOINTS, Endpoint, Group
from colline.server.http_errors import CODES
from colline.server.openapi.examples import EXAMPLES
from colline.server.parameters import Parameter

_HEADINGS: dict[Group, str] = {
    "questions": "Questions",
    "page": "For the page",
    "receive": "Receiving events",
    "marquez": "For clients of Marquez",
    "service": "Service",
}

_OPENING = """\
# REST

`colline serve` answers every question of the command line over HTTP, with the same JSON as `--json`.
This page is made from the server's table of endpoints (`make rest-docs`); `/openapi.json` is that table for programs.

## Rules for all

- JSON in UTF-8. Times are RFC 3339 in UTC (`2026-01-31T12:00:00Z`). Every object may carry more keys than shown here.
- Beyond loopback every request needs `Authorization: Bearer TOKEN`; the scope is named at each endpoint (`admin` has
  all). `/healthz`, `/readyz` and `/openapi.json` need none.
- An answer has `ETag`, made from the snapshot's version and the question. With `If-None-Match` an unchanged answer is
  304 without a body. `X-Colline-Snapshot` names the snapshot that answered; when it differs from the one before, there
  is newer lineage.
- A cut answer has `left_out` > 0 and a `cursor`. The same request with `cursor=…` gives the next rows. Totals and
  verdict are always those of the whole answer. All pages of one cursor come from one snapshot; when that is gone the
  answer is 410 `bad_cursor`: ask again without the cursor.
- What the answers hold is told in [answers.md](answers.md); `id`s in `edges` are those of `columns` and `of`.
- A column's exact name, whatever is in it, is a JSON list: `["file", "/lake/gold/orders", "total"]`.
- An unknown parameter is an error, so that a misspelt one is not ignored in silence.

## Errors

Every error has one shape:

```json
{"error": "`email` fits 3 columns", "code": "ambiguous", "hint": "name more of it",
 "candidates": ["silver.customers.email", "gold.contacts.email", "bronze.customers.email"]}
```

| code | meaning |
|---|---|
"""

_STATUSES = """
400 wrong parameter, 401 no valid token, 403 wrong scope, 404 no such thing, 405 wrong method, 409 ambiguous name,
410 cursor too old, 431 address or headers too long, 503 no lineage yet. Receiving adds 408, 413, 415, 422, 429, 507.
"""


def _parameter(parameter: Parameter) -> str:
    kind = "one of " + ", ".join(f"`{c}`" for c in parameter.choices) if parameter.choices else parameter.kind
    marks = [kind, *(["repeated"] if parameter.repeated else []), *(["**required**"] if parameter.required else [])]
    default = "" if parameter.default is None else f" Default `{str(parameter.default).lower()}`."
    return f"| `{parameter.name}` | {', '.join(marks)} | {parameter.about}.{default} |"


def _section(endpoint: Endpoint) -> Iterable[str]:
    yield f"### `{endpoint.method} {endpoint.path}`\n"
    yield f"{endpoint.summary} Scope: {endpoint.scope}.\n"
    if endpoint.parameters:
        yield "| parameter | kind | meaning |\n|---|---|---|"
        yield from map(_parameter, endpoint.parameters)
        yield ""
    if endpoint.name in EXAMPLES:
        text = msgspec.json.format(msgspec.json.encode(EXAMPLES[endpoint.name]), indent=1).decode()
        yield f"```json\n{text}\n```\n"


def reference() -> str:
    """The whole of docs/rest.md."""
    lines = [_OPENING + "\n".join(f"| `{code}` | {meaning} |" for code, meaning in CODES.items()), _STATUSES]
    for group, heading in _HEADINGS.items():
        lines.append(f"## {heading}\n")
        for endpoint in ENDPOINTS:
            if endpoint.group == group:
                lines.extend(_section(endpoint))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(reference())
