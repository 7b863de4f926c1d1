"""Publishes the snapshot of a lake where the lake is: on this machine, or on a file system of the Spark session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from colline.lake.location import local_path

if TYPE_CHECKING:
    from colline.environment.hadoop_files import HadoopFiles


def publish_changes(lake: str, files: HadoopFiles, *, has_changes: bool) -> str | None:
    """Publishes a snapshot of the tables; returns its version, or None if the current one has every commit.

    With `has_changes`, the caller knows that there are new commits.
    """
    root = local_path(lake)
    if root is not None:
        return _publish_local(Path(root), has_changes=has_changes)
    from colline.graph.snapshot.remote_publish import is_published_remotely, publish_remote
    from colline.lake.remote_files import SessionFiles

    session_files = SessionFiles(lake, files)
    if not has_changes and is_published_remotely(lake, session_files):
        return None
    return publish_remote(lake, session_files).version


def _publish_local(root: Path, *, has_changes: bool) -> str | None:
    from colline.graph.snapshot.publish import publish
    from colline.graph.snapshot.staleness import is_published

    if not has_changes and is_published(root):
        return None
    return publish(root).version
