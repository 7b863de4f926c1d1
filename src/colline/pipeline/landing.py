"""Landing folders as a stream of lines: the bytes of each line, its file, its line number, when it came."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

# Names a transport gives to whole files. What is still being written starts with a dot or ends otherwise.
FILES = "*.{ndjson,jsonl,json,ndjson.gz,jsonl.gz,json.gz,ndjson.zst,jsonl.zst,json.zst}"
FILES_PER_BATCH = 1000
# One file is one input partition, so that a row's number in its partition is its line in the file.
ONE_FILE_EACH = {
    "spark.sql.files.maxPartitionBytes": str(2**50),
    "spark.sql.files.openCostInBytes": str(2**50),
}


def stream(spark: SparkSession, folder: str, files_per_batch: int = FILES_PER_BATCH) -> DataFrame:
    """The lines that land in a folder, at any depth."""
    reader = (
        spark.readStream.format("text")
        .option("lineSep", "\n")
        .option("recursiveFileLookup", "true")
        .option("pathGlobFilter", FILES)
        .option("maxFileAge", "36500d")
        .option("maxFilesPerTrigger", str(files_per_batch))
    )
    return with_places(reader.load(folder))


def with_places(text: DataFrame) -> DataFrame:
    """Rows of a text source as lines."""
    line = F.monotonically_increasing_id().bitwiseAND(F.lit(2**33 - 1))
    placed = text.select(
        F.col("value").alias("raw"),
        F.col("_metadata.file_path").alias("file"),
        line.alias("position"),
        F.col("_metadata.file_modification_time").alias("received_at"),
    )
    return placed.where(F.length(F.trim(F.regexp_replace("raw", "[\\r\\t]", ""))) > 0).withColumn(
        "event_id", event_id(F.col("raw"))
    )


def event_id(raw: Column) -> Column:
    """The digest of an event's text, without the blanks around it."""
    return F.sha2(F.regexp_replace(raw, "^\\s+|\\s+$", ""), 256)
