"""The one error tree. Every message says what happened and on which thing; `hint:` says what to do next."""

from __future__ import annotations


class CollineError(Exception):
    """Root of every error colline raises on purpose.

    `exit_code` is what the command line ends with when this error reaches it.
    """

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class SettingError(CollineError):
    """A setting that does not exist or has a value of the wrong kind."""


class PlanError(CollineError):
    """A dumped plan that cannot be decoded."""


class EventError(CollineError):
    """A text that is not an OpenLineage event."""


class TransportError(CollineError):
    """A transport that cannot be built or cannot deliver."""


class LakeError(CollineError):
    """A lake that is not there, is empty, or was written by a newer colline."""

    exit_code = 3


class ColumnError(CollineError):
    """A column that is not known, or whose name fits several."""

    def __init__(self, message: str, *, hint: str | None = None, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.candidates = candidates


class AmbiguousNameError(ColumnError):
    """A name that fits several columns, datasets or jobs; `candidates` lists them."""


class NoLineageYetError(SettingError):
    """A time before the first recorded lineage."""


class CursorError(SettingError):
    """A cursor that is invalid, or that belongs to an older snapshot."""
