"""Names of paths. `file:/x`, `file:///x` and `/x` are one dataset; so are a table and its partition folders."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import unquote

from colline.naming.dataset import NameContext
from colline.naming.partitions import is_file, strip_partitions
from colline.trace import DatasetName


@dataclass(frozen=True, slots=True)
class Scheme:
    """How the paths of a file system are written in a name."""

    canonical: str
    has_container: bool = False  # the part before `@` is a container, not a user
    keeps_slash: bool = False  # the name keeps its leading slash


# scheme of a path → how it is written; any other scheme keeps its name and the leading slash
SCHEMES: dict[str, Scheme] = {
    "s3": Scheme("s3"),
    "s3a": Scheme("s3"),
    "s3n": Scheme("s3"),
    "gs": Scheme("gs"),
    "abfs": Scheme("abfss", has_container=True),
    "abfss": Scheme("abfss", has_container=True),
    "wasb": Scheme("wasbs", has_container=True),
    "wasbs": Scheme("wasbs", has_container=True),
}

_URI = re.compile(r"^([A-Za-z][A-Za-z0-9+.\-]+):(?://([^/]*))?(.*)$", re.DOTALL)
_DRIVE = re.compile(r"^/?([A-Za-z]):[\\/]")
_QUERY = re.compile(r"\?[^/?*=]+=.*$", re.DOTALL)
_NOT_A_URI = re.compile(r"[\s\"<>\\^`{|}]")
_GLOB = re.compile(r"[*?\[{]")


def name_of_path(path: str, context: NameContext) -> DatasetName:
    """The dataset that a path belongs to, without globs and partition folders."""
    namespace, name = _split_path(path, context)
    return DatasetName(namespace, strip_partitions(_without_glob(name)))


def names_of_paths(paths: tuple[str, ...], context: NameContext) -> tuple[DatasetName, ...]:
    """The datasets of a scan, in order. Several files in one folder are that folder."""
    split = [_split_path(path, context) for path in paths]
    file_counts = Counter((namespace, posixpath.dirname(name)) for namespace, name in split if is_file(name))
    found: dict[DatasetName, None] = {}
    for namespace, name in split:
        parent = posixpath.dirname(name)
        path = parent if file_counts[namespace, parent] > 1 and is_file(name) else name
        found[DatasetName(namespace, strip_partitions(_without_glob(path)) or "/")] = None
    return tuple(found)


def location(path: str, context: NameContext) -> str:
    """A path in the form of a namespace: `file:/data/warehouse`, `s3://bucket/warehouse`."""
    namespace, name = _split_path(path, context)
    if namespace == "file":
        return f"file:{name}" if name != "/" else "file"
    return f"{namespace}/{name.strip('/')}".rstrip("/")


def join(base: str, *parts: str) -> str:
    """`/data`, `a`, `b` → `/data/a/b`."""
    return "/".join([base.rstrip("/"), *(part.strip("/") for part in parts)])


def _split_path(path: str, context: NameContext) -> tuple[str, str]:
    scheme, authority, rest = _parse(path.strip(), context)
    known = SCHEMES.get(scheme, Scheme(scheme, keeps_slash=True))
    host = _without_credentials(authority, known)
    clean = _normalize(rest)
    if scheme == "file":
        return ("file" if host in ("", "localhost") else f"file://{host}"), clean
    namespace = f"{known.canonical}://{host}" if host else known.canonical
    return namespace, clean if known.keeps_slash else (clean.strip("/") or "/")


def _parse(path: str, context: NameContext) -> tuple[str, str, str]:
    """Scheme, authority and path. A path without a scheme belongs to the default file system."""
    if _DRIVE.match(path):
        return "file", "", _normalize_drive(path)
    match = _URI.match(path)
    if match:
        scheme, authority, rest = match.group(1).lower(), match.group(2) or "", match.group(3)
        rest = _percent_decode(_QUERY.sub("", rest))
        authority = authority or _default_authority(scheme, context)
        return scheme, authority, _normalize_drive(rest) if scheme == "file" else rest
    if not path.startswith("/") and context.working_directory:
        return _parse(join(context.working_directory, path), NameContext(default_fs=context.default_fs))
    base = _URI.match(context.default_fs)
    rest = _percent_decode(_QUERY.sub("", path))
    return (base.group(1).lower(), base.group(2) or "", rest) if base else ("file", "", rest)


def _default_authority(scheme: str, context: NameContext) -> str:
    """The authority of `hdfs:///x`: the default name node."""
    base = _URI.match(context.default_fs)
    return (base.group(2) or "") if base and base.group(1).lower() == scheme else ""


def _normalize_drive(path: str) -> str:
    r"""`C:\data\x` and `/c:/data/x` as Hadoop writes them: `/C:/data/x`."""
    match = _DRIVE.match(path)
    if not match:
        return path
    return f"/{match.group(1).upper()}:/" + path[match.end() :].replace("\\", "/")


def _percent_decode(path: str) -> str:
    """`/a%20b` → `/a b`. A text that contains a space is a Hadoop path, which is not percent-encoded."""
    return path if _NOT_A_URI.search(path) else unquote(path)


def _without_credentials(authority: str, known: Scheme) -> str:
    user, at, host = authority.rpartition("@")
    if at and known.has_container:
        return f"{user.split(':')[0]}@{host.lower()}"
    return host.lower() if known.keeps_slash else host


def _normalize(path: str) -> str:
    absolute = "/" + path.lstrip("/")
    normal = posixpath.normpath(absolute)
    return "/" if normal in ("/", "//", ".") else normal


def _without_glob(name: str) -> str:
    """`/data/2024-*/x.csv` → `/data`, the last folder before the glob."""
    parts = name.split("/")
    first = next((index for index, part in enumerate(parts) if _GLOB.search(part)), None)
    if first is None:
        return name
    return "/".join(parts[:first]) or "/"
