"""Which dataset a name stands for: catalog names are symlinks, the physical location is the identity."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from colline.naming.normalize_sql import name_of, namespace_of
from colline.pipeline.store import cut, together
from colline.pipeline.user_rules import Rules, renamed

NAME = ("namespace", "name")


def links(told: DataFrame, known: DataFrame, rules: Rules) -> Links:
    """`alias_namespace`, `alias_name` → `namespace`, `name`: the dataset that was last said to have this symlink.

    `told` has namespace, name, symlinks and seen; `known` is silver/datasets.
    """
    new = renamed(told, rules).selectExpr(*NAME, "seen", "explode(symlinks) as s")
    new = new.selectExpr(*NAME, "seen", "s.type", "s.name as to", f"{namespace_of('s.namespace')} as to_namespace")
    new = new.selectExpr(*NAME, "seen", "type", "to_namespace", f"{name_of('to_namespace', 'to')} as to_name")
    old = known.where("merged_into is null").selectExpr(*NAME, "explode(symlinks) as s")
    old = old.selectExpr(*NAME, "s.seen", "s.type", "s.namespace as to_namespace", "s.name as to_name")
    both = together(new.selectExpr("*", "false as old"), old.selectExpr("*", "true as old"))
    both = both.where("length(to_name) > 0")
    is_location = "coalesce(upper(type) = 'LOCATION', false)"
    pairs = both.selectExpr(
        "seen",
        "old",
        *(f"if({is_location}, {n}, to_{n}) as alias_{n}" for n in NAME),
        *(f"if({is_location}, to_{n}, {n}) as {n}" for n in NAME),
    ).where("not (alias_namespace = namespace and alias_name = name)")
    said = "struct(seen, namespace, name)"
    last = pairs.groupBy("alias_namespace", "alias_name").agg(
        F.expr(f"max({said}) as target"), F.expr(f"max(if(old, {said}, null)) as before")
    )
    was = (f"before.{name} as was_{name}" for name in NAME)
    direct = cut(_acyclic(last.selectExpr("alias_namespace", "alias_name", "target.namespace", "target.name", *was)))
    return Links(_linked(direct.drop("was_namespace", "was_name"), direct), rules, _moved(direct))


def _moved(pairs: DataFrame) -> tuple[str, ...]:
    """The catalog names, no more than a few, that stand for another dataset than they did before."""
    text = "concat(alias_name, ' is now ', namespace, ' ', name, ', was ', was_namespace, ' ', was_name)"
    moved = pairs.where("was_namespace <> namespace or was_name <> name")
    found = moved.selectExpr(f"slice(sort_array(collect_list({text})), 1, 20) as names").first()
    return tuple(found["names"]) if found else ()


def _acyclic(pairs: DataFrame) -> DataFrame:
    """The pairs without one half of each `a is b, b is a`: the smaller name stays."""
    alias, target = "array(alias_namespace, alias_name)", "array(namespace, name)"
    both = f"partition by least({alias}, {target}), greatest({alias}, {target})"
    marked = pairs.selectExpr("*", f"count(*) over ({both}) > 1 as mutual")
    return marked.where(f"not (mutual and {alias} < {target})").drop("mutual")


@dataclass(frozen=True, slots=True)
class Links:
    """How a reported name becomes a dataset's: the user's rules, then symlinks."""

    frame: DataFrame
    rules: Rules
    # names that moved: runs that reported them earlier were told of where they were
    moved: tuple[str, ...] = ()

    def of(self, rows: DataFrame) -> DataFrame:
        """The rows with `namespace` and `name` replaced by the dataset they stand for."""
        return _linked(renamed(rows, self.rules), self.frame)


def _linked(rows: DataFrame, link: DataFrame) -> DataFrame:
    to = link.selectExpr(
        "alias_namespace as namespace", "alias_name as name", "namespace as to_namespace", "name as to_name"
    )
    joined = rows.join(to, list(NAME), "left")
    return joined.selectExpr(*(f"coalesce(to_{c}, {c}) as {c}" if c in NAME else f"`{c}`" for c in rows.columns))


def numbered(rows: DataFrame, top: DataFrame, on: tuple[str, ...]) -> DataFrame:
    """The rows with `id` where it is null: the next free ones in the order of the keys.

    The same batch on the same table gives the same ids, so that a batch run twice does not move them.
    """
    key = ", ".join(on)
    # rows that have an id need no number: they are spread, so that not one task has to sort them
    apart = f"if(id is null, -1, pmod(hash({key}), 64))"
    rank = f"row_number() over (partition by {apart} order by {key})"
    others = [f"`{name}`" for name in rows.columns if name != "id"]
    return rows.crossJoin(F.broadcast(top)).selectExpr(f"coalesce(id, top + {rank}) as id", *others)
