"""A batch's lines → what they say: each is cut, judged and parsed, what many say in the same letters once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from gc import collect as find_cycles
from typing import TypeAlias

from pyspark import StorageLevel
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from colline.environment.hadoop_files import HadoopFiles
from colline.events.spark_schema import CORRUPT_RECORD, UNPARSED_FIELDS
from colline.lake.tables import Table
from colline.pipeline import bronze
from colline.pipeline.heads import OF_HEAD, OF_JOB, halved, heads
from colline.pipeline.identity import NAME
from colline.pipeline.parse import RID, WRONG, WRONG_DETAIL, Limits, parsed, whole
from colline.pipeline.store import Store, cut, in_one, is_small, looked_up
from colline.pipeline.threads import Threads
from colline.pipeline.user_rules import Rules, job_name

SAID = ("role", *NAME, "shape", "content", "lifecycle", "overwrite")
DETAILS = ("kind", "schema", "symlinks", "owner", "tags")
LINEAGE = ("fields", "rows", "reads")
# HadoopFiles that are read by name rather than with all the others
FEW_FILES = 100
# Bodies that are kept whole until they are read
FEW_BODIES = 1000
# From so many lines on runs are worth steps of their own: more than one task, though nothing else of a batch is
MANY_LINES = 10_000
# the lines of the batch that are in these files; None where they can only be read with all the others
LinesOf: TypeAlias = Callable[[list[str]], DataFrame | None]


@dataclass(frozen=True, slots=True)
class Options:
    """What a user sets of the pipeline."""

    limits: Limits = field(default_factory=Limits)
    rules: Rules = field(default_factory=Rules)
    # the process ends with its ingest: where there is little to do, its JVM is one for little
    brief: bool = False


class Reading:
    """The lines of a batch. Frames are made when first asked for and kept until `close`."""

    def __init__(
        self,
        store: Store,
        lines: DataFrame,
        options: Options | None = None,
        *,
        lines_of: LinesOf | None = None,
        halves: Callable[[], DataFrame] | None = None,
    ) -> None:
        self.threads = Threads(store.spark)
        self.store = replace(store, threads=self.threads)
        self.lines = lines
        self.lines_of = lines_of or (lambda files: lines.where(F.col("file").isin(files)))
        self.options = options or Options()
        self._halves = halves or self._just_written
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
        for name in [name for kind in type(self).__mro__ for name in vars(kind)]:
            if isinstance(getattr(type(self), name), cached_property):
                vars(self).pop(name, None)
        find_cycles()

    def _keep(self, frame: DataFrame) -> DataFrame:
        """The frame, to be computed when first asked for and kept until the end."""
        self._kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return self._kept[-1]

    @property
    def has_many(self) -> bool:
        """Whether there are so many lines that less work for each run is worth a few plans more."""
        return bool(self.totals["lines"] >= MANY_LINES)

    @property
    def splits_runs(self) -> bool:
        """Whether frames with a row per run are in more than one task, while all others are in one."""
        return is_small(self.store.spark) and self.has_many

    def of_runs(self, frame: DataFrame) -> DataFrame:
        """A frame with a row per run, computed now."""
        return frame.localCheckpoint(eager=True) if self.splits_runs else cut(frame)

    def beside_runs(self, frame: DataFrame) -> DataFrame:
        """A frame as the side of a join that is kept in memory: the runs on the other side stay where they are."""
        return F.broadcast(frame) if self.splits_runs else looked_up(frame)

    @cached_property
    def heads(self) -> DataFrame:
        """Every line, with what it says of its run, and what it says of datasets by digest."""
        return self._keep(heads(self._halves(), self.options.limits))

    def _just_written(self) -> DataFrame:
        """Every line in halves, as the batch has just written them to bronze; where that cannot be read, cut again.

        From then on lines are those of bronze: a batch that was killed finds there what may have landed no longer.
        """
        limits, rows = self.options.limits, bronze.written(self.store, HadoopFiles(self.store.spark))
        if rows is None:
            return halved(self.lines, limits)
        self.lines = bronze.lines(rows)
        return bronze.halves(rows, limits)

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
        of_job = (f"{name} as b_{name}" for name in OF_JOB)
        of_body = self.bodies.where("is_cut")
        of_body = of_body.selectExpr("body", "reason as b_reason", "detail as b_detail", "light", *of_job)
        heads = self.heads.where("is_cut")
        cuts = (heads if self.splits_runs else in_one(heads)).join(self.beside_runs(of_body), "body", "left")
        # what a head has is told before what a body has
        told = {"detail": "if(reason is null, b_detail, detail)", "reason": "coalesce(reason, b_reason)"}
        told |= {name: f"if(has_job, {name}, b_{name})" for name in OF_JOB}
        cuts = cuts.withColumns({name: F.expr(sql) for name, sql in told.items()})
        rows = cuts.select(*columns).unionByName(self.bodies.where("not is_cut").select(*columns))
        rows = rows if self.splits_runs else in_one(rows)
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
        told = (f"w.{name}" if name in UNPARSED_FIELDS else f"m.{name}" for name in names)
        wrong = f"w.{CORRUPT_RECORD} is not null as wrong"
        # in as many tasks as the lines are in: each of them is looked at
        return texts.selectExpr(*self._first.columns, *told, wrong).localCheckpoint(eager=True)

    def _lines_with(self, first: DataFrame) -> DataFrame:
        """The lines with a `rid` of `first`, from their files; from all files, when those are many."""
        few = f"slice(collect_set(file), 1, {FEW_FILES + 1}) as files"
        found = first.selectExpr(few).first()
        files = list(found["files"]) if found else []
        some = self.lines_of(files) if 0 < len(files) <= FEW_FILES else None
        lines = self.lines if some is None else some
        wanted = F.broadcast(first.selectExpr("rid as of_line").distinct())
        return lines.selectExpr("*", f"{RID} as of_line").join(wanted, "of_line", "left_semi").drop("of_line")


def _first_said(events: DataFrame) -> DataFrame:
    each = events.selectExpr("rid", "run_id", "t", "file", "posexplode(light) as (at, m)")
    first = each.groupBy("m.content").agg(F.expr("min(struct(t, rid, at, run_id, file)) as p"))
    return first.selectExpr("content", "p.t as seen_at", "p.rid", "p.at", "p.run_id", "p.file")
