"""Answers questions over HTTP in worker processes."""
