"""What goes wrong over HTTP, as a value: status, code, message, hint. One shape for every error answer."""

from __future__ import annotations

from typing import Any

from colline.errors import CollineError

# code → what it means; the whole list, also in docs/rest.md
CODES: dict[str, str] = {
    "bad_parameter": "a parameter is unknown, missing, repeated or has a wrong value",
    "bad_event": "the event is not a valid OpenLineage event; it was kept for quarantine",
    "bad_encoding": "the body cannot be decompressed",
    "bad_cursor": "the cursor is damaged, belongs to another question, or its snapshot is gone: ask again without it",
    "no_token": "a token is needed, or the one given is not valid",
    "wrong_scope": "the token does not have the scope this needs",
    "not_found": "no such address, column, dataset, job or run",
    "wrong_method": "the address exists, but not for this method",
    "ambiguous": "the name fits several columns; `candidates` lists them",
    "too_slow": "the body did not arrive in time",
    "too_large": "the body is larger than the server takes",
    "wrong_type": "the content encoding is not understood",
    "too_many": "too much is waiting to be written; `Retry-After` says when to try again",
    "no_lineage": "the lake has no snapshot yet: run `colline ingest`",
    "disk_full": "the disk is full; nothing of this request was kept",
    "not_durable": "the disk did not take the event; nothing of this request was kept",
    "fault": "a fault in the server; its log has the details",
}


class Problem(CollineError):  # noqa: N818 - named for what the client gets, not for being raised
    """An error answer. `status` is the HTTP status, `code` a row of CODES."""

    def __init__(
        self, status: int, code: str, message: str, *, hint: str | None = None, extra: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.extra = extra or {}
        self.headers: tuple[tuple[bytes, bytes], ...] = ()

    def with_header(self, name: str, value: str) -> Problem:
        """The same, with one more header on its answer."""
        self.headers = (*self.headers, (name.encode(), value.encode()))
        return self

    def to_dict(self) -> dict[str, Any]:
        """The body of the answer."""
        return {"error": self.message, "code": self.code, "hint": self.hint, **self.extra}
