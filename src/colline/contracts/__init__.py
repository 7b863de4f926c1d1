"""Data contracts made from and checked against lineage."""
