"""The snapshot versions of a lake: which one is current, which are in use, and which can be deleted.

`snapshot/` has one folder per version. `snapshot/CURRENT` holds the name of the version to use and is replaced by a
rename. A reader holds a shared lock on the `LOCK` file of its version, so that no version in use is deleted.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import uuid
from pathlib import Path

from colline.errors import DamagedSnapshotError, LakeError
from colline.graph.snapshot.array_file import FORMAT, LOCK, Arrays, read_meta, verify
from colline.lake.layout import CURRENT_SNAPSHOT, SNAPSHOT

KEPT_VERSIONS = 2  # the current version and the previous one, which a reader may be about to open
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,99}")
_ATTEMPTS = 100


def is_version_name(text: str) -> bool:
    """Whether the text can be the name of a version: no path to another folder."""
    return _NAME.fullmatch(text) is not None


def current_version(root: Path) -> str | None:
    """The name of the current version; None if nothing was published."""
    pointer = root / CURRENT_SNAPSHOT
    try:
        name = pointer.read_bytes().decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        hint = f"make {root / SNAPSHOT} readable for this user"
        raise LakeError(f"cannot read the snapshot of {root}: {error.strerror}", hint=hint) from error
    if not is_version_name(name):
        hint = "run `colline ingest` on the lake to publish it again"
        raise DamagedSnapshotError(f"{pointer} does not hold the name of a snapshot: {name[:100]!r}", hint=hint)
    return name


def set_current_version(root: Path, name: str) -> None:
    """Makes a version the current one."""
    pointer = root / CURRENT_SNAPSHOT
    temporary = pointer.with_name(f".{pointer.name}-{uuid.uuid4().hex}")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(name)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(pointer)


def publish_stamp(root: Path) -> tuple[int, int] | None:
    """A value that changes with every publish; cheap enough to compare before every answer."""
    try:
        found = os.stat(f"{root}/{CURRENT_SNAPSHOT}")  # noqa: PTH116 - building a Path takes longer than the call
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def open_current(root: Path) -> Arrays | None:
    """The arrays of the current version, locked; None if nothing was published in the format of this colline."""
    name = None
    for _ in range(_ATTEMPTS):
        name = current_version(root)
        if name is None:
            return None
        # a publisher may replace and delete this version before it is locked: read the name again
        with contextlib.suppress(FileNotFoundError):
            arrays = _open_readable(root / SNAPSHOT / name)
            return arrays if arrays.meta["format"] == FORMAT else None
    hint = "run `colline ingest` on the lake to publish it again, or copy the snapshot again"
    raise DamagedSnapshotError(f"the snapshot {root / SNAPSHOT / str(name)} is missing or incomplete", hint=hint)


def is_current_intact(root: Path) -> bool:
    """Whether a snapshot is published and its files are undamaged."""
    try:
        name = current_version(root)
        if name is None:
            return False
        read_meta(root / SNAPSHOT / name)
        verify(root / SNAPSHOT / name)
    except (LakeError, OSError):
        return False
    return True


def _open_readable(folder: Path) -> Arrays:
    """The arrays of a version, locked; what the disk or the rights of the user do not let be read is an error."""
    try:
        return _open_locked(folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        hint = "make it readable for this user, or run `colline ingest` on the lake to publish it again"
        raise DamagedSnapshotError(f"cannot read the snapshot {folder}: {error.strerror}", hint=hint) from error


def _open_locked(folder: Path) -> Arrays:
    lock = (folder / LOCK).open("rb")
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
        return Arrays(folder, lock)
    except BaseException:
        lock.close()
        raise


def delete_old_versions(root: Path) -> list[str]:
    """Deletes all versions except the newest ones and those in use; returns the names of the deleted ones."""
    used = current_version(root)
    names = sorted(path.name for path in (root / SNAPSHOT).iterdir() if path.is_dir() and is_version_name(path.name))
    return [name for name in names[:-KEPT_VERSIONS] if name != used and _delete_unused(root / SNAPSHOT / name)]


def _delete_unused(folder: Path) -> bool:
    """Deletes a version unless a reader holds its lock; returns whether it was deleted."""
    try:
        with (folder / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            deleted = folder.with_name(f".deleted-{folder.name}")
            folder.rename(deleted)
    except OSError:
        return False
    shutil.rmtree(deleted, ignore_errors=True)
    return True
