"""Landed events → Delta tables: the PySpark pipeline from landing files to gold and snapshot.

`colline.pipeline.ingest.ingest(lake)` works in any Spark session that has Delta: a notebook, `spark-submit`, or the
command line's own. Importing this package imports no PySpark.
"""
