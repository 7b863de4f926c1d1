"""One batch as frames that build on each other: what came, which runs it touches, what they newly say.

`silver/runs` and `gold/jobs` are read as they were before the batch and written last, the other tables are read before
their own write or after it, whichever gives the same. So each write is a function of what the batch finds, whichever
of the others are done, and a batch that was killed half way goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from gc import collect as find_cycles
from typing import TypeAlias

from pyspark import StorageLevel
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from colline.pipeline import identity
from colline.pipeline.facts import facts
from colline.pipeline.heads import OF_HEAD, heads
from colline.pipeline.identity import NAME
from colline.pipeline.parse import RID, WRONG, WRONG_DETAIL, Limits, parsed, whole
from colline.pipeline.rules import Rules, job_name
from colline.pipeline.runs import compared, folded, judged, united
from colline.pipeline.store import Store, cut, in_one, looked_up, together
from colline.pipeline.tables import BUCKETS, COLUMNS, DATASETS, JOBS, OBSERVATIONS, RUNS, Table
from colline.pipeline.threads import Threads
from colline.pipeline.wire import CORRUPT, TEXTS

JOB = ("job_namespace", "job_name")
SAID = ("role", *NAME, "shape", "content", "lifecycle", "overwrite")
DETAILS = ("kind", "schema", "symlinks", "owner", "tags")
LINEAGE = ("fields", "rows", "reads")
# lifecycle changes that write no data
NOT_A_WRITE = ("DROP", "RENAME", "ALTER")
# the part of silver/observations that a content is in
CONTENT_BUCKET = f"cast(pmod(hash(content), {BUCKETS}) as int)"
# Files that are read by name rather than with all the others
FEW_FILES = 100
# Bodies that are kept whole until they are read
FEW_BODIES = 1000
# what a run's mention carries of the run
OF_RUN = ("run_id", *JOB, "grp", "grp_started", "started_at", "effective_at", "ended_at")


# the lines of the batch that are in these files
LinesOf: TypeAlias = Callable[[list[str]], DataFrame]


@dataclass(frozen=True, slots=True)
class Options:
    """What a user sets of the pipeline."""

    limits: Limits = field(default_factory=Limits)
    rules: Rules = field(default_factory=Rules)


class Work:
    """A batch at work. Frames are made when first asked for and kept until `close`."""

    def __init__(
        self, store: Store, lines: DataFrame, options: Options | None = None, lines_of: LinesOf | None = None
    ) -> None:
        self.threads = Threads(store.spark)
        self.store = replace(store, threads=self.threads)
        self.lines = lines
        self.lines_of = lines_of or (lambda files: lines.where(F.col("file").isin(files)))
        self.options = options or Options()
        self.rules = self.options.rules
        self._kept: list[DataFrame] = []
        self._known: dict[Table, DataFrame] = {}

    def close(self) -> None:
        """Let no write be left over, and give back what was kept and made.

        A frame of PySpark is in a cycle with its own methods (py4j), so the JVM keeps its plan and its rows until
        Python looks for cycles, which it does after many thousand new objects. A batch makes few.
        """
        self.threads.close()
        while self._kept:
            self._kept.pop().unpersist()
        self._known.clear()
        for name, kind in vars(type(self)).items():
            if isinstance(kind, cached_property):
                vars(self).pop(name, None)
        find_cycles()

    def _keep(self, frame: DataFrame) -> DataFrame:
        """The frame, to be computed when first asked for and kept until the end."""
        self._kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return self._kept[-1]

    @property
    def marker(self) -> str:
        """The batch's name in the rows it wrote."""
        stamp = self.store.stamp
        return f"{stamp.app}/{stamp.version}" if stamp else ""

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
    def heads(self) -> DataFrame:
        """Every line, with what it says of its run, and what it says of datasets by digest."""
        return self._keep(heads(self.lines, self.options.limits))

    @cached_property
    def totals(self) -> Row:
        """`lines`, those that are `bad` by their head, about how many are `different`, and their runs' `parts`.

        Reads the batch.
        """
        row = self.heads.selectExpr(
            "count(*) as lines",
            "count(reason) as bad",
            "approx_count_distinct(body) as different",
            "collect_set(if(reason is null and is_cut, part, null)) as parts",
        ).first()
        assert row is not None  # an aggregate without keys has one row
        return row

    @cached_property
    def bodies(self) -> DataFrame:
        """Each body once, parsed in the line that says it first, with what it says of datasets as digests."""
        said = self.heads.where("reason is null").groupBy("body", "is_cut")
        said = said.agg(F.expr("min(struct(t, rid, file)) as p"))
        first = cut(said.selectExpr("body", "is_cut", "p.rid", "p.file"))
        read = parsed(self._lines_with(first), self.options.limits)
        rows = read.join(F.broadcast(first.drop("file")), "rid")
        return self._keep(rows if self._keeps_texts else rows.drop("mentions"))

    @property
    def _keeps_texts(self) -> bool:
        """Whether the bodies are so few that what they say of each column is kept as they say it: 100 KB for each."""
        return bool(self.totals["different"] <= FEW_BODIES)

    @cached_property
    def _of_bodies(self) -> Row:
        """How many bodies are `bad`, and the `parts` of silver/runs that the runs of lines that are not cut are in."""
        row = self.bodies.selectExpr(
            "count(reason) as bad", "collect_set(if(reason is null and not is_cut, part, null)) as parts"
        ).first()
        assert row is not None  # an aggregate without keys has one row
        return row

    @cached_property
    def read(self) -> DataFrame:
        """Every line, parsed, with what it says of datasets as digests: a hundredth of the whole."""
        columns = ("rid", "file", "reason", "detail", *OF_HEAD, "light", "part")
        of_body = self.bodies.where("is_cut").selectExpr("body", "reason as b_reason", "detail as b_detail", "light")
        cuts = in_one(self.heads.where("is_cut")).join(looked_up(of_body), "body", "left")
        # what a head has is told before what a body has
        detail = "if(reason is null, b_detail, detail)"
        cuts = cuts.withColumns({"detail": F.expr(detail), "reason": F.expr("coalesce(reason, b_reason)")})
        rows = together(cuts.select(*columns), self.bodies.where("not is_cut").select(*columns))
        return rows.withColumn("job_name", F.expr(job_name("job_name", self.rules))) if self.rules.jobs else rows

    @cached_property
    def parts(self) -> list[str]:
        """The parts of silver/runs that the batch's runs are in."""
        return sorted({*self.totals["parts"], *self._of_bodies["parts"]})

    @cached_property
    def bad(self) -> int:
        """How many lines are no events."""
        if not self._misread and not self._of_bodies["bad"]:
            return int(self.totals["bad"])
        return int(self.judged.where("reason is not null").count())

    @cached_property
    def judged(self) -> DataFrame:
        """Every line, with the reason of those that are no events."""
        if not self._misread:
            return self.read
        wrong = self.said.where("wrong").selectExpr("collect_set(content) as wrong")
        found = "if(reason is null and arrays_overlap(transform(light, m -> m.content), wrong), '{0}', {1}) as {1}"
        of = {"reason": found.format(WRONG, "reason"), "detail": found.format(WRONG_DETAIL, "detail")}
        rows = self.read.crossJoin(F.broadcast(wrong))
        return cut(rows.selectExpr(*(of.get(name, name) for name in self.read.columns)))

    @cached_property
    def _misread(self) -> bool:
        """Whether something that is said of columns has a wrong type."""
        return not self.said.where("wrong").isEmpty()

    @cached_property
    def events(self) -> DataFrame:
        """The lines that are events."""
        return self.judged.where("reason is null")

    @cached_property
    def touched(self) -> DataFrame:
        """The runs the batch speaks of, with all that is known of them now and how they were before."""
        return cut(united(folded(self.events), self.known(RUNS, in_parts(self.parts))))

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
        rows = names.join(known, list(JOB), "left")
        before = self.store.elder_ids(JOBS, "namespace as job_namespace, name as job_name")
        if before is not None:
            rows = (
                rows.join(before, list(JOB), "left").withColumn("id", F.expr("coalesce(id, elder_id)")).drop("elder_id")
            )
        rows = rows.withColumn("was_job", F.expr("first_seen is not null"))
        return cut(identity.numbered(rows, self.top_id(JOBS), JOB).withColumnRenamed("id", "job_id"))

    @cached_property
    def job_ids(self) -> DataFrame:
        """`job_id` by the name of the job."""
        return self.jobs.select("job_id", *JOB)

    @cached_property
    def runs(self) -> DataFrame:
        """The touched runs with the ids of their jobs, without what they say of datasets."""
        rows = self.touched.drop("mentions", "was_mentions", "news")
        return cut(rows.join(looked_up(self.job_ids), list(JOB)))

    @cached_property
    def news(self) -> DataFrame:
        """What effective runs newly say (`n` = 1), and what streams that went on still say (0); a row per mention."""
        goes_on = "was_effective and streaming and ended_at > was_ended_at"
        said = (
            "concat(transform(news, m -> struct(1 as n, m as m)), "
            f"if({goes_on}, transform(array_intersect(mentions, was_mentions), m -> struct(0 as n, m as m)), array()))"
        )
        rows = self.touched.where("effective").selectExpr(*OF_RUN, f"explode({said}) as s")
        rows = rows.selectExpr(*OF_RUN, "s.n", *(f"s.m.{name}" for name in SAID))
        return cut(rows.join(looked_up(self.job_ids), list(JOB)))

    @cached_property
    def true_now(self) -> DataFrame:
        """What datasets and columns are told from: the news; everything that ever counted when a run is restated."""
        if not self.retells:
            return self.news
        fresh = self.touched.select("run_id", "effective_at", "ended_at", "effective", "mentions")
        before = self.store.read(RUNS).join(fresh.select("run_id"), "run_id", "left_anti").select(*fresh.columns)
        rows = fresh.unionByName(before).where("effective").selectExpr("*", "explode(mentions) as m")
        return cut(rows.selectExpr("run_id", "effective_at", "ended_at", "m.*"))

    @property
    def retells(self) -> bool:
        """Whether datasets and columns are told anew, because something they were told from is no longer true."""
        return bool(self.changes["restated"]) and not self.store.forgets

    @cached_property
    def picks(self) -> DataFrame:
        """Each content of the batch once: in which line (`rid`) and where in it (`at`) it was first said, by whom."""
        return cut(_first_said(self.events)) if self._misread else self._first

    @cached_property
    def _first(self) -> DataFrame:
        return cut(_first_said(self.bodies.where("reason is null")))

    @cached_property
    def picked(self) -> DataFrame:
        """The picked contents, whole."""
        rows = self.said.drop("wrong")
        if not self._misread:
            return rows
        # who said it first may have been a line that is no event after all
        return rows.drop("seen_at", "rid", "at", "run_id", "file").join(self.picks, "content")

    @cached_property
    def said(self) -> DataFrame:
        """Each content, whole, and whether it is `wrong`; of many bodies, those that say one first are read again."""
        of = self.bodies if self._keeps_texts else parsed(self._lines_with(self._first), self.options.limits)
        each = of.select("rid", "mentions").join(F.broadcast(self._first), "rid")
        each = each.selectExpr(*self._first.columns, "element_at(mentions, at + 1) as m")
        texts = each.selectExpr("*", f"{whole('m')} as w")
        names = (name for name in (*SAID, *DETAILS, *LINEAGE) if name != "content")
        told = (f"w.{name}" if name in TEXTS else f"m.{name}" for name in names)
        wrong = f"w.{CORRUPT} is not null as wrong"
        # in as many tasks as the lines are in: each of them is looked at
        return texts.selectExpr(*self._first.columns, *told, wrong).localCheckpoint(eager=True)

    def _lines_with(self, first: DataFrame) -> DataFrame:
        """The lines with a `rid` of `first`, from their files; from all files, when those are many."""
        few = f"slice(collect_set(file), 1, {FEW_FILES + 1}) as files"
        found = first.selectExpr(few).first()
        files = list(found["files"]) if found else []
        lines = self.lines_of(files) if 0 < len(files) <= FEW_FILES else self.lines
        wanted = F.broadcast(first.selectExpr("rid as of_line").distinct())
        return lines.selectExpr("*", f"{RID} as of_line").join(wanted, "of_line", "left_semi").drop("of_line")

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


def _first_said(events: DataFrame) -> DataFrame:
    each = events.selectExpr("rid", "run_id", "t", "file", "posexplode(light) as (at, m)")
    first = each.groupBy("m.content").agg(F.expr("min(struct(t, rid, at, run_id, file)) as p"))
    return first.selectExpr("content", "p.t as seen_at", "p.rid", "p.at", "p.run_id", "p.file")
