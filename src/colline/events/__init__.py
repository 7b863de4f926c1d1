"""The OpenLineage model: events, facets, names, wire form. No Spark, no network, no disk."""
