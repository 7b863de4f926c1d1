"""Which jobs can go on from their last version, and which must be told again from all their runs.

A job goes on when all that is new lies after what is known. A late run, a run that turns out to have failed, lineage
that a finished run adds, a dataset that turns out to be another one: those jobs are told again.
"""

from __future__ import annotations

from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.pipeline.dimensions import column_ids, fact_keys
from colline.pipeline.facts import facts
from colline.pipeline.identity import NAME
from colline.pipeline.runs import group_of
from colline.pipeline.store import cut
from colline.pipeline.tables import EDGES, JOBS, OBSERVATIONS, READS, RUNS
from colline.pipeline.versions import ITEM, KEY, edges, state, versions, with_epochs
from colline.pipeline.work import DETAILS, SAID, Work

JOB = ("job_namespace", "job_name")


class History:
    """The versions and edges of the jobs a batch touches."""

    def __init__(self, work: Work) -> None:
        self.work = work

    @cached_property
    def known_jobs(self) -> DataFrame:
        """`gold/jobs` before the batch, for the jobs it touches."""
        known = self.work.store.read(JOBS).withColumnRenamed("id", "job_id")
        return self.work.keep(known.join(self.work.jobs.select("job_id"), "job_id"))

    @cached_property
    def past(self) -> DataFrame:
        """The last known version of each output, as an item."""
        each = self.known_jobs.select("job_id", F.explode("outputs").alias("o"))
        return self.work.keep(
            each.select(
                "job_id",
                "o.dataset_id",
                F.col("o.last_run").alias("run_id"),
                F.col("o.group").alias("grp"),
                "o.started",
                "o.first",
                "o.last",
                F.lit(False).alias("overwrite"),
                "o.shapes",
                F.col("o.runs").alias("n"),
                F.lit(True).alias("is_past"),
            )
        )

    @cached_property
    def fresh(self) -> DataFrame:
        """The writes that effective runs newly tell, and those of streams that went on, as items."""
        work = self.work
        told = work.news.where("shape is not null and role in ('O', 'D')").select(
            *JOB,
            *NAME,
            "run_id",
            "grp",
            "grp_started",
            "started_at",
            "ended_at",
            "overwrite",
            "shape",
            "was_effective",
            F.lit(1).alias("n"),
        )
        flowing = work.touched.where("effective and was_effective and streaming and ended_at > was_ended_at")
        more = flowing.select("*", F.explode("was_mentions").alias("m")).where(
            "m.shape is not null and m.role in ('O', 'D')"
        )
        more = more.select(
            *JOB,
            "m.namespace",
            "m.name",
            "run_id",
            "grp",
            "grp_started",
            "started_at",
            "ended_at",
            "m.overwrite",
            "m.shape",
            F.lit(False).alias("was_effective"),
            F.lit(0).alias("n"),
        )
        rows = cut(work.with_dataset(cut(told.unionByName(more))).join(work.jobs, list(JOB)))
        return work.keep(
            rows.groupBy(*KEY, "run_id")
            .agg(
                F.max("grp").alias("grp"),
                F.max("grp_started").alias("grp_started"),
                F.min("started_at").alias("started"),
                F.max("ended_at").alias("last"),
                F.max("overwrite").alias("overwrite"),
                F.array_sort(F.collect_set("shape")).alias("shapes"),
                F.max("n").alias("n"),
                F.max("was_effective").alias("was_effective"),
            )
            .withColumn("first", F.col("last"))
            .withColumn("overwrite", F.coalesce("overwrite", F.lit(False)))
            .withColumn("is_past", F.lit(False))
        )

    @cached_property
    def again(self) -> DataFrame:
        """`job_id` of the jobs that must be told again."""
        work = self.work
        past = self.past.select(
            *KEY, F.col("grp").alias("p_grp"), F.col("last").alias("p_last"), F.col("run_id").alias("p_run")
        )
        joined = cut(self.fresh.join(past, list(KEY)))
        same = F.col("grp") == F.col("p_grp")
        goes_on = F.when(F.col("n") == 0, F.col("run_id") == F.col("p_run")).otherwise(
            ~F.col("was_effective")
            & (F.col("last") > F.col("p_last"))
            & F.when(same, F.col("started") >= F.col("p_last")).otherwise(F.col("grp_started") > F.col("p_last"))
        )
        late = joined.where(~F.coalesce(goes_on, F.lit(False))).select("job_id")
        grown = self.fresh.where("was_effective").select("job_id")
        revoked = work.touched.where("was_effective and not effective").join(work.jobs, list(JOB)).select("job_id")
        again = late.unionByName(grown).unionByName(revoked)
        if not work.gone.isEmpty():
            again = again.unionByName(self._moved())
        return work.keep(again.distinct())

    def _moved(self) -> DataFrame:
        """Jobs whose edges or reads name a dataset that this batch found to be another one."""
        work = self.work
        gone = F.broadcast(work.gone.select(F.col("dataset_id").alias("gone")))
        edge, read = work.store.read(EDGES), work.store.read(READS)
        by_target = edge.join(gone, F.col("dataset_id") == F.col("gone")).select("job_id")
        by_source = edge.join(gone, F.col("source_dataset_id") == F.col("gone")).select("job_id")
        by_read = read.join(gone, F.col("dataset_id") == F.col("gone")).select("job_id")
        return cut(by_target.unionByName(by_source).unionByName(by_read))

    @cached_property
    def retold(self) -> bool:
        """Whether any job must be told again."""
        return not self.again.isEmpty()

    @cached_property
    def again_jobs(self) -> DataFrame:
        """The jobs to be told again, with their names."""
        known = self.work.store.read(JOBS).select(
            F.col("id").alias("job_id"), F.col("namespace").alias("job_namespace"), F.col("name").alias("job_name")
        )
        return self.work.keep(known.unionByName(self.work.jobs).distinct().join(self.again, "job_id"))

    @cached_property
    def again_runs(self) -> DataFrame:
        """Every run of the jobs to be told again, as it is now."""
        work = self.work
        columns = work.store.read(RUNS).columns
        before = work.store.read(RUNS).join(F.broadcast(self.again_jobs), list(JOB))
        before = before.join(work.touched.select("run_id"), "run_id", "left_anti").select(*columns, "job_id")
        now = work.touched.join(F.broadcast(self.again_jobs), list(JOB)).select(*columns, "job_id")
        return work.keep(before.unionByName(now))

    @cached_property
    def again_news(self) -> DataFrame:
        """Everything the effective ones of those runs ever said."""
        runs = self.again_runs.where("effective").withColumn("grp", group_of())
        return self.work.keep(
            runs.select("*", F.explode("mentions").alias("m")).select(
                "job_id", *JOB, "run_id", "part", "grp", "started_at", "ended_at", "m.*"
            )
        )

    @cached_property
    def again_facts(self) -> DataFrame:
        """The facts of all the shapes in `again_news`, each told by one observation."""
        work = self.work
        need = self.again_news.where("shape is not null").select("shape").distinct()
        stored = work.store.read(OBSERVATIONS).where("shape is not null").join(F.broadcast(need), "shape", "left_semi")
        return work.keep(facts(stored.select(*SAID, *DETAILS)))

    @cached_property
    def items(self) -> DataFrame:
        """Items of all touched keys, with their epochs."""
        fast = self.past.select(*ITEM).join(self.fresh.select(*KEY).distinct(), list(KEY), "left_semi")
        rows = fast.unionByName(self.fresh.select(*ITEM))
        if self.retold:
            rows = rows.join(self.again, "job_id", "left_anti").select(*ITEM).unionByName(self._again_items())
        return self.work.keep(with_epochs(rows))

    def _again_items(self) -> DataFrame:
        told = self.again_news.where("shape is not null and role in ('O', 'D')")
        rows = self.work.with_dataset(told)
        return (
            rows.groupBy(*KEY, "run_id")
            .agg(
                F.max("grp").alias("grp"),
                F.min("started_at").alias("started"),
                F.max("ended_at").alias("first"),
                F.max("ended_at").alias("last"),
                F.coalesce(F.max("overwrite"), F.lit(False)).alias("overwrite"),
                F.array_sort(F.collect_set("shape")).alias("shapes"),
            )
            .withColumn("n", F.lit(1))
            .withColumn("is_past", F.lit(False))
            .select(*ITEM)
        )

    @cached_property
    def versions(self) -> DataFrame:
        """The versions of all touched keys."""
        return self.work.keep(versions(self.items))

    @cached_property
    def outputs(self) -> DataFrame:
        """The state each touched job goes on from: its old outputs, with the touched ones replaced."""
        now = self.versions.where("is_last")
        untouched = self.past.join(now, list(KEY), "left_anti")
        if self.retold:
            untouched = untouched.join(self.again, "job_id", "left_anti")
        kept = untouched.select(
            *KEY, "grp", "started", "first", "last", "shapes", "n", "run_id", F.lit(True).alias("is_last")
        )
        kept = kept.withColumn("newest", F.struct(F.col("last").alias("last"), "run_id")).drop("run_id")
        return state(now.select(*kept.columns).unionByName(kept))

    @cached_property
    def all_facts(self) -> DataFrame:
        """The facts of every shape that counts here, in ids of columns: `shape`, source, target key, effect, use."""
        told = self.work.facts.unionByName(self.again_facts).distinct() if self.retold else self.work.facts
        ids = column_ids(self.work)
        sources = cut(self.work.with_dataset(told.withColumn("target_key", fact_keys())))
        sources = sources.withColumn("key", F.lower("field")).join(ids, ["dataset_id", "key"])
        return self.work.keep(
            sources.select(
                "shape",
                "target_key",
                F.col("column_id").alias("source_id"),
                F.col("dataset_id").alias("source_dataset_id"),
                "type",
                "subtype",
                "masking",
                "description",
                "use",
            ).distinct()
        )

    @cached_property
    def edges(self) -> DataFrame:
        """The edges of all touched keys as they are now."""
        keys = self.items.where("not is_past").select(*KEY, F.explode("shapes").alias("shape")).distinct()
        ids = column_ids(self.work).select(
            F.col("column_id").alias("target_id"), "dataset_id", F.col("key").alias("target_key")
        )
        by_shape = keys.join(self.all_facts.where("target_key is not null"), "shape")
        told = cut(by_shape.join(ids, ["dataset_id", "target_key"]))
        told = told.select(
            *KEY, "shape", "source_id", "target_id", "type", "subtype", "masking", "description", "source_dataset_id"
        ).distinct()
        open_edges = self.work.store.read(EDGES).where("retired_at is null")
        return self.work.keep(edges(self.items, self.versions, told, open_edges))
