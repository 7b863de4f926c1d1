"""Turns recorded plans of Spark Connect into analyzed plans, without data and without access to any storage."""
