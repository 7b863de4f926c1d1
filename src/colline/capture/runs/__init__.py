"""Runs and their events: how a run starts and ends, what it is called, what it wrote."""
