"""Commands that keep a lake in order: maintain, rebuild, reconcile, and the quarantine."""
