"""A command's way to do its work after the command line is done with it.

click turns Ctrl-C and broken pipes into messages and exit codes of its own; a user's script must keep Python's.
"""

from __future__ import annotations

from collections.abc import Callable


class Handover(BaseException):
    """Raised by a command whose work runs outside click; never an error."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__()
        self.work = work
