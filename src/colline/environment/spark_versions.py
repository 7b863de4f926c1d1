"""Compares the versions of PySpark, Spark's jars and Delta, which work in certain combinations only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

Version = tuple[int, ...]

# Spark → the delta-spark release line to install with it; None: no release for it yet
DELTA_FOR_SPARK: dict[Version, str | None] = {
    (3, 5): "3.3",
    (4, 0): "4.4",
    (4, 1): "4.4",
    (4, 2): "4.4",
    (4, 3): None,
}
# releases of the package whose jar was never published, with the release to use instead
_WITHOUT_JAR = {"4.4.1": "4.4.0"}
_BOUND = re.compile(r"(<=|>=|==|!=|<|>|~=)\s*([0-9.]+)")
_JAR = re.compile(r"(?P<artifact>[a-z-]+)(?:_(?P<spark>\d+\.\d+))?_(?P<scala>2\.\d+)-(?P<version>\d[\w.-]*)\.jar")


def parse_version(text: str) -> Version:
    """`4.1.4` → (4, 1, 4); a suffix such as `.dev0` is ignored."""
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, found[0].split("."))) if found else ()


def spark_conflict(pyspark: str, jars: Iterable[Path]) -> tuple[str, str] | None:
    """What is wrong between the package pyspark and the jars in its Spark, with the cure; None if they fit."""
    cores = [found for found in map(_parse_jar, jars) if found and found["artifact"] == "spark-core"]
    wrong = next((found for found in cores if _line(found["version"]) != _line(pyspark)), None)
    if wrong is None:
        return None
    needed = ".".join(map(str, _line(wrong["version"])))
    return (
        f"pyspark is {pyspark}, and the jars of SPARK_HOME are Spark {wrong['version']}",
        f"pip install 'pyspark=={needed}.*', or unset SPARK_HOME",
    )


def delta_conflict(pyspark: str, delta: str, jars: Iterable[Path]) -> tuple[str, str] | None:
    """What is wrong between Spark, the package delta-spark and Delta's jars in Spark's folder; None if they fit."""
    needed = DELTA_FOR_SPARK.get(_line(pyspark), "")
    if needed is None:
        return (
            f"delta-spark {delta}, and no Delta release for Spark {pyspark}",
            "use Spark 4.1: pip install 'colline[spark]'",
        )
    if delta in _WITHOUT_JAR:
        return f"delta-spark {delta} has no jar", f"pip install 'delta-spark=={_WITHOUT_JAR[delta]}'"
    if not _accepts(delta, pyspark):
        return f"delta-spark {delta} does not work with Spark {pyspark}", _install_command(pyspark, needed)
    found = [each for each in map(_parse_jar, jars) if each]
    scala = next((each["scala"] for each in found if each["artifact"] == "spark-core"), None)
    for jar in (each for each in found if each["artifact"] == "delta-spark"):
        if _line(jar["version"]) != _line(delta):
            reason = f"delta-spark is {delta}, and Spark's folder has the jar of Delta {jar['version']}"
            return reason, f"pip install 'delta-spark=={jar['version']}', or remove the jar"
        if scala is not None and jar["scala"] != scala:
            reason = f"the jar of Delta is for Scala {jar['scala']}, and Spark for Scala {scala}"
            return reason, f"use the jar delta-spark_{scala}-{delta}.jar"
    return None


def _install_command(pyspark: str, needed: str) -> str:
    line = ".".join(map(str, _line(pyspark)))
    return f"pip install 'pyspark=={line}.*' 'delta-spark=={needed}.*'" if needed else "pip install 'colline[spark]'"


def _accepts(delta: str, pyspark: str) -> bool:
    """Whether delta-spark and this Spark fit: by the table, else by what the installed delta-spark requires."""
    needed = DELTA_FOR_SPARK.get(_line(pyspark))
    if needed is not None and _line(delta) == _line(needed):
        return True
    try:
        lines = [line for line in requires("delta-spark") or () if line.startswith("pyspark")]
    except PackageNotFoundError:
        return False
    return bool(lines) and all(_is_within(parse_version(pyspark), *bound) for bound in _BOUND.findall(lines[0]))


def _is_within(version: Version, sign: str, text: str) -> bool:
    bound = parse_version(text)
    return {
        "<=": version <= bound,
        ">=": version >= bound,
        "<": version < bound,
        ">": version > bound,
        "==": version[: len(bound)] == bound,
        "!=": version != bound,
        "~=": version >= bound and version[: len(bound) - 1] == bound[:-1],
    }[sign]


def _line(text: str) -> Version:
    """The release line: `4.1.4` → (4, 1)."""
    return parse_version(text)[:2]


def _parse_jar(path: Path) -> dict[str, str] | None:
    found = _JAR.fullmatch(path.name)
    return {name: value or "" for name, value in found.groupdict().items()} if found else None
