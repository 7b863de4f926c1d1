"""The files of the web page, read once and served from memory by exact path, never from disk."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).parent / "static"

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HASHED_FOLDER = "assets/"  # names in it contain a hash of the content
# the paths that the page knows, as in web/src/state/url.ts; it shows that any other path does not exist
_PAGE_PATHS = frozenset(
    f"/{name}"
    for name in (
        "", "column", "tables", "table", "jobs", "job", "personal-data", "changes", "coverage", "quarantine",
    )
)  # fmt: skip
_MAX_PATH_DEPTH = 20
_CACHE_FOREVER = b"public, max-age=31536000, immutable"
_REVALIDATE = b"no-cache"
_MIN_GZIP_BYTES = 1024

_NOT_BUILT = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>colline</title></head>
<body><h1>The page is not built</h1>
<p>The REST API of this server works, but its web page was not built.</p>
<p>In a source checkout run <code>make page</code>, then restart the server. The REST API is described in
<a href="/openapi.json">/openapi.json</a>.</p></body></html>
"""


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file with its headers."""

    media_type: bytes
    body: bytes
    gzipped: bytes | None
    etag: bytes
    cache_control: bytes


def read_page(home: Path = HOME) -> dict[str, PageFile]:
    """The files of the page by URL path; empty if the page was not built."""
    if not (home / "index.html").is_file():
        return {}
    files = [path for path in sorted(home.rglob("*")) if path.is_file() and not path.is_symlink()]
    return {f"/{path.relative_to(home).as_posix()}": _page_file(path, home) for path in files}


def _page_file(path: Path, home: Path) -> PageFile:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    is_text = kind.startswith("text/") or kind.endswith(("javascript", "json", "svg+xml"))
    cache_control = _CACHE_FOREVER if path.relative_to(home).as_posix().startswith(_HASHED_FOLDER) else _REVALIDATE
    return page_file(f"{kind}; charset=utf-8" if is_text else kind, path.read_bytes(), cache_control, compress=is_text)


def page_file(media_type: str, body: bytes, cache_control: bytes, *, compress: bool) -> PageFile:
    """A file with its ETag and, if it is large enough, its gzipped form."""
    gzipped = gzip.compress(body, 9, mtime=0) if compress and len(body) > _MIN_GZIP_BYTES else None
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    return PageFile(media_type.encode(), body, gzipped, etag.encode(), cache_control)


NOT_BUILT = page_file("text/html; charset=utf-8", _NOT_BUILT, b"no-store", compress=False)


def find_page(files: dict[str, PageFile], path: str) -> tuple[int, PageFile] | None:
    """Status and file for a path: index.html for a path without a file extension, None for a missing file."""
    if path in files:
        return 200, files[path]
    last = path.rsplit("/", 1)[-1]
    if path.startswith(("/api/", f"/{_HASHED_FOLDER}")) or "." in last:
        return None
    if not files:
        return 503, NOT_BUILT
    depth = path.count("/") - 1
    if depth > _MAX_PATH_DEPTH:
        return None
    return (200 if path in _PAGE_PATHS else 404), page_at_depth(files["/index.html"], depth)


def page_at_depth(index: PageFile, depth: int) -> PageFile:
    """index.html for a path this number of folders below the root: its links to other files are relative."""
    if depth == 0:
        return index
    body = index.body.replace(b'"./', b'"' + b"../" * depth)
    return page_file(index.media_type.decode(), body, index.cache_control, compress=True)
