"""Which jobs can go on from their last version, and which must be told again from all their runs.

A job goes on when all that is new lies after what is known. A late run, a run that turns out to have failed, lineage
that a finished run adds, a dataset that turns out to be another one: those jobs are told again.
"""

from __future__ import annotations

from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.lake.tables import COLUMNS, COVERAGE, DATASETS, EDGES, JOBS, OBSERVATIONS, READS, RUNS, Table
from colline.naming.normalize_sql import field_key
from colline.pipeline.dimensions import Dimensions, in_buckets
from colline.pipeline.facts import TARGET_KEY, facts
from colline.pipeline.identity import NAME
from colline.pipeline.runs import GROUP, WHEN
from colline.pipeline.store import cut, empty, looked_up, together
from colline.pipeline.versions import (
    ITEM,
    KEY,
    carried,
    edges,
    in_stretches,
    spans,
    state,
    told_now,
    united_spans,
    versions,
    with_epochs,
)
from colline.pipeline.work import JOB, NOT_A_WRITE

# the keys of a fact's two columns
_KEYS = (f"{TARGET_KEY} as target_key", f"{field_key('field')} as key")
# runs that say the same
TELLING = ("job_id", "says")
FACT_COLUMNS = ("type", "subtype", "masking", "description")


class History:
    """The versions and edges of the jobs a batch touches."""

    def __init__(self, dimensions: Dimensions) -> None:
        self.dimensions = dimensions
        self.work = dimensions.work

    @cached_property
    def past(self) -> DataFrame:
        """The last known version of each output, as an item."""
        each = self.work.jobs.selectExpr("job_id", "explode(outputs) as o")
        return each.selectExpr(
            "job_id",
            "o.dataset_id",
            "o.last_run as run_id",
            "o.group as grp",
            "o.started",
            "o.first",
            "o.last",
            "false as overwrite",
            "o.shapes",
            "o.runs as n",
            "true as is_past",
        )

    @cached_property
    def told(self) -> DataFrame:
        """The news with the ids of the datasets they name."""
        return cut(self.work.news.join(looked_up(self.dimensions.placed), list(NAME)))

    @cached_property
    def written(self) -> DataFrame:
        """What the runs of each telling write with lineage, a row per output."""
        return cut(_written(self.told))

    @cached_property
    def fresh(self) -> DataFrame:
        """The writes that effective runs newly tell, and those of streams that went on, as items."""
        return self.work.of_runs(
            _items(self.work.beside_runs(_of_run(self.written)), self.work.runs.where("effective"))
        )

    @cached_property
    def bare(self) -> DataFrame:
        """Newly told writes without column lineage, of no run that has it for the same dataset."""
        rows = bare_writes(self.told.where("n = 1"), self.work.runs.where("effective"))
        return cut(rows) if self.work.changes["unlined"] else rows.limit(0)

    @cached_property
    def again(self) -> DataFrame:
        """`job_id` of the jobs that must be told again."""
        changed = self.work.runs.where("again").select("job_id")
        again = together(changed, self._late(), self._unlined())
        if self.dimensions.found["gone"]:
            again = again.unionByName(self._moved())
        return cut(again.distinct())

    def _late(self) -> DataFrame:
        """Jobs with a write that does not come after all that is known of its output."""
        past = self.past.selectExpr(*KEY, "grp as p_grp", "last as p_last", "run_id as p_run")
        goes_on = (
            "if(n = 0, run_id = p_run, last > p_last and if(grp = p_grp, started >= p_last, grp_started > p_last))"
        )
        late = self.fresh.join(self.work.beside_runs(past), list(KEY)).where(f"not coalesce({goes_on}, false)")
        return late.select("job_id")

    def _unlined(self) -> DataFrame:
        """Jobs with writes without lineage that may belong to a version with lineage, or the other way round."""
        past = self.past.selectExpr(*KEY, "grp as p_grp", "last as p_last")
        bare = self.bare.where("grp <> run_id").join(past, list(KEY))
        bare = bare.where("grp <> p_grp and coalesce(grp_started <= p_last, true)").select("job_id")
        gaps = self.work.known(COVERAGE).where("kind = 'no_column_lineage'").select(*KEY, "last_seen")
        lined = self.fresh.where("grp <> run_id").join(gaps, list(KEY))
        return bare.unionByName(lined.where("coalesce(last_seen >= grp_started, true)").select("job_id"))

    def _moved(self) -> DataFrame:
        """Jobs whose edges or reads name a dataset that this batch found to be another one."""
        gone = self.dimensions.gone.selectExpr("dataset_id as gone")
        edge, read = self.work.store.read(EDGES), self.work.store.read(READS)
        by_edge = edge.join(gone, F.expr("dataset_id = gone or source_dataset_id = gone")).select("job_id")
        by_read = read.join(gone, F.expr("dataset_id = gone")).select("job_id")
        by_gap = self.work.known(COVERAGE).join(gone, F.expr("dataset_id = gone")).select("job_id")
        return by_edge.unionByName(by_read).unionByName(by_gap)

    @cached_property
    def retold(self) -> bool:
        """Whether any job must be told again."""
        return not self.again.isEmpty()

    @property
    def buckets(self) -> list[int] | None:
        """The buckets whose edges and reads the batch may change; None for all."""
        return None if self.retold else self.dimensions.buckets

    def known(self, table: Table) -> DataFrame:
        """The rows of a gold table in those buckets, before the batch."""
        return self.work.known(table, in_buckets(self.buckets))

    def not_again(self, rows: DataFrame) -> DataFrame:
        """The rows of the jobs that go on."""
        return rows.join(self.again, "job_id", "left_anti") if self.retold else rows

    @cached_property
    def all_jobs(self) -> DataFrame:
        """`job_id` of every job that the batch touches or that is told again."""
        touched = self.work.job_ids.select("job_id")
        return touched.unionByName(self.again).distinct() if self.retold else touched

    @cached_property
    def again_jobs(self) -> DataFrame:
        """The jobs to be told again, with their names."""
        known = self.work.known(JOBS).selectExpr("id as job_id", "namespace as job_namespace", "name as job_name")
        return cut(known.unionByName(self.work.job_ids).distinct().join(self.again, "job_id"))

    @cached_property
    def again_runs(self) -> DataFrame:
        """Every run of the jobs to be told again, as it is now."""
        work = self.work
        columns = work.store.read(RUNS).columns
        before = work.store.read(RUNS).join(F.broadcast(self.again_jobs), list(JOB))
        before = before.join(work.touched.select("run_id"), "run_id", "left_anti").select(*columns, "job_id")
        now = work.touched.join(F.broadcast(self.again_jobs), list(JOB)).select(*columns, "job_id")
        return cut(before.unionByName(now))

    @cached_property
    def again_said(self) -> DataFrame:
        """The effective ones of those runs, each a telling of its own."""
        columns = ("job_id", "run_id", "started_at", "effective_at", "ended_at", "mentions", "run_id as says")
        runs = self.again_runs.where("effective")
        return cut(runs.selectExpr(*columns, f"{GROUP} as grp", "cast(null as timestamp) as grp_started"))

    @cached_property
    def again_told(self) -> DataFrame:
        """Everything those runs ever said, with the ids of the datasets they name."""
        each = self.again_said.selectExpr(*TELLING, "1 as n", "1 as runs", *WHEN, "explode(mentions) as m")
        return cut(self._located(each.selectExpr(*TELLING, "n", "runs", "first", "last", "m.*")))

    def _located(self, rows: DataFrame) -> DataFrame:
        """Rows with a reported name of any time, with the dataset's id."""
        ids = self.work.store.read(DATASETS).where("merged_into is null")
        return self.work.links.of(rows).join(ids.selectExpr(*NAME, "id as dataset_id"), list(NAME))

    @cached_property
    def steady(self) -> DataFrame:
        """The touched keys of which every version, known and new, says the same; `newest`, when the last ended.

        Nothing is retired there, so of all their items only those of the last version must be put in order. Where
        there are few runs nobody asks: to put all in order is less than to find out.
        """
        if self.retold or not self.work.has_many:
            return empty(self.work.store.spark, {"job_id": "bigint", "dataset_id": "bigint", "newest": "timestamp"})
        new = self.written.selectExpr(*KEY, "shapes", "last.at as last", "true as is_new")
        both = together(new, self.past.selectExpr(*KEY, "shapes", "last", "false as is_new")).groupBy(*KEY)
        same = ("min(shapes) = max(shapes) as same", "max(last) as newest", "max(is_new) as is_touched")
        return cut(both.agg(*(F.expr(column) for column in same)).where("same and is_touched").select(*KEY, "newest"))

    @cached_property
    def items(self) -> DataFrame:
        """Items of all touched keys, with their epochs; of steady ones, those that the last version is made of."""
        past = self.past.join(self.written.select(*KEY).distinct(), list(KEY), "left_semi")
        rows = together(past.selectExpr(*ITEM, "false as is_steady"), self._needed())
        if self.retold:
            again = _items(looked_up(_of_run(_written(self.again_told))), self.again_said)
            rows = self.not_again(rows).unionByName(again.selectExpr(*ITEM, "false as is_steady"))
        return cut(with_epochs(rows))

    def _needed(self) -> DataFrame:
        """The fresh items of keys that are not steady; of those that are, the ones of the newest groups."""
        if not self.work.has_many:
            return self.fresh.selectExpr(*ITEM, "false as is_steady")
        beside, keys = self.work.beside_runs, self.steady
        newest = self.fresh.join(beside(keys), list(KEY)).where("last = newest").select(*KEY, "grp").distinct()
        steady = beside(keys.selectExpr(*KEY, "true as is_steady"))
        groups = beside(cut(newest).selectExpr(*KEY, "grp", "true as is_newest"))
        marked = self.fresh.join(steady, list(KEY), "left").join(groups, [*KEY, "grp"], "left")
        needed = marked.where("is_steady is null or is_newest is not null")
        return needed.selectExpr(*ITEM, "coalesce(is_steady, false) as is_steady")

    @cached_property
    def versions(self) -> DataFrame:
        """The versions of all touched keys."""
        return cut(versions(self.items))

    @cached_property
    def outputs(self) -> DataFrame:
        """The state each touched job goes on from: its old outputs, with the touched ones replaced."""
        now = self.versions.where("is_last")
        untouched = self.not_again(self.past).join(now, list(KEY), "left_anti")
        kept = untouched.selectExpr(
            *KEY, "grp", "started", "first", "last", "shapes", "n", "true as is_last", "struct(last, run_id) as newest"
        )
        return state(together(now.select(*kept.columns), kept))

    @cached_property
    def all_facts(self) -> DataFrame:
        """The facts of every shape that counts here, in ids of columns: `shape`, source, target key, effect, use."""
        told = self.work.facts.join(looked_up(self.dimensions.placed), list(NAME)).selectExpr("*", *_KEYS)
        told = told.join(looked_up(_keyed(self.dimensions.columns)), ["dataset_id", "key"])
        columns = (
            "shape",
            "target_key",
            "column_id as source_id",
            "dataset_id as source_dataset_id",
            *FACT_COLUMNS,
            "use",
        )
        rows = told.selectExpr(*columns)
        if self.retold:
            rows = rows.unionByName(self._again_facts().selectExpr(*columns))
        return cut(rows.distinct())

    def _again_facts(self) -> DataFrame:
        """The facts of all the shapes in `again_told`, each told by one observation."""
        need = self.again_told.where("shape is not null").groupBy("shape").agg(F.expr("min(content) as content"))
        stored = self.work.store.read(OBSERVATIONS).join(F.broadcast(need.select("content")), "content", "left_semi")
        told = self._located(facts(stored)).selectExpr("*", *_KEYS)
        return told.join(self.column_ids, ["dataset_id", "key"])

    @cached_property
    def column_ids(self) -> DataFrame:
        """`column_id`, `dataset_id`, `key`: of the batch's datasets, or of all when jobs are told again."""
        known = self.work.store.read(COLUMNS) if self.retold else self.dimensions.columns
        return known.selectExpr("id as column_id", "dataset_id", f"{field_key('field')} as key")

    @cached_property
    def edges(self) -> DataFrame:
        """The edges of all touched keys as they are now."""
        placed = in_stretches(self.items, self.versions)
        now = together(spans(placed), self._steady_spans())
        keys = now.select(*KEY, "shape").distinct()
        ids = self.column_ids.selectExpr("column_id as target_id", "dataset_id", "key as target_key")
        by_shape = keys.join(self.all_facts.where("target_key is not null").drop("use").distinct(), "shape")
        told = by_shape.join(looked_up(ids), ["dataset_id", "target_key"]).drop("target_key")
        open_edges = self.known(EDGES).where("retired_at is null")
        each = told_now(now, told, carried(placed, open_edges))
        return cut(edges(each, self.versions, turned=self._turned()))

    def _steady_spans(self) -> DataFrame:
        """The spans of steady keys: all their versions are in one stretch."""
        each = self.written.join(self.steady, list(KEY))
        return united_spans(each.selectExpr(*KEY, "0L as stretch", "explode(shapes) as shape", "n", "first", "last"))

    def _turned(self) -> bool:
        """Whether what any job says of an output changes from one version in the batch to the next."""
        return not self.versions.where("stretch > 0").isEmpty()

    @cached_property
    def kept_edges(self) -> DataFrame:
        """The known edges that stay as they are: retired ones of keys that go on, and all of other keys.

        Jobs that are told again are replaced whole.
        """
        keys = self.items.selectExpr(*KEY, "true as goes_on").distinct()
        known = self.not_again(self.known(EDGES)).join(keys, list(KEY), "left")
        return known.where("not (goes_on is not null and retired_at is null)").drop("goes_on")

    @cached_property
    def changed(self) -> DataFrame:
        """`changed_now` by `job_id`: when an edge of the job was last new, or last retired."""
        of_edge = ("job_id", "first_seen", "retired_at")
        rows = self.known(EDGES).select(*of_edge)
        if self.buckets != []:
            rows = together(self.kept_edges.select(*of_edge), self.edges.select(*of_edge))
        return rows.groupBy("job_id").agg(F.expr("max(greatest(first_seen, retired_at)) as changed_now"))


