"""Errors over HTTP: status, code, message and hint. Every error response has the same shape."""

from __future__ import annotations

from typing import Any

from colline.errors import CollineError
from colline.graph.queries.request_arguments import error_body

# every error code and its meaning; also in docs/reference/rest.md
CODES: dict[str, str] = {
    "bad_parameter": "a parameter is unknown, missing, repeated, or has an invalid value",
    "bad_event": "the event is not a valid OpenLineage event; it was moved to quarantine",
    "bad_encoding": "the body cannot be decompressed",
    "bad_cursor": "the cursor is invalid, or its snapshot is gone: repeat the request without it",
    "no_token": "a token is needed, or the given one is not valid",
    "wrong_scope": "the token does not have the scope of this endpoint",
    "not_found": "there is no such path, column, dataset, job or run",
    "wrong_method": "the path exists, but not for this method",
    "ambiguous": "the name fits several columns; `candidates` lists them",
    "too_slow": "the body did not arrive in time, or the answer took too long",
    "too_large": "the body is larger than the limit of the server",
    "wrong_type": "the content encoding is not supported",
    "too_many": "too many bytes wait to be written; `Retry-After` has the seconds to wait",
    "no_lineage": "the lake has no snapshot yet: run `colline ingest`",
    "disk_full": "the disk is full; nothing of this request was kept",
    "not_durable": "the event could not be written to disk; nothing of this request was kept",
    "fault": "an unexpected error in the server; its log has the details",
}
_STATUSES = {"no_lineage": 503, "ambiguous": 409, "not_found": 404, "bad_cursor": 410}


class Problem(CollineError):  # noqa: N818 - named for what the client gets, not for being raised
    """An error response. `status` is the HTTP status, `code` a key of CODES."""

    def __init__(
        self, status: int, code: str, message: str, *, hint: str | None = None, extra: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.extra = extra or {}
        self.headers: tuple[tuple[bytes, bytes], ...] = ()

    def with_header(self, name: str, value: str) -> Problem:
        """Adds a header to the response."""
        self.headers = (*self.headers, (name.encode(), value.encode()))
        return self

    def to_dict(self) -> dict[str, Any]:
        """The body of the response."""
        return {"error": self.message, "code": self.code, "hint": self.hint, **self.extra}


def problem_from(error: CollineError) -> Problem:
    """The response for an error that a question raised."""
    if isinstance(error, Problem):
        return error
    body = error_body(error)
    code = body.pop("code")
    return Problem(_STATUSES.get(code, 400), code, body.pop("error"), hint=body.pop("hint"), extra=body)
