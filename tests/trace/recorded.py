"""Plans recorded from Spark, one file per topic, so that every rule is tested in milliseconds without a JVM.

`python -m tests.trace.recorded [topic …]` records them on the installed Spark; the topic `run` stands for the executed
cases. A case that does not apply to the default Spark version is recorded on another one:
`make record-matrix SPARKS=3.5`. Expression ids are renumbered and local paths are replaced, so that a recording changes
only when its plan does.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from colline.naming.dataset import NameContext
from colline.naming.rules import identify
from colline.plan import decode
from colline.trace import Context, lineage, rule_registry, statement
from tests.trace.cases import PLANS, RULES_OF_RUN_CASES, Case, all_cases, run_cases, version_number

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONTEXT = Context(lambda source: identify(source, NameContext()).name)
# the sessions that cases need, as arguments of `session`
SESSIONS: tuple[dict[str, bool], ...] = ({}, {"plain": True}, {"hive": True})


def recorded_plan(case: Case) -> dict[str, Any] | None:
    """The recorded plan of a case, or None if it was not recorded."""
    return _plans(case.topic).get(case.name)


@cache
def _plans(topic: str) -> dict[str, Any]:
    path = PLANS / f"{topic}.json"
    plans: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return plans


def rules_of_run_cases() -> dict[str, list[str]]:
    """For each case that is executed, the rules that its plans need."""
    rules: dict[str, list[str]] = json.loads(RULES_OF_RUN_CASES.read_text(encoding="utf-8"))
    return rules


def rules_applied(plan: dict[str, Any]) -> set[str]:
    """The rules that tracing a plan applies, such as `operator Filter`."""
    with _noted_rules() as rules:
        decoded = decode(plan)
        lineage(decoded, CONTEXT)
        statement(decoded, CONTEXT)
    return rules


@contextmanager
def _noted_rules() -> Iterator[set[str]]:
    rules: set[str] = set()
    find = rule_registry.Registry.find

    def find_and_note(registry: rule_registry.Registry[Any], kind: str) -> Any:
        rule = find(registry, kind)
        if rule is not None:
            rules.add(f"{registry.category} {kind}")
        return rule

    with patch.object(rule_registry.Registry, "find", find_and_note):
        yield rules


def record(spark: SparkSession, home: Path, topics: set[str]) -> None:
    """Record the plans of the cases of these topics that apply to this Spark."""
    from tests.trace.live import opened_case, raw_plan

    new: dict[str, dict[str, Any]] = {}
    for case in all_cases():
        if case.topic in topics and _is_recorded_here(case, spark):
            with opened_case(case, spark) as query:
                new.setdefault(case.topic, {})[case.name] = normalize_plan(raw_plan(query, spark), home)
    for topic, plans in new.items():
        known = {**_plans(topic), **plans}
        names = [case.name for case in all_cases() if case.topic == topic]
        _write(PLANS / f"{topic}.json", {name: known[name] for name in names if name in known})
    _plans.cache_clear()


def _is_recorded_here(case: Case, spark: SparkSession) -> bool:
    from tests.trace.live import missing_requirement

    is_version = version_number(case.recorded_on) == version_number(spark.version)
    return is_version and not missing_requirement(case, spark)


def record_run(spark: SparkSession, folder: Path) -> None:
    """Record which rules the plans of the executed cases need. The plans themselves are not kept."""
    from colline.capture.analyze import application_context
    from colline.capture.listener import QueryListener
    from tests.trace.live import opened_case

    application_context(spark)  # observes how RDDs are made
    listener = QueryListener(spark)
    rules = rules_of_run_cases() if RULES_OF_RUN_CASES.exists() else {}
    for number, case in enumerate(case for case in run_cases() if _is_recorded_here(case, spark)):
        place = folder / f"run{number}"
        place.mkdir()
        with opened_case(case, spark, folder=place, before_code=lambda: _captured_plans(listener)):
            plans = _captured_plans(listener)
        rules[case.key] = sorted({rule for plan in plans for rule in rules_applied(plan)})
    listener.close()
    keys = [case.key for case in run_cases()]
    _write(RULES_OF_RUN_CASES, {key: rules[key] for key in keys if key in rules})


def _captured_plans(listener: Any) -> list[dict[str, Any]]:
    """The plans of what ran since the last call."""
    listener.wait_for_spark(60_000)
    return [message["plan"] for message in iter(lambda: listener.poll(500), None) if message.get("plan")]


def _write(path: Path, entries: dict[str, Any]) -> None:
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in entries.items())
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def normalize_plan(plan: dict[str, Any], home: Path) -> dict[str, Any]:
    """The plan with ids that start at 0 and the warehouse at /warehouse."""
    ids: dict[str, str] = {}
    fields = {place: names for place, (_, _, names, _) in enumerate(plan["classes"])}
    nodes = []
    for kind, *arguments in plan["nodes"]:
        names = fields[kind]
        nodes.append(
            [kind, *(_normalize_argument(name, value, ids) for name, value in zip(names, arguments, strict=True))]
        )
    text = json.dumps({**plan, "nodes": nodes}, ensure_ascii=False)
    text = re.sub(rf"(file:)?/*{re.escape(str(home))}/warehouse", "file:/warehouse", text)
    cleaned: dict[str, Any] = json.loads(text)
    return cleaned


_IDS = {"id", "exprId", "resultId", "cteId", "loopId"}


def _normalize_argument(name: str, value: Any, ids: dict[str, str]) -> Any:
    if name == "command":
        return None
    if name == "outputAttrIds":
        return [ids.setdefault(each, str(len(ids))) for each in value]
    if name in {"roots", "rdds"} or not (name in _IDS and isinstance(value, str) and value.isdigit()):
        return [] if name == "rdds" else value
    return ids.setdefault(value, str(len(ids)))


def main() -> None:
    """Record on every kind of session that a chosen case needs."""
    from tests.sessions import session

    sessions = {case.topic: _session_of(case) for case in all_cases()} | {"run": {}}
    for arguments in SESSIONS:
        topics = {topic for topic in sys.argv[1:] or sessions if sessions[topic] == arguments}
        if not topics:
            continue
        with tempfile.TemporaryDirectory() as folder:
            spark = session(Path(folder), **arguments)
            record(spark, Path(folder), topics)
            if "run" in topics:
                record_run(spark, Path(folder))
            spark.stop()


def _session_of(case: Case) -> dict[str, bool]:
    if case.needs_hive:
        return {"hive": True}
    return {"plain": True} if case.needs_plain_session else {}


if __name__ == "__main__":
    main()