def _keyed(columns: DataFrame) -> DataFrame:
    return columns.selectExpr("id as column_id", "dataset_id", "key")


def _written(told: DataFrame) -> DataFrame:
    """What the runs of each telling write with lineage: a row per output, `n` the runs that newly tell it."""
    rows = told.where("shape is not null and role in ('O', 'D')").groupBy(*KEY, "says")
    columns = (
        "coalesce(max(overwrite), false) as overwrite",
        "array_sort(collect_set(shape)) as shapes",
        "max(n) as is_news",
        "max(n) * max(runs) as n",
        "min(first) as first",
        "max(last) as last",
    )
    return rows.agg(*(F.expr(column) for column in columns))


def _of_run(written: DataFrame) -> DataFrame:
    """What each run of a telling writes."""
    return written.selectExpr(*KEY, "says", "overwrite", "shapes", "is_news as n")


def _items(written: DataFrame, runs: DataFrame) -> DataFrame:
    """One item per run and output."""
    return runs.join(written, list(TELLING)).selectExpr(
        *KEY,
        "run_id",
        "grp",
        "grp_started",
        "started_at as started",
        "effective_at as first",
        "ended_at as last",
        "overwrite",
        "shapes",
        "n",
        "false as is_past",
    )


def bare_writes(told: DataFrame, runs: DataFrame) -> DataFrame:
    """Writes without column lineage, of no group that has it for the same output; a bare CREATE TABLE is none."""
    listed = ", ".join(f"'{word}'" for word in NOT_A_WRITE)
    reads = told.where("role = 'I'").selectExpr(*TELLING, "true as reads").distinct()
    written = told.where(f"role = 'O' and coalesce(lifecycle, '') not in ({listed})").groupBy(*KEY, "says")
    written = written.agg(F.expr("max(shape) as shape"), F.expr("max(lifecycle) as lifecycle"))
    of_run = runs.selectExpr(*TELLING, "run_id", "grp", "grp_started", "ended_at as seen")
    by_run = of_run.join(written.join(reads, list(TELLING), "left"), list(TELLING))
    by_run = by_run.selectExpr("*", f"max(shape) over (partition by {', '.join(KEY)}, grp) as lined")
    return by_run.where("lined is null and not (lifecycle <=> 'CREATE' and reads is null)")
