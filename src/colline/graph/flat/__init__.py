"""Derives the flat tables (one row per edge, column, read, …) from the stored tables, with numpy and without Spark."""
