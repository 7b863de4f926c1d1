"""Which dataset a name stands for: catalog names are symlinks, the physical location is the identity."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from colline.pipeline.names import name_of, namespace_of
from colline.pipeline.rules import Rules, renamed
from colline.pipeline.store import cut

NAME = ("namespace", "name")


def links(told: DataFrame, known: DataFrame, rules: Rules) -> Links:
    """`alias_namespace`, `alias_name` → `namespace`, `name`: the dataset that was last said to have this symlink.

    `told` has namespace, name, symlinks and seen; `known` is silver/datasets.
    """
    new = (
        renamed(told, rules)
        .select(*NAME, "seen", F.explode("symlinks").alias("s"))
        .select(
            *NAME,
            "seen",
            "s.type",
            namespace_of(F.col("s.namespace")).alias("to_namespace"),
            F.col("s.name").alias("to"),
        )
    )
    new = new.withColumn("to_name", name_of(F.col("to_namespace"), F.col("to"))).drop("to")
    old = known.where("merged_into is null").select(*NAME, F.explode("symlinks").alias("s"))
    old = old.select(
        *NAME, "s.seen", "s.type", F.col("s.namespace").alias("to_namespace"), F.col("s.name").alias("to_name")
    )
    both = new.unionByName(old).where(F.length("to_name") > 0)
    is_location = F.upper("type") == "LOCATION"
    pairs = both.select(
        "seen",
        *(F.when(is_location, F.col(n)).otherwise(F.col(f"to_{n}")).alias(f"alias_{n}") for n in NAME),
        *(F.when(is_location, F.col(f"to_{n}")).otherwise(F.col(n)).alias(n) for n in NAME),
    ).where("not (alias_namespace = namespace and alias_name = name)")
    last = pairs.groupBy("alias_namespace", "alias_name").agg(F.max(F.struct("seen", *NAME)).alias("target"))
    direct = cut(last.select("alias_namespace", "alias_name", "target.namespace", "target.name"))
    if direct.isEmpty():
        return Links(direct, rules)
    acyclic = cut(_acyclic(direct))
    return Links(cut(_linked(acyclic, acyclic)), rules)


def _acyclic(pairs: DataFrame) -> DataFrame:
    """The pairs without one half of each `a is b, b is a`: the smaller name stays."""
    back = pairs.select(
        F.col("alias_namespace").alias("namespace"),
        F.col("alias_name").alias("name"),
        F.col("namespace").alias("alias_namespace"),
        F.col("name").alias("alias_name"),
        F.lit(True).alias("mutual"),
    )
    joined = pairs.join(back, ["alias_namespace", "alias_name", *NAME], "left")
    alias_first = F.struct("alias_namespace", "alias_name") < F.struct(*NAME)
    return joined.where(~(F.coalesce("mutual", F.lit(False)) & alias_first)).drop("mutual")


@dataclass(frozen=True, slots=True)
class Links:
    """How a reported name becomes a dataset's: the user's rules, then symlinks."""

    frame: DataFrame
    rules: Rules

    def of(self, rows: DataFrame) -> DataFrame:
        """The rows with `namespace` and `name` replaced by the dataset they stand for."""
        return _linked(renamed(rows, self.rules), self.frame)

    def of_known(self, rows: DataFrame) -> DataFrame:
        """The same for rows whose names have been through the rules."""
        return _linked(rows, self.frame)


def _linked(rows: DataFrame, link: DataFrame) -> DataFrame:
    to = link.select(
        F.col("alias_namespace").alias("namespace"),
        F.col("alias_name").alias("name"),
        F.col("namespace").alias("to_namespace"),
        F.col("name").alias("to_name"),
    )
    joined = rows.join(to, list(NAME), "left")
    return joined.select(
        *(F.coalesce(f"to_{c}", c).alias(c) if c in NAME else F.col(c) for c in rows.columns),
    )


def with_new_ids(keys: DataFrame, known: DataFrame, top: DataFrame, on: list[str]) -> DataFrame:
    """The keys with `id`: the one they have, else the next free ones in the order of the keys.

    The same batch on the same table gives the same ids, so that a batch run twice does not move them.
    """
    found = cut(keys.join(known.select("id", *on), on, "left"))
    new = found.where("id is null").drop("id")
    order: list[Column] = [F.col(name) for name in on]
    numbered = new.crossJoin(F.broadcast(top)).withColumn(
        "id", F.col("top") + F.row_number().over(Window.orderBy(*order))
    )
    return found.where("id is not null").unionByName(numbered.drop("top").select(*found.columns))
