"""Generates docs/reference/rest.md from the table of endpoints: `make rest-docs`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import msgspec

from colline.graph.queries.registry import Parameter
from colline.server.endpoints import ENDPOINTS, Endpoint, EndpointGroup
from colline.server.http_errors import CODES
from colline.server.openapi.examples import example_response

_HEADINGS: dict[EndpointGroup, str] = {
    "questions": "Questions",
    "catalog": "Catalog",
    "receive": "Receiving events",
    "service": "Service",
}

_OPENING = """\
# REST API

`colline serve` answers the questions of the query commands over HTTP, with the same JSON as `--json`.
`make rest-docs` generates this page from the table of endpoints; `/openapi.json` is the same table for programs.

## Rules

- Bodies are JSON in UTF-8. Times are RFC 3339 in UTC (`2026-01-31T12:00:00Z`). Later versions may add keys.
- Unless the server listens on loopback only, every request needs `Authorization: Bearer TOKEN` with the scope of the
  endpoint (`admin` includes all scopes). `/healthz`, `/readyz` and `/openapi.json` need no token.
- An answer has an `ETag`, made of the snapshot and the query. A request with `If-None-Match` gets 304 without a body
  if the answer has not changed. `X-Colline-Snapshot` is the name of the snapshot; it changes when there is newer
  lineage.
- An answer with more rows than `limit` has `left_out` > 0 and a `cursor`. The same request with `cursor=…` returns the
  next rows. Totals and verdict always describe the whole answer. All pages come from one snapshot; when it is gone,
  the response is 410 `bad_cursor`: repeat the request without the cursor.
- [answers.md](answers.md) describes the answers. The ids in `edges` are those of `columns` and `of`.
- The exact name of a column is a JSON list: `["file", "/lake/gold/orders", "total"]`.
- An unknown parameter is an error.

## Errors

Every error has the same shape:

```json
{"error": "`email` fits 3 columns", "code": "ambiguous", "hint": "write more of the name",
 "candidates": ["silver.customers.email", "gold.contacts.email", "bronze.customers.email"]}
```

| code | meaning |
|---|---|
"""

_STATUSES = """
400 invalid parameter, 401 no valid token, 403 wrong scope, 404 not found, 405 wrong method, 409 ambiguous name,
410 cursor too old, 431 URL or headers too long, 503 no lineage yet or no answer in time. The receiver also uses 408,
413, 415, 422, 429 and 507.
"""


def _parameter_row(parameter: Parameter) -> str:
    choices = ", ".join(f"`{choice}`" for choice in parameter.choices)
    notes = [f"one of {choices}" if choices else "text" if parameter.kind in ("column", "sql") else parameter.kind]
    notes += ["repeatable"] if parameter.repeatable else []
    notes += ["**required**"] if parameter.required else []
    default = "" if parameter.default is None else f" Default: `{str(parameter.default).lower()}`."
    return f"| `{parameter.name}` | {', '.join(notes)} | {parameter.help}.{default} |"


def _section(endpoint: Endpoint, *, has_example: bool) -> Iterator[str]:
    yield f"### `{endpoint.method} {endpoint.path}`\n"
    description = endpoint.request.question.description if endpoint.request else ""
    yield f"{' '.join(filter(None, (endpoint.summary, description)))} Scope: {endpoint.scope}.\n"
    if endpoint.request and endpoint.request.parameters:
        yield "| parameter | kind | meaning |\n|---|---|---|"
        yield from map(_parameter_row, endpoint.request.parameters)
        yield ""
    example = example_response(endpoint)
    if has_example and example is not None:
        yield f"```json\n{_format(example)}\n```\n"


def _format(example: dict[str, object]) -> str:
    """The example with one key per line."""
    lines = [f' "{key}": {msgspec.json.encode(value).decode()}' for key, value in example.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def reference() -> str:
    """The text of docs/reference/rest.md."""
    lines = [_OPENING + "\n".join(f"| `{code}` | {meaning} |" for code, meaning in CODES.items()), _STATUSES]
    results_shown: set[str] = set()
    for group, heading in _HEADINGS.items():
        lines.append(f"## {heading}\n")
        for endpoint in (each for each in ENDPOINTS if each.group == group):
            lines.extend(_section(endpoint, has_example=endpoint.result not in results_shown))
            results_shown.add(endpoint.result)
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(reference())
