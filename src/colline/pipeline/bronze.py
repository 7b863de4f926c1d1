"""Bronze: every line that ever landed, byte for byte, with the halves it was cut into.

A line's halves are kept beside it because they are a fiftieth of it: to tell its run, nobody needs to read it again.
They are as good as the rule they were cut by (`rule`). Lines that were cut by another one, or by a colline that kept
no halves, are cut anew from their bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from colline.environment.hadoop_files import HadoopFiles
from colline.lake.delta_log import files_added_by
from colline.lake.location import hadoop_glob
from colline.lake.tables import BRONZE, fields_of
from colline.pipeline.heads import halved, rule
from colline.pipeline.landing import LINE, event_id
from colline.pipeline.parse import Limits, is_utf8

if TYPE_CHECKING:
    from colline.pipeline.store import Store

# A head is kept up to this size; a longer one is most of its line.
LONGEST_HEAD = 32 * 1024
# bytes become text again as they are
_TEXT = ("cast(raw as string) as raw", *(name for name in LINE if name != "raw"))


def lines(rows: DataFrame) -> DataFrame:
    """Rows of bronze as the lines that landed."""
    return rows.selectExpr(*_TEXT)


def write_bronze(store: Store, landed: DataFrame, limits: Limits) -> None:
    """Every line as it came, with its halves."""
    # of a line without a body its rule is all there is to know; who reads the table takes a head for text
    is_kept = f"head is null or (octet_length(head) <= {LONGEST_HEAD} and {is_utf8('head')})"
    rows = halved(landed, limits).selectExpr(
        *LINE,
        f"{event_id('raw')} as event_id",
        f"'{store.marker}' as batch",
        "body",
        f"if({is_kept}, head, null) as head",
        f"if({is_kept}, '{rule(limits)}', null) as rule",
        "to_date(received_at) as dt",
    )
    store.append(BRONZE, rows)


def halves(rows: DataFrame, limits: Limits) -> DataFrame:
    """Rows of bronze as halved lines, without their bytes."""
    names = ("file", "position", "received_at", "body", "head")
    kept = rows.where(f"rule = '{rule(limits)}'").select(*names)
    # Parquet tells which parts of a file have such lines; where there are none, none is read
    others = rows.where(f"rule is null or rule <> '{rule(limits)}'")
    return kept.unionByName(halved(lines(others), limits).select(*names))


def written(store: Store, files: HadoopFiles) -> DataFrame | None:
    """The rows of bronze that this batch wrote, in their files; None where these cannot be told.

    To look for them in the table would cost more with every batch that came before.
    """
    if store.stamp is None:
        return None
    found = files_added_by(files, store.path(BRONZE), store.stamp.app, store.stamp.version) or {}
    # a table whose columns have other names in its files has its parts by other names too
    plain = (name for name, of in found.items() if set(of) == set(BRONZE.partitions))
    # upkeep may have put others in their place since, if the batch was killed after it wrote them
    paths = [path for name in plain if (path := hadoop_glob(name)) is not None and files.exists(name)]
    if not paths or len(paths) < len(found):
        return None
    columns = {name: kind for name, kind in fields_of(BRONZE).items() if name not in BRONZE.partitions}
    schema = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    return store.spark.read.schema(schema).parquet(*paths)
