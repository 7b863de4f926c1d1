"""Commands for questions about lineage."""
