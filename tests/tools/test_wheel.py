"""The wheel and the sdist: both contain the page, and what a user sees in an environment with nothing else in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from colline.cli import COMMANDS

ROOT = Path(__file__).parents[2]
PAGE = "colline/server/static/index.html"
Run = Callable[..., "subprocess.CompletedProcess[str]"]

pytestmark = pytest.mark.timeout(900)


def _uv() -> str:
    found = shutil.which("uv") or str(ROOT / ".uv/bin/uv")
    if not Path(found).is_file():
        pytest.skip("uv is not installed; hint: `make setup` installs it")
    return found


def _without_node(folder: Path) -> dict[str, str]:
    """An environment in which neither npm nor node is on PATH."""
    kept = [part for part in os.environ["PATH"].split(os.pathsep) if not (Path(part) / "npm").exists()]
    return {**os.environ, "PATH": os.pathsep.join(kept), "UV_SYSTEM_CERTS": "1", "HOME": str(folder)}


def _build(source: Path, target: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [_uv(), "build", *options, "--out-dir", str(target), str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=_without_node(target))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from the sdist, without Node."""
    if not (ROOT / "src" / PAGE).is_file():
        pytest.fail("the page is not built; hint: run `make page`")
    folder = tmp_path_factory.mktemp("dist")
    done = _build(ROOT, folder, "--sdist")
    assert done.returncode == 0, done.stderr
    [sdist] = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert f"colline-0.1.0/src/{PAGE}" in archive.getnames()
    done = _build(sdist, folder, "--wheel")
    assert done.returncode == 0, done.stderr
    [found] = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def shop_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with a snapshot."""
    from colline.graph.snapshot.publish import publish
    from tests.graph.graph_lakes import shop

    lake = shop().write(tmp_path_factory.mktemp("shop") / "lake")
    publish(lake)
    return lake


@pytest.fixture(scope="module")
def run(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a program of an environment that contains the wheel and its base dependencies only."""
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run([_uv(), "venv", "--quiet", "--python", sys.executable, str(folder / "venv")], check=True)
    python = str(folder / "venv/bin/python")
    subprocess.run([_uv(), "pip", "install", "--quiet", "--python", python, str(wheel)], check=True)

    (folder / "job.sql").write_text("create table report as select 1 as one")
    (folder / "job.py").write_text("from pyspark.sql import SparkSession")

    def call(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(folder / "venv/bin" / program), *arguments]
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("COLLINE", "SPARK", "PYTHON"))
        }
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=clean, timeout=120)

    return call


