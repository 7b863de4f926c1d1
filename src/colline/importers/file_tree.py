"""The files below a path, read within limits: what cannot be read is a problem, not an error."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from colline.errors import SettingError
from colline.importers.definitions import ProblemList

MAX_FILES = 200_000
MAX_TEXT_BYTES = 256 * 1024 * 1024
# folders that contain nothing of the user's own
_SKIPPED = frozenset(("node_modules", "__pycache__", "site-packages", "dbt_packages", "venv"))
_ENCODINGS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass
class FileTree:
    """Files by their paths relative to `root`, with `/` between folders."""

    root: Path
    files: tuple[str, ...]
    problems: ProblemList = field(default_factory=ProblemList)

    def path(self, file: str) -> Path:
        """The path of a file on disk."""
        return self.root / file

    def refuses(self, file: str) -> bool:
        """Whether a file is not read, which is reported."""
        refusal = _refusal(self.root / file, self.root)
        if refusal:
            self.problems.add(file, 1, refusal)
        return bool(refusal)

    def ending(self, *suffixes: str) -> Iterator[str]:
        """The files whose names end with one of these texts, in upper or lower case."""
        return (file for file in self.files if file.lower().endswith(suffixes))

    def text(self, file: str) -> str | None:
        """The text of a file; None if it cannot be read, which is reported."""
        path = self.root / file
        if self.refuses(file):
            return None
        try:
            if path.stat().st_size > MAX_TEXT_BYTES:
                limit = MAX_TEXT_BYTES // 2**20
                self.problems.add(file, 1, f"{path.stat().st_size / 2**20:,.0f} MB; at most {limit} MB are read")
                return None
            data = path.read_bytes()
        except OSError as error:
            self.problems.add(file, 1, f"cannot be read: {error.strerror}")
            return None
        encoding = next((name for mark, name in _ENCODINGS if data.startswith(mark)), "utf-8")
        try:
            return data.decode(encoding)
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            self.problems.add(file, line, "expected UTF-8 text")
            return data.decode(encoding, errors="replace")


def file_tree(path: Path) -> FileTree:
    """The files at a path: those of a folder, or one file alone. The folder of a `.pbip` file is its project."""
    if not path.exists():
        raise SettingError(f"no file or folder at {path}", hint="check PATH")
    if not path.is_dir() and not path.is_file():
        raise SettingError(f"{path} is not a file or folder", hint="check PATH")
    if path.is_file() and path.suffix.lower() != ".pbip":
        return FileTree(path.resolve().parent, (path.resolve().name,))
    root = path if path.is_dir() else path.parent
    tree = FileTree(root, ())
    tree.files = tuple(sorted(file for file in _walk(root) if not tree.refuses(file)))
    if len(tree.files) > MAX_FILES:
        raise SettingError(f"{path} has more than {MAX_FILES:,} files", hint="import a folder inside of it")
    return tree


def _refusal(path: Path, root: Path) -> str:
    """Why a path is not read: it is a pipe or device, or a link out of the folder. Empty if it may be read."""
    if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root)):
        return "a link to a place outside of the folder; it is not read"
    return "" if path.is_file() or not path.exists() else "not a regular file; it is not read"


def _walk(root: Path) -> Iterator[str]:
    count = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        for name in names:
            count += 1
            if count > MAX_FILES + 1:
                return
            yield PurePosixPath(Path(folder, name).relative_to(root)).as_posix()
