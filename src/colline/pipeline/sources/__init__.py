"""Where events come from: files in landing folders, and which of them are new."""