def test_wheel_contains_the_page_and_the_java_sources(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert PAGE in names
    assert "colline/capture/jvm/QueryListener.java" in names and "colline/py.typed" in names
    assert [name for name in names if not name.startswith(("colline/", "colline-"))] == ["colline_attach.pth"]


def test_build_without_the_page_and_without_node_fails_with_a_hint(tmp_path: Path) -> None:
    source = tmp_path / "clone"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("static", "__pycache__"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    for kind in ("--wheel", "--sdist"):
        done = _build(source, tmp_path / "dist", kind)
        assert done.returncode != 0
        assert "the web page is not built" in done.stderr and "make page" in done.stderr


def test_base_install_answers_questions(run: Run, shop_lake: Path) -> None:
    done = run("colline", "find", "email", "--lake", str(shop_lake))
    assert done.returncode == 0 and "email" in done.stdout, done.stderr
    done = run("python", "-c", f"import colline; print(colline.open({str(shop_lake)!r}).find('email').verdict)")
    assert done.returncode == 0 and "email" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("demo", "--lake", "new"), "spark"),
        (("ingest", "--lake", "{lake}", "--from", "{lake}"), "spark"),
        (("rebuild", "--lake", "{lake}"), "spark"),
        (("maintain", "--lake", "{lake}"), "spark"),
        (("explain", "job.sql"), "spark"),
        (("connect-server",), "spark"),
        (("serve", "--lake", "{lake}"), "server"),
        (("mcp", "--lake", "{lake}"), "mcp"),
        (("runs", "--lake", "{lake}"), "graph"),
        (("quarantine", "list", "--lake", "{lake}"), "graph"),
        (("import", "job.sql", "--lake", "{lake}"), "spark"),
        (("contract", "export", "silver.customers", "--lake", "{lake}"), "contracts"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else value,
)
def test_command_names_the_extra_it_needs(run: Run, shop_lake: Path, arguments: tuple[str, ...], extra: str) -> None:
    done = run("colline", *(each.format(lake=shop_lake) for each in arguments))
    assert done.returncode == 2, done.stdout + done.stderr
    assert f"hint: pip install 'colline[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr and "ModuleNotFoundError" not in done.stderr


def test_remote_lake_names_the_extra_it_needs(run: Run) -> None:
    done = run("colline", "find", "x", "--lake", "s3://bucket/lake")
    assert done.returncode == 3
    assert done.stderr == (
        "error: cannot open s3://bucket/lake: the package fsspec is not installed\n"
        "hint: pip install 'colline[files]' s3fs\n"
    )


def test_import_lands_nothing_if_it_cannot_ingest(run: Run, shop_lake: Path) -> None:
    before = sorted(shop_lake.rglob("*"))
    run("colline", "import", "job.sql", "--lake", str(shop_lake))
    assert sorted(shop_lake.rglob("*")) == before
    done = run("colline", "import", "job.sql", "--lake", "new lake", "--print")
    assert done.returncode == 0 and "imported 1 job" in done.stderr, done.stderr


def test_script_without_spark_ends_with_the_command_that_installs_it(run: Run) -> None:
    done = run("colline", "run", "--lake", "new", "job.py")
    *_, error, hint = done.stderr.splitlines()
    assert (done.returncode, error) == (1, "ModuleNotFoundError: No module named 'pyspark'")
    assert hint == "hint: pip install 'colline[spark]'"


@pytest.mark.spark
@pytest.mark.delta
def test_demo_runs_from_the_wheel_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([_uv(), "venv", "--quiet", "--python", sys.executable, str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv/bin/python")
    subprocess.run([_uv(), "pip", "install", "--quiet", "--python", python, f"{wheel}[spark]"], check=True)
    done = subprocess.run(
        [str(tmp_path / "venv/bin/colline"), "demo", "--lake", "a lake"],
        capture_output=True, text=True, check=False, cwd=tmp_path, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert (tmp_path / "a lake" / "snapshot" / "CURRENT").is_file()


@pytest.mark.parametrize(
    ("call", "extra"),
    [
        ("attach(None)", "spark"),
        ("lineage('select 1')", "spark"),
        ("ingest('lake')", "spark"),
        ("register_views(None, 'lake')", "spark"),
        ("open({lake!r}).find('email').to_pandas()", "spark"),
        ("open({lake!r}).find('email').to_arrow()", "graph"),
        ("open({lake!r}).runs()", "graph"),
    ],
)
def test_python_names_the_extra_it_needs(run: Run, shop_lake: Path, call: str, extra: str) -> None:
    call = call.format(lake=str(shop_lake))
    code = f"import colline\ntry:\n    colline.{call}\nexcept colline.CollineError as error:\n    print(error)"
    done = run("python", "-c", code)
    assert done.stdout.splitlines()[-1:] == [f"hint: pip install 'colline[{extra}]'"], done.stdout + done.stderr


def test_interpreter_start_hook_is_installed_and_off(run: Run) -> None:
    done = run("python", "-c", "import sys; print('colline' in sys.modules)")
    assert done.stdout == "False\n"


def test_every_command_prints_its_help(run: Run) -> None:
    for name in COMMANDS:
        done = run("colline", name, "--help")
        assert done.returncode == 0 and "Usage:" in done.stdout, done.stderr
