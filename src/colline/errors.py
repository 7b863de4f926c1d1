"""The errors that colline raises. A message names what failed and on which object; `hint:` is what to do next."""

from __future__ import annotations


class CollineError(Exception):
    """Base class of all errors of colline. `exit_code` is the exit code of a command that fails with it."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class SettingError(CollineError):
    """A setting that does not exist or has an invalid value."""


class MissingExtraError(CollineError, ImportError):
    """A package is not installed; `extra` is the extra of colline that installs it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"the package {package} is not installed", hint=f"pip install 'colline[{extra}]'")
        self.package = package
        self.extra = extra


class PlanError(CollineError):
    """The JSON of a Spark plan that cannot be decoded."""


class EventError(CollineError):
    """Text that is not an OpenLineage event."""


class TransportError(CollineError):
    """A transport that cannot be created or cannot deliver."""


class LakeError(CollineError):
    """A lake that does not exist, is empty, or was written by a newer version of colline."""

    exit_code = 3


class DamagedSnapshotError(LakeError):
    """A snapshot whose files are missing, truncated, or were changed after they were written."""


class ColumnError(CollineError):
    """An unknown column, or an ambiguous name of a column; `candidates` are similar or matching names."""

    def __init__(self, message: str, *, hint: str | None = None, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.candidates = candidates


class ColumnNotFoundError(ColumnError):
    """A name (`column`) that no column of the lake has; `candidates` are similar names."""

    def __init__(
        self, message: str, *, column: str = "", hint: str | None = None, candidates: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, hint=hint, candidates=candidates)
        self.column = column


class AmbiguousNameError(ColumnError):
    """A name that matches several columns, datasets or jobs; `candidates` are all of them."""


class NoLineageYetError(SettingError):
    """A time before the first recorded lineage."""


class ContractError(CollineError):
    """A file that is not a data contract, or a contract with an invalid part; with its `file` and `line`."""

    def __init__(self, message: str, file: str, line: int | None = None, *, hint: str | None = None) -> None:
        place = file if line is None else f"{file}, line {line}"
        super().__init__(f"{place}: {message}", hint=hint)
        self.file = file
        self.line = line


class CursorError(SettingError):
    """A cursor that is invalid, or that belongs to an older snapshot."""
