"""Landed events → Delta tables: the PySpark pipeline from landing files to gold and snapshot."""
