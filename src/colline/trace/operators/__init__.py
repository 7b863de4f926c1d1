"""Rules for relational operators. Importing this package registers them."""

from colline.trace.operators import aggregates, ctes, joins, opaque, scans, sets, unary

__all__ = ["aggregates", "ctes", "joins", "opaque", "scans", "sets", "unary"]
