"""Rules for expressions: what reaches a value, and how. A kind that is not here passes its arguments on transformed."""

from colline.trace.expressions import aggregate_functions, basics, conditionals, structs, subquery_expressions, windows

__all__ = ["aggregate_functions", "basics", "conditionals", "structs", "subquery_expressions", "windows"]
