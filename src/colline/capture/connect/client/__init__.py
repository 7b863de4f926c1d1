"""Captures the requests of a Python client whose Spark Connect server is another process."""
