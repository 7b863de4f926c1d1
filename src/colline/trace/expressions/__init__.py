"""Rules for expressions. Importing this package registers them. A function without a rule transforms its arguments."""

from colline.trace.expressions import aggregate_functions, basics, conditionals, structs, subquery_expressions, windows

__all__ = ["aggregate_functions", "basics", "conditionals", "structs", "subquery_expressions", "windows"]
