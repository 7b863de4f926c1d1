"""Answers as text, tables and diagrams."""
