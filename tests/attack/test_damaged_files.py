"""Files that the disk damages: snapshots, spool files and Delta tables. No answer is wrong, and no event is changed."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from colline.graph.snapshot.publish import publish
from tests.attack.table import SEED, Attack, times
from tests.graph.graph_lakes import shop
from tests.server.serving import event, serving

pytestmark = pytest.mark.attack
QUESTION = ("upstream", "kpi.revenue", "--json")


def damage(path: Path, chance: random.Random) -> str:
    """Flip bits of a file, truncate it, or overwrite a part; returns what was done."""
    size = path.stat().st_size
    place = chance.randrange(size)
    kind = chance.choice(("one bit", "one bit", "twenty bits", "truncated", "a lost page"))
    content = bytearray(path.read_bytes())
    if kind == "truncated":
        del content[place:]
    elif kind == "a lost page":
        content[place : place + 512] = bytes(len(content[place : place + 512]))
    else:
        for _ in range(1 if kind == "one bit" else 20):
            content[chance.randrange(size)] ^= 1 << chance.randrange(8)
    path.write_bytes(content)
    return f"{path.name}: {kind} at {place} of {size}"


def colline(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "colline", *arguments], capture_output=True, text=True, check=False)


def is_one_clear_error(done: subprocess.CompletedProcess[str]) -> bool:
    has_hint = done.stderr.startswith("error: ") and "\nhint: " in done.stderr
    return done.returncode > 0 and has_hint and "Traceback" not in done.stderr and done.stdout == ""


def answer_of(lake: Path) -> dict[str, object]:
    """The answer of the command, without the name of the snapshot."""
    done = colline(*QUESTION, "--lake", str(lake))
    assert done.returncode == 0, done.stderr
    return facts_of(done)


def facts_of(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    """The columns and edges that a command printed; the name and time of the snapshot differ after each publish."""
    found: dict[str, object] = json.loads(done.stdout)
    return {"columns": found["columns"], "edges": found["edges"]}


@pytest.fixture(scope="module")
def shop_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = shop().write(tmp_path_factory.mktemp("attacked") / "lake")
    publish(lake)
    return lake


def snapshot_files(lake: Path) -> list[Path]:
    folder = lake / "snapshot"
    version = folder / (folder / "CURRENT").read_text().strip()
    return [folder / "CURRENT", *(version / name for name in ("arrays", "arrays", "meta.json", "checksums.json"))]


def test_damaged_snapshot_is_an_error_of_the_command(shop_lake: Path, tmp_path: Path, attack: Attack) -> None:
    chance, good, lake = random.Random(SEED), answer_of(shop_lake), tmp_path / "lake"
    with attack("damaged snapshots, read by a command") as row:
        for _ in range(times(8, 150)):
            shutil.rmtree(lake, ignore_errors=True)
            shutil.copytree(shop_lake / "snapshot", lake / "snapshot", ignore=shutil.ignore_patterns("verified.json"))
            done_to = damage(chance.choice(snapshot_files(lake)), chance)
            done = colline(*QUESTION, "--lake", str(lake))
            is_right = done.returncode == 0 and answer_of(lake) == good
            row.count(is_right or is_one_clear_error(done), (done_to, done))


def test_server_with_damaged_snapshots_answers_correctly(shop_lake: Path, tmp_path: Path, attack: Attack) -> None:
    chance, lake = random.Random(SEED), tmp_path / "lake"
    shutil.copytree(shop_lake, lake)
    with serving(lake, "--no-access-log") as server, attack("damaged snapshots under a running server", server) as row:

        def answer() -> tuple[int, object]:
            found = server.client.get("/api/v1/upstream", params={"column": "kpi.revenue"})
            return found.status_code, found.json().get("totals")

        good = answer()
        for _ in range(times(4, 40)):
            done_to = damage(chance.choice(snapshot_files(lake)), chance)
            row.count(answer() == good, done_to)
            is_kept = server.client.post("/api/v1/lineage", json=event()).status_code == 201
            row.count(is_kept, f"an event after {done_to}")
            publish(lake)  # as the next ingest does
            row.count(answer() == good, f"published after {done_to}")


SPOOL_WRITER = """
import os, signal, sys
from colline.config import settings_from, transport_from
spool, base = sys.argv[1:]
open(base, "w").close()  # a file where the lake should be: nothing can be delivered
transport = transport_from(settings_from({"transport": {"type": "lake", "base": base, "spool": spool}}, environ={}))
for number in range(20):
    transport.emit({"n": number, "filling": "abc" * 100})
