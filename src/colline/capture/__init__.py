"""Session → plan: the tap inside the JVM, the thread that reads it, and the public `attach` and `lineage`."""
