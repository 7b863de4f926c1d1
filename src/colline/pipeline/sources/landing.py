"""Reads landing folders as a stream of lines: the bytes of each line, its file, its position, and when it landed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from colline.errors import LakeError
from colline.lake.location import hadoop_glob, local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The endings of landed files. The name of an unfinished file starts with a dot.
ENDINGS = tuple(f".{kind}{packed}" for packed in ("", ".gz", ".zst") for kind in ("ndjson", "jsonl", "json"))
FILES = f"*{{{','.join(ENDINGS)}}}"
# the ending that a corrupt file gets
BROKEN = ".unreadable"
FILES_PER_BATCH = 1000
# One file is one input partition, so that a row's number in its partition is its line in the file.
ONE_FILE_EACH = {
    "spark.sql.files.maxPartitionBytes": str(2**50),
    "spark.sql.files.openCostInBytes": str(2**50),
}

# Local files are read without checksums: Hadoop would search a checksum file for each, and fails for names with a colon
# (a time of day).
WITHOUT_CHECKSUMS = {"fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem", "fs.file.impl.disable.cache": "true"}
READING = {"lineSep": "\n", **WITHOUT_CHECKSUMS}

# the columns of a line: its bytes, and their origin
LINE = ("raw", "file", "position", "received_at")
# SQL of a line's file: `file:/x` and `file:///x` are one, and Spark writes either
FILE = "regexp_replace(file, '^file:/+', 'file:/')"


def stream(spark: SparkSession, folder: str, files_per_batch: int = FILES_PER_BATCH) -> DataFrame:
    """The lines that land in a folder, at any depth. `[` or `*` in its name is taken literally."""
    reader = (
        spark.readStream.format("text")
        .options(**READING)
        .option("recursiveFileLookup", "true")
        .option("pathGlobFilter", FILES)
        .option("maxFileAge", "36500d")
        .option("maxFilesPerTrigger", str(files_per_batch))
    )
    path = hadoop_glob(folder)
    if path is None:
        raise LakeError(
            f"Spark cannot read {folder}", hint="its name has a colon, and a bracket, star or question mark"
        )
    return with_origin(reader.load(path))


def lines_of(spark: SparkSession, files: Sequence[str]) -> DataFrame | None:
    """The lines of files that have landed, by their addresses in `_metadata`.

    None where Spark cannot name them all, or one is gone.
    """
    from pyspark.errors import AnalysisException

    paths = [path for file in files if (path := hadoop_glob(unquote(file))) is not None]
    if len(paths) < len(files):
        return None
    try:
        text = spark.read.format("text").options(**READING).load(paths)
    except AnalysisException:  # a path does not exist; a text source has no schema that could be wrong
        return None
    return with_positions(with_origin(text))


def with_origin(text: DataFrame) -> DataFrame:
    """Rows of a text source with their file and when it landed."""
    from pyspark.sql import functions as F

    return text.select(
        F.col("value").alias("raw"),
        F.expr("regexp_replace(_metadata.file_path, '^file:/+', 'file:///')").alias("file"),
        F.col("_metadata.file_modification_time").alias("received_at"),
    )


def ignored_files(folder: str) -> list[str]:
    """The files in a local folder that are ignored because of their ending."""
    where = local_path(folder)
    if where is None:
        return []
    names = (path.relative_to(where) for path in Path(where).rglob("*") if path.is_file())
    # hidden files are ignored by Spark
    seen = (name for name in names if not any(part.startswith((".", "_")) for part in name.parts))
    return sorted(f"{folder}/{name}" for name in seen if not name.name.endswith((*ENDINGS, BROKEN)))


def with_positions(rows: DataFrame) -> DataFrame:
    """Rows of `with_origin`, one file per partition, with their position in the file; blank lines are skipped."""
    is_placed = "position" in rows.columns
    placed = rows if is_placed else rows.selectExpr("*", f"monotonically_increasing_id() & {2**33 - 1} as position")
    return placed.where(f"{_trim('raw')} <> ''")


def event_id(raw: str) -> str:
    """The digest of an event's text without surrounding blanks; SQL."""
    return f"sha2({_trim(raw)}, 256)"


def _trim(text: str) -> str:
    """The text without surrounding blanks; SQL. Most lines have none, and trimming would read every character."""
    trimmed = f"trim(both ' \\t\\n\\r\\f\\u000B' from {text})"
    return f"if(startswith({text}, '{{') and endswith({text}, '}}'), {text}, {trimmed})"