os.kill(os.getpid(), signal.SIGKILL)
"""
SPOOL_READER = """
import sys
from colline.config import settings_from, transport_from
for folder in sys.argv[1:]:
    given = {"type": "lake", "base": folder + "/lake", "spool": folder + "/spool"}
    transport_from(settings_from({"transport": given}, environ={})).close(30)
"""


def test_changed_event_in_the_spool_is_never_delivered(tmp_path: Path, attack: Attack) -> None:
    chance, spool = random.Random(SEED), tmp_path / "spool"
    writer = [sys.executable, "-c", SPOOL_WRITER, str(spool), str(tmp_path / "in_the_way")]
    assert subprocess.run(writer, check=False).returncode == -9
    folders = [tmp_path / f"copy {number}" for number in range(times(30, 1000))]
    for folder in folders:
        shutil.copytree(spool, folder / "spool")
        [file] = (folder / "spool").iterdir()
        content = bytearray(file.read_bytes())
        content[chance.randrange(len(content))] ^= chance.randrange(1, 256)
        file.write_bytes(content)
    for start in range(0, len(folders), 100):
        subprocess.run([sys.executable, "-c", SPOOL_READER, *map(str, folders[start : start + 100])], check=True)
    with attack("a changed byte in the spool of a killed process") as row:
        for folder in folders:
            files = (folder / "lake" / "landing").glob("dt=*/*.ndjson")
            found = [json.loads(line) for file in files for line in file.read_bytes().splitlines()]
            numbers = [each["n"] for each in found]
            is_unchanged = all(each == {"n": each["n"], "filling": "abc" * 100} for each in found)
            row.count(is_unchanged and len(set(numbers)) == len(numbers) >= 18, (folder, numbers))


def _data_files(lake: Path) -> list[Path]:
    return sorted(path for layer in ("silver", "gold") for path in (lake / layer).rglob("*.parquet"))


def test_removed_delta_file_does_not_change_answers(shop_lake: Path, tmp_path: Path, attack: Attack) -> None:
    good = answer_of(shop_lake)
    names = [path.relative_to(shop_lake) for path in _data_files(shop_lake)]
    with attack("a removed file of a Delta table") as row:
        for number, name in enumerate(random.Random(SEED).sample(names, times(2, len(names)))):
            lake = tmp_path / f"lake {number}"
            shutil.copytree(shop_lake, lake)
            (lake / name).unlink()
            row.count(answer_of(lake) == good, f"answer without {name}")
            shutil.rmtree(lake / "snapshot")  # a new one needs the file, unless it is of a table like silver/runs
            result = colline(*QUESTION, "--lake", str(lake))
            is_right = facts_of(result) == good if result.returncode == 0 else is_one_clear_error(result)
            row.count(is_right, f"a new snapshot without {name}")


def test_damaged_table_of_runs_is_an_error_of_the_command(shop_lake: Path, tmp_path: Path, attack: Attack) -> None:
    """`colline runs` reads a table that no snapshot contains."""
    chance, lake = random.Random(SEED), tmp_path / "lake"
    shutil.copytree(shop_lake, lake)
    file = next((lake / "silver" / "runs").glob("**/*.parquet"))
    log = next((lake / "silver" / "runs" / "_delta_log").glob("*.json"))
    good = colline("runs", "--json", "--lake", str(lake)).stdout
    with attack("damaged files of the table of runs") as row:
        for path in (file, log):
            whole = path.read_bytes()
            end = whole.index(b"\n") if path == log else len(whole)  # a log without its last lines is a valid one
            for number in range(times(2, 20)):
                if number == 0:
                    path.unlink()
                else:
                    path.write_bytes(whole[: chance.randrange(1, end)])
                done = colline("runs", "--json", "--lake", str(lake))
                row.count(is_one_clear_error(done), (path, done))
                path.write_bytes(whole)
        row.count(colline("runs", "--json", "--lake", str(lake)).stdout == good, "afterwards")
