"""What events contain: a line becomes mentions of datasets, column edges and names, which never change."""
