"""Questions about what the lake contains: datasets, jobs, runs, degrees of columns, gaps in lineage."""
