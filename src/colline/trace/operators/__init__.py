"""Rules for relational operators: the flow of each output column, and what decides the rows."""

from colline.trace.operators import aggregates, joins, opaque, scans, sets, shared, unary

__all__ = ["aggregates", "joins", "opaque", "scans", "sets", "shared", "unary"]
