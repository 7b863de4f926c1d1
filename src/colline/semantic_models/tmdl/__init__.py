"""TMDL, the text format of semantic models: lines → objects → model."""
