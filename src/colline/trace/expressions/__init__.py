"""Rules for expressions: what reaches a value, and how. A kind that is not here passes its arguments on transformed."""

from colline.trace.expressions import aggregates, basics, conditionals, subqueries, windows

__all__ = ["aggregates", "basics", "conditionals", "subqueries", "windows"]
