"""Semantic models of Power BI and Fabric: files → frozen model → lineage of tables, measures and reports.

Pure functions over text: no network, no disk. Files are untrusted: sizes and depths are limited, and what cannot be
read is a problem with its file and line, while the rest is read.
"""
