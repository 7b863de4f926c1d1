"""Rules for statements that write: what they write, by the column names of the target. Importing registers them."""

from colline.trace.commands import clones, ddl, inserts, merges, rewritten_dml, streams, update_delete, variables

__all__ = ["clones", "ddl", "inserts", "merges", "rewritten_dml", "streams", "update_delete", "variables"]
