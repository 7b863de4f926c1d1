"""Rules for statements: what each one writes, in the target's own column names."""

from colline.trace.commands import clones, ddl, inserts, merges, rewritten_dml, streams, update_delete

__all__ = ["clones", "ddl", "inserts", "merges", "rewritten_dml", "streams", "update_delete"]
