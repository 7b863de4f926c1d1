"""Brings landed events into the Delta tables of a lake, with PySpark.

`colline.pipeline.ingest.ingest(lake)` works in any Spark session that has Delta: a notebook, `spark-submit`, or the
command line's own. Importing this package imports no PySpark.
"""
