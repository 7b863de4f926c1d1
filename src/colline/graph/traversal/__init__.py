"""Walks over the snapshot's arrays, and the names and records of what a walk reaches."""
