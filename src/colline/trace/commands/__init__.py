"""Rules for statements: what each one writes, in the target's own column names."""

from colline.trace.commands import clones, definitions, inserts, merges, row_level, rows, streams

__all__ = ["clones", "definitions", "inserts", "merges", "row_level", "rows", "streams"]
