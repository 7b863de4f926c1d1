"""Rules for expressions: what reaches a value, and how. A kind that is not here passes its arguments on transformed."""

from colline.trace.expressions import aggregates, basics, conditionals, structs, subqueries, windows

__all__ = ["aggregates", "basics", "conditionals", "structs", "subqueries", "windows"]
