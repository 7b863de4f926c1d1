"""Landing folders as a stream of lines: the bytes of each line, its file, its line number, when it came."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from colline.errors import LakeError
from colline.lake.location import hadoop_glob, local_path

# How names of landed files end. What is still being written starts with a dot.
ENDINGS = tuple(f".{kind}{packed}" for packed in ("", ".gz", ".zst") for kind in ("ndjson", "jsonl", "json"))
FILES = f"*{{{','.join(ENDINGS)}}}"
# how the name of a broken file ends from then on
BROKEN = ".unreadable"
FILES_PER_BATCH = 1000
# One file is one input partition, so that a row's number in its partition is its line in the file.
ONE_FILE_EACH = {
    "spark.sql.files.maxPartitionBytes": str(2**50),
    "spark.sql.files.openCostInBytes": str(2**50),
}

# Files of this machine are read as they are. Hadoop would look for a checksum beside each, by a name that it cannot
# spell where there is a colon in it, as in a time of day.
AS_THEY_ARE = {"fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem", "fs.file.impl.disable.cache": "true"}
READING = {"lineSep": "\n", **AS_THEY_ARE}

# what a line is: its bytes, and where they are from
LINE = ("raw", "file", "position", "received_at")
# SQL of a line's file: `file:/x` and `file:///x` are one, and Spark writes either
FILE = "regexp_replace(file, '^file:/+', 'file:/')"


def stream(spark: SparkSession, folder: str, files_per_batch: int = FILES_PER_BATCH) -> DataFrame:
    """The lines that land in a folder, at any depth. `[` or `*` in its name means itself."""
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
    return located(reader.load(path))


def lines_of(spark: SparkSession, files: Sequence[str]) -> DataFrame | None:
    """The lines of files that have landed, by their addresses in `_metadata`.

    None where Spark cannot name them all, or one is gone.
    """
    paths = [path for file in files if (path := hadoop_glob(unquote(file))) is not None]
    if len(paths) < len(files):
        return None
    try:
        text = spark.read.format("text").options(**READING).load(paths)
    except AnalysisException:  # what it says of a path that does not exist; a text has no schema to be wrong
        return None
    return numbered(located(text))


def located(text: DataFrame) -> DataFrame:
    """Rows of a text source with the file they are in and when it came."""
    return text.select(
        F.col("value").alias("raw"),
        F.expr("regexp_replace(_metadata.file_path, '^file:/+', 'file:///')").alias("file"),
        F.col("_metadata.file_modification_time").alias("received_at"),
    )


def unread(folder: str) -> list[str]:
    """The files in a folder of this machine that are not looked for because of how their names end."""
    where = local_path(folder)
    if where is None:
        return []
    names = (path.relative_to(where) for path in Path(where).rglob("*") if path.is_file())
    # neither are those that Spark takes for hidden
    seen = (name for name in names if not any(part.startswith((".", "_")) for part in name.parts))
    return sorted(f"{folder}/{name}" for name in seen if not name.name.endswith((*ENDINGS, BROKEN)))


def numbered(rows: DataFrame) -> DataFrame:
    """Located rows, one file per partition, as lines with their place in the file; blank ones are no lines."""
    placed = rows.selectExpr("*", f"monotonically_increasing_id() & {2**33 - 1} as position")
    return placed.where(f"{_bare('raw')} <> ''")


def event_id(raw: str) -> str:
    """The digest of an event's text, without the blanks around it; SQL of SQL."""
    return f"sha2({_bare(raw)}, 256)"


def _bare(text: str) -> str:
    """The text without the blanks around it. Most lines have none; to look for them is to walk over every letter."""
    trimmed = f"trim(both ' \\t\\n\\r\\f\\u000B' from {text})"
    return f"if(startswith({text}, '{{') and endswith({text}, '}}'), {text}, {trimmed})"
