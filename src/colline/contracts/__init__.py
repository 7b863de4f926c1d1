"""Data contracts in the Open Data Contract Standard: generated from a lake, kept with edits, checked and compared.

No module here reads files or uses Spark: contracts are texts, and `colline.graph` answers questions about the lake.
"""
