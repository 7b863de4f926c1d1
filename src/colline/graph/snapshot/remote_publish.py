"""Publishes the snapshot of a lake in object storage: the arrays are built on this machine and uploaded.

The files of a version are uploaded to a folder of its own. Then one write replaces `CURRENT`, so that readers see the
previous version or the new one. A version that is no longer current stays for a while, for readers that copy it now.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import msgspec

from colline.graph.snapshot.array_file import COPIED_FILES, FORMAT, LOCK, META
from colline.graph.snapshot.publish import VERSION_FORMAT, SnapshotInfo, build_version, make_current
from colline.graph.snapshot.remote_copy import RemoteLake
from colline.graph.snapshot.snapshot_versions import KEPT_VERSIONS, is_version_name
from colline.lake.layout import CURRENT_SNAPSHOT, SNAPSHOT
from colline.lake.remote_files import RemoteFiles

KEPT_MINUTES = 15  # how long a reader may take to copy a version


def publish_remote(lake: str, files: RemoteFiles | None = None) -> SnapshotInfo:
    """Builds a snapshot of a remote lake's tables and makes it the current one, through fsspec or the given files."""
    remote = RemoteLake(lake, files)
    with remote.lake_errors("cannot publish"):
        remote.copy_tables()
        built = build_version(remote.home)
        for file in (*COPIED_FILES, LOCK):  # LOCK: the lake may also be mounted as a folder somewhere
            remote.files.upload(built.path / file, f"{SNAPSHOT}/{built.version}/{file}")
        remote.files.replace(CURRENT_SNAPSHOT, built.version)
        make_current(remote.home, built.version)
        _delete_old_versions(remote.files, built.version)
    return built


def _delete_old_versions(files: RemoteFiles, current: str) -> None:
    oldest = datetime.now(timezone.utc) - timedelta(minutes=KEPT_MINUTES)
    names = sorted(name for name in files.names(SNAPSHOT) if is_version_name(name))
    replaced = [name for name in names if name < current][: 1 - KEPT_VERSIONS]
    for name in replaced:
        if name < oldest.strftime(VERSION_FORMAT):
            files.delete(f"{SNAPSHOT}/{name}")


def is_published_remotely(lake: str, files: RemoteFiles | None = None) -> bool:
    """Whether a remote lake has a snapshot in the format of this colline that has every commit of its tables."""
    remote = RemoteLake(lake, files)
    with remote.lake_errors("cannot read"):
        version = remote.published_version()
        if version is None or not set(COPIED_FILES) <= set(remote.files.names(f"{SNAPSHOT}/{version}")):
            return False
        try:
            meta = msgspec.json.decode(remote.files.read(f"{SNAPSHOT}/{version}/{META}"), type=_PublishedMeta)
        except msgspec.DecodeError:
            return False
        return meta.format == FORMAT and remote.unpublished_commits(meta.tables) is None


class _PublishedMeta(msgspec.Struct):
    """What is needed of `meta.json`."""

    format: int
    tables: dict[str, int]
