"""Rules for relational operators: the flow of each output column, and what decides the rows."""

from colline.trace.operators import aggregates, ctes, joins, opaque, scans, sets, unary

__all__ = ["aggregates", "ctes", "joins", "opaque", "scans", "sets", "unary"]
