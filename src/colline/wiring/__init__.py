"""Settings → implementations: the only room that picks which transport, which file system, which name."""
