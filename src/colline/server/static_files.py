"""The built page: its files, read once, served from memory by exact name. No path of a request reaches the disk."""

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
_HASHED = "assets/"  # the build puts a digest of the content into every name in here
_FOR_EVER = b"public, max-age=31536000, immutable"
_ASK_AGAIN = b"no-cache"
_SMALL = 1024

_NOT_BUILT = b"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>colline</title></head>
<body><h1>The page is not built</h1>
<p>This server answers questions and takes events, but its page was not built.</p>
<p>In a source checkout run <code>make page</code>, then start the server again. The REST interface is at
<a href="/openapi.json">/openapi.json</a>.</p></body></html>
"""


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file as it is sent."""

    media: bytes
    body: bytes
    packed: bytes | None
    etag: bytes
    caching: bytes


def read_page(home: Path = HOME) -> dict[str, PageFile]:
    """Every file of the built page by the path it is asked for; empty if the page was not built."""
    if not (home / "index.html").is_file():
        return {}
    files = [path for path in sorted(home.rglob("*")) if path.is_file() and not path.is_symlink()]
    return {f"/{path.relative_to(home).as_posix()}": _page_file(path, home) for path in files}


def _page_file(path: Path, home: Path) -> PageFile:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    text = kind.startswith("text/") or kind.endswith(("javascript", "json", "svg+xml"))
    caching = _FOR_EVER if path.relative_to(home).as_posix().startswith(_HASHED) else _ASK_AGAIN
    return page_file(f"{kind}; charset=utf-8" if text else kind, path.read_bytes(), caching, pack=text)


def page_file(media: str, body: bytes, caching: bytes, *, pack: bool) -> PageFile:
    """A file with its tag and, where it pays, its packed form."""
    packed = gzip.compress(body, 9, mtime=0) if pack and len(body) > _SMALL else None
    return PageFile(media.encode(), body, packed, f'"{hashlib.sha256(body).hexdigest()[:32]}"'.encode(), caching)


NOT_BUILT = page_file("text/html; charset=utf-8", _NOT_BUILT, b"no-store", pack=False)


def find_page(files: dict[str, PageFile], path: str) -> tuple[int, PageFile] | None:
    """The file for an address; the page itself for any address of its own; None for a file that is not there."""
    if path in files:
        return 200, files[path]
    last = path.rsplit("/", 1)[-1]
    if path.startswith(("/api/", f"/{_HASHED}")) or "." in last:
        return None
    return (200, files["/index.html"]) if files else (503, NOT_BUILT)
