"""The folders and marker files of a lake, as paths below its root. No other module spells them out.

Names that start with an underscore are hidden from Spark.
"""

from __future__ import annotations

LANDING = "landing"
RESOLVED = "resolved"  # events whose plans the ingest has analyzed, as further events of their runs

SNAPSHOT = "snapshot"
CURRENT_SNAPSHOT = "snapshot/CURRENT"  # holds the name of the snapshot version to use

RECEIVER_SPOOL = "_server/spool"
FORWARD_OUTBOX = "_server/forward"
TOKENS = "_server/tokens.json"

STATE = "_colline"  # everything the pipeline remembers outside of its tables
INGEST_LOCK = "_colline/ingest.lock"
CHECKPOINTS = "_colline/checkpoints"
LANDED_FILES = "_colline/landed.json"  # the files that the last finished ingest found
PENDING_BATCH = "_colline/pending"  # exists while a batch is written, and after it was killed
REBUILD_VERSIONS = "_colline/rebuild.json"  # table → its version before the rebuild that is running or was killed
REBUILD_REQUIRED = "_colline/rebuild.ready"  # the tables are inconsistent and must be rebuilt
EXPIRED_BRONZE = "_colline/bronze.expired"

# While one of these exists the tables do not fit together: a batch or a rebuild is running, or was killed.
INCONSISTENT_MARKERS = (PENDING_BATCH, REBUILD_VERSIONS, REBUILD_REQUIRED)


def recovery_marker(folder_key: str) -> str:
    """The file that exists while a landing folder with a lost checkpoint is compared with bronze."""
    return f"{STATE}/recovering-{folder_key}"


def replay_folder(name: str) -> str:
    """Where `colline quarantine replay` puts its lines until they are ingested."""
    return f"{STATE}/replay-{name}"
