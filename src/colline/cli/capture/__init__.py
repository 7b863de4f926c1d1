"""Commands that capture lineage, or bring it into a lake."""
