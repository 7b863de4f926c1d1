"""The flat tables (one row per edge, column, read, …) of stored tables or of a session's events, without Spark."""
