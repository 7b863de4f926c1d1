"""SQL text → column lineage, by sqlglot: scripts, views and procedures of the common dialects. No network, no disk.

sqlglot is an optional dependency (`colline[sql]`), so other packages import this one late.
"""
