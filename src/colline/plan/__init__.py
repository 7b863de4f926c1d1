"""What a Spark plan is: frozen nodes and expressions decoded from the tap's JSON. No Spark, no lineage."""
