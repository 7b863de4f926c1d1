"""The computer that colline runs on: Java, certificates, a browser, Hadoop file systems, and local Spark sessions.

It has no knowledge of lineage.
"""
