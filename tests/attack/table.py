"""The closing table of the attacks: how often each was tried, how often colline held, what was lost, peak memory."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.server.serving import Server

IS_FULL = os.environ.get("COLLINE_ATTACK") == "full"
SEED = int(os.environ.get("COLLINE_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
os.environ["COLLINE_SEED"] = str(SEED)  # the processes of pytest-xdist use the seed that is printed
MAX_PEAK_MEMORY_MB = 300
PROPERTY = "attack"
HEADINGS = ("attack", "tried", "held", "lost", "peak memory")

Recorder = Callable[[str, object], None]
Attack = Callable[..., AbstractContextManager["Row"]]


def times(short: int, full: int) -> int:
    """How often an attack is tried: `make attack` runs the full form, `make test` the short one."""
    return full if IS_FULL else short


@dataclass
class Row:
    """One attack. `held` counts the attempts that changed nothing they should not, `lost` the acknowledged events."""

    attack: str
    tried: int = 0
    held: int = 0
    lost: int = 0
    memory_mb: int = 0
    failures: str = ""

    def count(self, is_held: bool, failure: object = "") -> None:
        """Count one attempt; the first failures are shown when the test fails."""
        self.tried += 1
        self.held += is_held
        if not is_held and len(self.failures) < 2000:
            self.failures += f"\n{failure}"[:500]

    def measure(self, pid: int) -> None:
        """Note the peak memory of a running process and of its children, each for itself."""
        self.memory_mb = max(self.memory_mb, *map(peak_memory_mb, (pid, *children(pid))))


@contextmanager
def row(record: Recorder, attack: str, server: Server | None = None) -> Iterator[Row]:
    """A row of the table. At the end, every attempt must have held, and memory must have stayed bounded."""
    found = Row(attack)
    try:
        yield found
    finally:
        if server is not None:
            found.measure(server.process.pid)
        record(PROPERTY, asdict(found))
    assert (found.held, found.lost) == (found.tried, 0), f"seed {SEED}, {found}"
    assert found.tried > 0
    assert found.memory_mb <= MAX_PEAK_MEMORY_MB, found


def peak_memory_mb(pid: int) -> int:
    """The most memory that a process has used so far; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    peak = re.search(r"VmHWM:\s+(\d+)", status)
    return int(peak[1]) // 1024 if peak else 0


def children(pid: int) -> list[int]:
    """The processes that this one started and that still run."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return []


def table(reports: Iterable[Any]) -> list[str]:
    """The lines of the table, from the reports of the tests."""
    rows = [Row(**value) for report in reports for name, value in report.user_properties if name == PROPERTY]
    if not rows:
        return []
    memory = [f"{each.memory_mb} MB" if each.memory_mb else "-" for each in rows]
    cells = [(each.attack, each.tried, each.held, each.lost, peak) for each, peak in zip(rows, memory, strict=True)]
    return [_line(HEADINGS), *map(_line, cells), f"seed of the random attacks: {SEED}"]


def _line(cells: tuple[object, ...]) -> str:
    name, *figures = map(str, cells)
    return f"{name:<62}" + "".join(f"{figure:>13}" for figure in figures)
