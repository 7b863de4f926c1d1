"""OpenLineage events: the model, the facets, their JSON, and redaction. No Spark, no network, no disk."""
