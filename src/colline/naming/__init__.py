"""The OpenLineage name of every dataset: from a path, a catalog table, a JDBC URL, a topic or a warehouse."""
