"""`%load_ext colline`: the magics `%lineage df` and `%%lineage` (a cell of SQL) for notebooks.

```
%load_ext colline
%lineage orders.join(customers, "id")     # any expression that is a DataFrame or SQL text

%%lineage
select region, sum(amount) from orders group by region
```
"""

from __future__ import annotations

from typing import Any, Protocol

from colline.capture.analyze import lineage
from colline.errors import CollineError
from colline.trace import ColumnLineage

_USAGE = "write `%lineage df` with a DataFrame or SQL text in quotes, or `%%lineage` with SQL in the cell"


class Shell(Protocol):
    """What is used of IPython's shell."""

    user_ns: dict[str, Any]

    def register_magic_function(self, func: Any, magic_kind: str, magic_name: str) -> None:
        """Adds a magic."""

    def ev(self, expr: str) -> Any:
        """The value of an expression in the notebook."""


def register_magics(shell: Shell) -> None:
    """Adds the magics to a notebook. `%load_ext colline` calls it."""

    def lineage_magic(line: str, cell: str | None = None) -> ColumnLineage:
        """The lineage of a DataFrame (`%lineage df`), or of a cell of SQL (`%%lineage`)."""
        from IPython.core.error import UsageError

        if not (line if cell is None else cell).strip():
            raise UsageError(_USAGE)
        query = shell.ev(line) if cell is None else cell.strip().rstrip(";")
        session = shell.user_ns.get("spark") if isinstance(query, str) else None
        try:
            return lineage(query, session)
        except CollineError as error:
            raise UsageError(str(error)) from None

    shell.register_magic_function(lineage_magic, "line_cell", "lineage")
