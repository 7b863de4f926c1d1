"""Whether anybody reads a column: readers, and verdicts with their evidence."""
