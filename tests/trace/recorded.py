"""Plans recorded from the home Spark, one file per topic, so that every rule is tested in milliseconds without a JVM.

`python -m tests.trace.recorded [topic …]` records them anew. Expression ids are renumbered and places of the machine
are replaced, so that a recording changes only when a plan does.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.trace.cases import PLANS, RUN, Case, all_cases, run_cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def load(case: Case) -> dict[str, Any] | None:
    """The recorded plan of a case, or None where it was not recorded."""
    return _plans(case.topic).get(case.name)


@cache
def _plans(topic: str) -> dict[str, Any]:
    path = PLANS / f"{topic}.json"
    plans: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return plans


def record(spark: SparkSession, home: Path, chosen: list[str]) -> None:
    """Record the plan of every case, or of the chosen topics."""
    from colline.capture import listener
    from colline.capture.analyze import analyzed_plan
    from tests.trace.live import lacking, made

    topics: dict[str, dict[str, Any]] = {}
    for case in all_cases():
        if lacking(case, spark) or (chosen and case.topic not in chosen):
            continue
        with made(case, spark) as query:
            plan = listener.plan_json(spark, analyzed_plan(query, spark))
        topics.setdefault(case.topic, {})[case.name] = blanked(plan, home)
    for topic, plans in topics.items():
        lines = ",\n".join(
            f"{json.dumps(name)}: {json.dumps(plan, ensure_ascii=False)}" for name, plan in plans.items()
        )
        (PLANS / f"{topic}.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def record_run(spark: SparkSession, folder: Path) -> None:
    """Record which kinds of nodes are in the plans of the cases that are run; their plans are not kept."""
    from colline.capture.listener import QueryListener
    from tests.trace.live import lacking, made

    listener = QueryListener(spark)
    kinds: dict[str, list[str]] = {}
    for number, case in enumerate(case for case in run_cases() if not lacking(case, spark)):
        place = folder / f"run{number}"
        place.mkdir()
        with made(case, spark, place=place):
            listener.wait_for_spark(60_000)
        heard = iter(lambda: listener.poll(500), None)
        plans = [message["plan"] for message in heard if message.get("plan")]
        kinds[case.key] = sorted({kind[0] for plan in plans for kind in plan["classes"] if kind[1] in "pe"})
    listener.close()
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(found)}" for key, found in kinds.items())
    RUN.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def blanked(plan: dict[str, Any], home: Path) -> dict[str, Any]:
    """The plan with ids counted from 0 and the warehouse at /warehouse."""
    ids: dict[str, str] = {}
    fields = {place: names for place, (_, _, names, _) in enumerate(plan["classes"])}
    nodes = []
    for kind, *arguments in plan["nodes"]:
        names = fields[kind]
        nodes.append([kind, *(_blank(name, value, ids) for name, value in zip(names, arguments, strict=True))])
    text = json.dumps({**plan, "nodes": nodes}, ensure_ascii=False)
    text = re.sub(rf"(file:)?/*{re.escape(str(home))}/warehouse", "file:/warehouse", text)
    cleaned: dict[str, Any] = json.loads(text)
    return cleaned


_IDS = {"id", "exprId", "resultId", "cteId", "loopId"}


def _blank(name: str, value: Any, ids: dict[str, str]) -> Any:
    if name == "command":
        return None
    if name in {"roots", "rdds"} or not (name in _IDS and isinstance(value, str) and value.isdigit()):
        return [] if name == "rdds" else value
    return ids.setdefault(value, str(len(ids)))


def main() -> None:
    """Record with a session like the tests' own, then what only a plain one can do."""
    import tempfile

    from tests.sessions import session

    chosen = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        if chosen != ["sql_functions"]:
            spark = session(Path(folder))
            record(spark, Path(folder), chosen)
            if not chosen or "run" in chosen:
                record_run(spark, Path(folder))
            spark.stop()
        if not chosen or "sql_functions" in chosen:
            spark = session(Path(folder), plain=True)
            record(spark, Path(folder), ["sql_functions"])
            spark.stop()


if __name__ == "__main__":
    main()
