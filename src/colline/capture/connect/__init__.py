"""Column lineage over Spark Connect.

If the server runs in this process, its classic session is captured like any other. If it is remote, the client's
requests are recorded and their plans are analyzed afterwards, in another process.
"""
