"""One batch as frames that build on each other: what came, which runs it touches, what they newly say.

`silver/runs` and `gold/jobs` are read as they were before the batch and written last, the other tables are read after
their own write. So each write is a function of what the batch finds, and a batch that was killed half way goes on
where it stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.pipeline import identity, wire
from colline.pipeline.facts import facts
from colline.pipeline.identity import NAME
from colline.pipeline.parse import Limits, parsed
from colline.pipeline.rules import Rules, job_name
from colline.pipeline.runs import folded, group_of, group_started, judged, united
from colline.pipeline.store import Store, cut, empty
from colline.pipeline.tables import DATASETS, JOBS, MENTION, OBSERVATIONS, RUNS

SAID = ("role", *NAME, "content")
DETAILS = ("kind", "schema", "symlinks", "owner", "tags", "fields", "rows", "reads", "shape")
# lifecycle changes that write no data
NOT_A_WRITE = ("DROP", "RENAME", "ALTER")


@dataclass(frozen=True, slots=True)
class Options:
    """What a user sets of the pipeline."""

    limits: Limits = field(default_factory=Limits)
    rules: Rules = field(default_factory=Rules)


class Work:
    """A batch at work. Frames are made when first asked for and kept until `close`."""

    def __init__(self, store: Store, lines: DataFrame, options: Options | None = None) -> None:
        self.store = store
        self.lines = lines
        self.options = options or Options()
        self.rules = self.options.rules
        self._kept: list[DataFrame] = []

    def keep(self, frame: DataFrame) -> DataFrame:
        """The frame, computed now."""
        return cut(frame)

    def close(self) -> None:
        """Give back what was kept."""
        while self._kept:
            self._kept.pop().unpersist()

    @cached_property
    def judged(self) -> DataFrame:
        """Every line, parsed once."""
        rows = parsed(self.lines, self.options.limits).withColumn("rid", F.xxhash64("file", "position"))
        rows = rows.withColumn("job_name", job_name(F.col("job_name"), self.rules))
        self._kept.append(rows.persist(StorageLevel.MEMORY_AND_DISK))
        return self._kept[-1]

    @cached_property
    def events(self) -> DataFrame:
        """The lines that are events."""
        return self.judged.where("reason is null")

    @cached_property
    def touched(self) -> DataFrame:
        """The runs the batch speaks of, with all that is known of them now and how they were before."""
        batch = self.keep(folded(self.events))
        found = batch.agg(F.collect_set("part").alias("parts")).first()
        parts = list(found["parts"]) if found else []
        known = self.store.read(RUNS).where(F.col("part").isin(parts))
        runs = united(batch, known)
        return self.keep(runs.withColumn("grp", group_of()).withColumn("grp_started", group_started()))

    def revisit(self, known: DataFrame) -> None:
        """Work on runs that are known already instead of a batch's: time alone has changed them."""
        told = [name for name in known.columns if name not in {"state", "effective", "ended_at", "open", "started_at"}]
        runs = known.select(
            *told,
            *(F.col(name).alias(f"was_{name}") for name in ("mentions", "effective", "state", "ended_at")),
            F.lit(True).alias("was_known"),
        )
        again = judged(runs).withColumn("grp", group_of()).withColumn("grp_started", group_started())
        self.__dict__["touched"] = self.keep(again)

    @cached_property
    def said(self) -> DataFrame:
        """What the batch's events say of datasets, light: where to find it, not the thing itself."""
        each = self.events.select("rid", "run_id", "t", F.posexplode("light").alias("at", "m"))
        return self.keep(each.select("rid", "run_id", "t", "at", *(F.col(f"m.{name}") for name in (*SAID, "shape"))))

    @cached_property
    def news(self) -> DataFrame:
        """What effective runs say that they had not said before they were effective, one row per mention."""
        none = F.array().cast(f"array<{MENTION}>")
        before = F.when(F.col("was_effective"), F.col("was_mentions")).otherwise(none)
        runs = self.touched.where("effective").withColumn("m", F.explode(F.array_except("mentions", before)))
        columns = (
            "run_id",
            "part",
            "job_namespace",
            "job_name",
            "grp",
            "grp_started",
            "started_at",
            "ended_at",
            "streaming",
        )
        return self.keep(runs.select(*columns, "was_effective", "m.*"))

    @cached_property
    def told(self) -> DataFrame:
        """The content of the news, each content once: from the batch, else from earlier observations."""
        need = self.keep(self.news.select(*SAID).distinct())
        picks = self.said.join(need, list(SAID)).groupBy(*SAID).agg(F.min(F.struct("rid", "at")).alias("pick"))
        picks = self.keep(picks.select(*SAID, "pick.rid", "pick.at"))
        here = picks.join(self.events.select("rid", "mentions"), "rid")
        here = here.withColumn("m", F.element_at("mentions", F.col("at") + 1))
        here = here.select(*SAID, *(F.col(f"m.{name}") for name in DETAILS))
        missing = need.join(picks, list(SAID), "left_anti")
        if missing.isEmpty():
            return self.keep(here)
        parts = self.news.select("part").distinct()
        earlier = self.store.read(OBSERVATIONS).join(F.broadcast(parts), "part", "left_semi").join(missing, list(SAID))
        return self.keep(here.unionByName(earlier.select(*SAID, *DETAILS).dropDuplicates(list(SAID))))

    @cached_property
    def spoken(self) -> DataFrame:
        """The news by content with the first and last time they were true."""
        when = self.news.groupBy(*SAID, "lifecycle").agg(
            F.min("ended_at").alias("first"), F.max("ended_at").alias("last")
        )
        return self.keep(when.join(self.told, list(SAID)))

    @cached_property
    def facts(self) -> DataFrame:
        """The facts of the news, by shape, in reported names."""
        return self.keep(facts(self.told))

    @cached_property
    def shape_times(self) -> DataFrame:
        """When each shape was first and last true."""
        return (
            self.news.where("shape is not null")
            .groupBy("shape")
            .agg(F.min("ended_at").alias("first"), F.max("ended_at").alias("last"))
        )

    @cached_property
    def links(self) -> identity.Links:
        """Symlinks as the lake knows them after the datasets of the batch are written."""
        none = empty(self.store.spark, f"namespace string, name string, symlinks {wire.SYMLINKS}, seen timestamp")
        return identity.links(none, self.store.read(DATASETS), self.rules)

    @cached_property
    def datasets(self) -> DataFrame:
        """Names and ids of the datasets, after the batch's are written."""
        known = self.store.read(DATASETS).where("merged_into is null")
        return known.select(F.col("id").alias("dataset_id"), *NAME)

    @cached_property
    def gone(self) -> DataFrame:
        """`dataset_id` of the datasets that this batch found to be others, `into` those others."""
        stamp = self.store.stamp
        marker = f"{stamp.app}/{stamp.version}" if stamp else ""
        found = self.store.read(DATASETS).where(F.col("merged_in") == marker)
        return self.keep(found.select(F.col("id").alias("dataset_id"), F.col("merged_into").alias("into")))

    def with_dataset(self, rows: DataFrame) -> DataFrame:
        """Rows with a reported name, with the id of the dataset it stands for."""
        return self.links.of(rows).join(self.datasets, list(NAME))

    @cached_property
    def jobs(self) -> DataFrame:
        """`job_id` of every job the batch touches; new jobs have the id they are about to get."""
        names = self.touched.select(
            F.col("job_namespace").alias("namespace"), F.col("job_name").alias("name")
        ).distinct()
        numbered = identity.with_new_ids(names, self.store.ids(JOBS, list(NAME)), self.store.top_id(JOBS), list(NAME))
        return self.keep(
            numbered.select(
                F.col("id").alias("job_id"), F.col("namespace").alias("job_namespace"), F.col("name").alias("job_name")
            )
        )
