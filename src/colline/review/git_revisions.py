"""The files of a folder at an earlier revision of its git repository."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

from colline.errors import SettingError

MAX_ARCHIVE_BYTES = 512 * 1024 * 1024
GIT_TIMEOUT_SECONDS = 120


def extract_revision(folder: Path, revision: str, target: Path) -> None:
    """Write the files that the folder had at a revision; none if it did not exist then."""
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()
    inside = _git(folder, "rev-parse", "--show-prefix").decode().strip()
    root = Path(_git(folder, "rev-parse", "--show-toplevel").decode().strip())
    if inside and not _git(root, "ls-tree", "-d", commit.decode(), inside.rstrip("/")).strip():
        return
    archive = _git(root, "archive", "--format=tar", f"{commit.decode()}:{inside}")
    if len(archive) > MAX_ARCHIVE_BYTES:
        raise SettingError(f"{folder} has too many files at {revision}", hint="review a smaller folder")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            content = files.extractfile(member) if member.isfile() else None  # a link could lead out of the folder
            path = (target / member.name).resolve()
            if content is not None and path.is_relative_to(target.resolve()):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())


def _git(folder: Path, *arguments: str) -> bytes:
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=GIT_TIMEOUT_SECONDS, check=False)  # noqa: S603  # no shell
    except FileNotFoundError as error:
        raise SettingError("git is not installed", hint="install git; it finds the earlier revision") from error
    except subprocess.TimeoutExpired as error:
        raise SettingError(f"git {arguments[0]} took too long", hint="review a smaller folder") from error
    if done.returncode:
        text = done.stderr.decode(errors="replace").strip().splitlines()
        if arguments[:2] == ("rev-parse", "--verify") and not text:
            revision = arguments[-1].removesuffix("^{commit}")
            raise SettingError(f"there is no revision {revision!r}", hint="fetch it, or give another --base")
        raise SettingError(f"git {arguments[0]}: {text[0] if text else 'failed'}", hint=f"is {folder} in a repository?")
    return done.stdout
