"""Recognizes partition folders and data files at the end of a path."""

from __future__ import annotations

import posixpath
import re

_TIME_TRAVEL = re.compile(r"@(v\d+|\d{17})$")
# fmt: off
_FILE_SUFFIXES = frozenset((
    "csv", "tsv", "psv", "txt", "text", "json", "jsonl", "ndjson", "parquet", "orc", "avro", "xml", "xlsx", "xls",
    "yaml", "yml", "bin", "dat", "log", "pb", "arrow", "feather",
    "gz", "gzip", "bz2", "snappy", "zst", "zstd", "lz4", "lzo", "deflate", "zip", "c000",
))
# fmt: on
_PART_FILE = re.compile(r"^(part-[0-9mr]|\d{6}_0(\.|$))")
_KEY_VALUE = re.compile(r"^[^=/]+=")
_DATE = re.compile(
    r"^((19|20)\d{2}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?"  # 2024-01, 2024-01-31
    r"|(19|20)\d{2}(0[1-9]|1[0-2])((0[1-9]|[12]\d|3[01]))?"  # 202401, 20240131
    r"|(0[1-9]|[12]\d|3[01])\.(0[1-9]|1[0-2])\.(19|20)\d{2})"  # 31.01.2024
    r"([T ]?\d{2}([:.\-]?\d{2}){0,2}([.,]\d+)?Z?)?$"
)
_YEAR = re.compile(r"^(19|20)\d{2}$")
_MONTH = re.compile(r"^(0[1-9]|1[0-2])$")
_DAY = re.compile(r"^(0[1-9]|[12]\d|3[01])$")
_HOUR = re.compile(r"^([01]\d|2[0-3])$")
# consecutive folders that are one date, longest first
_DATE_TREES = ((_YEAR, _MONTH, _DAY, _HOUR), (_YEAR, _MONTH, _DAY), (_YEAR, _MONTH))


def is_file(name: str) -> bool:
    """Whether the last part of a path looks like a file rather than a folder."""
    last = posixpath.basename(name)
    return bool(_PART_FILE.match(last)) or (last.rpartition(".")[2].lower() in _FILE_SUFFIXES and "." in last[1:])


def strip_partitions(name: str) -> str:
    """`/t/dt=2024-01-31/part-0.parquet`, `/t/2024/01/31` → `/t`."""
    root = "/" if name.startswith("/") else ""
    parts = [part for part in name.split("/") if part]
    if parts and _is_data_file(parts):
        parts.pop()
    while len(parts) > 1 and (count := _partition_depth(parts)):
        parts = parts[:-count]
    return root + "/".join(parts) or root


def without_version(path: str) -> str:
    """`/t@v12` → `/t`: a Delta path without its version."""
    return _TIME_TRAVEL.sub("", path)


def _is_data_file(parts: list[str]) -> bool:
    """Whether a path is a file inside a dataset: a part file of a task, or any file in a `key=value` folder."""
    if len(parts) < 2 or not is_file("/" + parts[-1]):
        return False
    return bool(_PART_FILE.match(parts[-1]) or _KEY_VALUE.match(parts[-2]))


def _partition_depth(parts: list[str]) -> int:
    """The number of folders at the end that are one partition; at least one part of the path remains."""
    if _KEY_VALUE.match(parts[-1]) or _DATE.match(parts[-1]):
        return 1
    for tree in _DATE_TREES:
        size = len(tree)
        if len(parts) > size and all(p.match(part) for p, part in zip(tree, parts[-size:], strict=True)):
            return size
    return 0
