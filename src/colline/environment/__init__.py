"""What this computer has and lacks: Java, certificates, a browser, Node.

Reads the environment and the disk, starts `java -version` at most; knows nothing of lineage.
"""
