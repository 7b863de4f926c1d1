"""The published arrays that answers are served from: how they are built, stored, opened and kept fresh."""
