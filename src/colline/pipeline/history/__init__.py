"""What was true when: runs, what they report, and the versions of each output's lineage."""
