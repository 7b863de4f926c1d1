"""One batch as frames that build on each other: which runs it touches, what they newly say.

`silver/runs` and `gold/jobs` are read as they were before the batch and written last, the other tables are read before
their own write or after it, whichever gives the same. So each write is a function of what the batch finds, whichever
of the others are done, and a batch that was killed half way goes on where it stopped.
"""

from __future__ import annotations

from functools import cached_property

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from colline.lake.tables import BUCKETS, COLUMNS, DATASETS, JOBS, OBSERVATIONS, RUNS, Table
from colline.pipeline import identity
from colline.pipeline.facts import facts
from colline.pipeline.identity import NAME
from colline.pipeline.reading import DETAILS, LINEAGE, SAID, Reading
from colline.pipeline.runs import WHEN, compared, folded, judged, united
from colline.pipeline.store import cut, in_one, looked_up, together

JOB = ("job_namespace", "job_name")
# lifecycle changes that write no data
NOT_A_WRITE = ("DROP", "RENAME", "ALTER")
# the part of silver/observations that a content is in
CONTENT_BUCKET = f"cast(pmod(hash(content), {BUCKETS}) as int)"
# what a mention carries of the runs that say it
OF_TELLING = ("says", "runs", "first", "last")


class Work(Reading):
    """A batch at work."""

    def known(self, table: Table, where: str | None = None) -> DataFrame:
        """The rows of a table (of the parts that `where` tells) before the batch writes it, read once."""
        if table not in self._known:
            rows = self.store.read(table)
            self._known[table] = cut(rows.where(where) if where else rows) if self.store.exists(table) else rows
        return self._known[table]

    def top_id(self, table: Table) -> DataFrame:
        """The highest id ever given in a table, as `top`."""
        own = self._known.get(table) if table is not COLUMNS else None
        return self.store.top_id(table, own)

    @cached_property
    def touched(self) -> DataFrame:
        """The runs the batch speaks of, with all that is known of them now and how they were before."""
        events = self.events
        if self.splits_runs:
            events = events.repartition(self.store.spark.sparkContext.defaultParallelism, "run_id", "part")
        return self.of_runs(united(folded(events), self.known(RUNS, in_parts(self.parts))))

    def revisit(self, known: DataFrame) -> None:
        """Work on runs that are known already instead of a batch's: time alone has changed them."""
        told = [name for name in known.columns if name not in {"state", "effective", "ended_at", "open", "started_at"}]
        was = ("mentions", "effective", "state", "started_at", "effective_at", "ended_at", "opaque")
        runs = known.selectExpr(
            *(name for name in told if name != "effective_at"),
            *(f"{name} as was_{name}" for name in was),
            "mentions as here",
            "true as was_known",
            "coalesce(root_run, parent_run) as was_above",
        )
        self.__dict__["totals"] = Row(lines=0, bad=0, different=0, parts=[])  # no line is read for them
        self.__dict__["touched"] = cut(compared(judged(runs)))

    @cached_property
    def changes(self) -> Row:
        """`parts` of silver/runs that hold rows of touched runs, whether any run `lacks` content or is `restated`.

        `unlined`: whether any newly tells a write without column lineage.
        """
        found = self.touched.selectExpr(
            "collect_set(if(was_known, part, null)) as parts",
            "coalesce(max(lacks), false) as lacks",
            "coalesce(max(restated), false) as restated",
            "coalesce(max(exists(news, m -> m.role = 'O' and m.shape is null)), false) as unlined",
        ).first()
        assert found is not None
        return found

    @cached_property
    def jobs(self) -> DataFrame:
        """`job_id` of every job the batch touches (new jobs have the id they are about to get), and what is known."""
        names = self.touched.select(*JOB).distinct()
        known = self.known(JOBS).withColumnsRenamed({"namespace": JOB[0], "name": JOB[1]})
        rows = self.store.known_ids(JOBS, names.join(known, list(JOB), "left"), JOB)
        rows = rows.withColumn("was_job", F.expr("first_seen is not null"))
        return cut(identity.numbered(rows, self.top_id(JOBS), JOB).withColumnRenamed("id", "job_id"))

    @cached_property
    def job_ids(self) -> DataFrame:
        """`job_id` by the name of the job."""
        return self.jobs.select("job_id", *JOB)

    @cached_property
    def runs(self) -> DataFrame:
        """The touched runs with the ids of their jobs, without what they say of datasets."""
        rows = self.touched.drop("mentions", "was_mentions", "news", "still")
        return self.of_runs(rows.join(self.beside_runs(self.job_ids), list(JOB)))

    @cached_property
    def news(self) -> DataFrame:
        """What effective runs newly say (`n` = 1), and what streams that went on still say (0).

        A row per job, list of all that is said at once (`says`) and mention in it: a hundred runs of a job that say
        the same are one telling, with how many they are (`runs`), when the first of them counts and the last ended.
        """
        said = (
            "concat(transform(news, m -> struct(1 as n, m as m)), transform(still, m -> struct(0 as n, m as m)))"
            " as said"
        )
        rows = self.touched.where("effective and says <> ''").selectExpr(*JOB, "says", said, *WHEN)
        columns = ("first(said) as said", "count(*) as runs", "min(first) as first", "max(last) as last")
        tellings = rows.groupBy(*JOB, "says").agg(*(F.expr(column) for column in columns))
        each = tellings.selectExpr(*JOB, *OF_TELLING, "explode(said) as s")
        each = each.selectExpr(*JOB, *OF_TELLING, "s.n", *(f"s.m.{name}" for name in SAID))
        return cut(each.join(looked_up(self.job_ids), list(JOB)).drop(*JOB))

    @cached_property
    def true_now(self) -> DataFrame:
        """What datasets and columns are told from: the news; everything that ever counted when a run is restated."""
        if not self.retells:
            return self.news.selectExpr("content", "first.at as effective_at", "last.at as ended_at")
        fresh = self.touched.select("run_id", "effective_at", "ended_at", "effective", "mentions")
        before = self.store.read(RUNS).join(fresh.select("run_id"), "run_id", "left_anti").select(*fresh.columns)
        rows = fresh.unionByName(before).where("effective").selectExpr("*", "explode(mentions) as m")
        return cut(rows.selectExpr("m.content", "effective_at", "ended_at"))

    @property
    def retells(self) -> bool:
        """Whether datasets and columns are told anew, because something they were told from is no longer true."""
        return bool(self.changes["restated"]) and not self.store.forgets

    def told(self, contents: DataFrame) -> DataFrame:
        """The contents whole: from the batch, else from what was observed earlier. `contents` has no other column."""
        columns = ("content", *(name for name in SAID if name != "content"), *DETAILS, *LINEAGE)
        if self.retells:
            return self.store.read(OBSERVATIONS).join(contents, "content", "left_semi").select(*columns)
        here = in_one(self.picked).join(contents, "content", "left_semi").select(*columns)
        if not self.changes["lacks"]:
            return here
        missing = contents.join(self.picks, "content", "left_anti").withColumn("bucket", F.expr(CONTENT_BUCKET))
        earlier = self.store.read(OBSERVATIONS).join(F.broadcast(missing), ["bucket", "content"], "left_semi")
        return here.unionByName(earlier.select(*columns))

    @cached_property
    def spoken(self) -> DataFrame:
        """What is said now, each content once, with the first and last time it was true."""
        when = self.true_now.groupBy("content")
        when = cut(when.agg(F.expr("min(effective_at) as first"), F.expr("max(ended_at) as last")))
        return cut(self.told(when.select("content")).drop(*LINEAGE).join(when, "content"))

    @cached_property
    def facts(self) -> DataFrame:
        """The lineage that is said now, as facts by shape, in reported names, with when each shape was true."""
        shapes = self.spoken.where("shape is not null").groupBy("shape")
        one = cut(
            shapes.agg(*(F.expr(e) for e in ("min(content) as content", "min(first) as first", "max(last) as last")))
        )
        if self.retells or self.changes["lacks"]:
            return cut(facts(self.told(one.select("content"))).join(one.drop("content"), "shape"))
        return cut(self.facts_here.join(looked_up(one.drop("content")), "shape"))

    @cached_property
    def facts_here(self) -> DataFrame:
        """The lineage that the batch says, whether it counts or not, as facts by shape."""
        picked = in_one(self.picked.where("shape is not null"))
        one = picked.groupBy("shape").agg(F.expr("min(content) as content")).select("content")
        return cut(facts(picked.join(looked_up(one), "content", "left_semi")))

    @cached_property
    def links(self) -> identity.Links:
        """Symlinks, as the lake knows them with the batch's."""
        told = self.spoken.selectExpr(*NAME, "last as seen", "symlinks")
        return identity.links(told, self.known(DATASETS), self.rules)

    @cached_property
    def places(self) -> DataFrame:
        """Every reported name, with the name (`to_namespace`, `to_name`) of the dataset it stands for."""
        names = together(self.spoken.select(*NAME), self.facts.select(*NAME)).distinct()
        to = self.links.of(names.selectExpr(*NAME, "namespace as r1", "name as r2"))
        return cut(to.selectExpr("r1 as namespace", "r2 as name", "namespace as to_namespace", "name as to_name"))


def in_parts(parts: list[str]) -> str:
    """SQL that picks these parts of silver/runs."""
    return f"part in ({', '.join(repr(part) for part in parts)})" if parts else "false"
