"""The events of `colline demo`, recorded, so that tests have real events without running the demo.

`make record-demo` runs the demo and writes the file. It replaces the folder of the demo by /srv/delivery, and the times
of its two days, which take minutes, by the second and the third of March 2026.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("demo_events.ndjson.gz")
FOLDER = "/srv/delivery"
DAYS = tuple(datetime.fromisoformat(f"2026-03-{day}T06:00:00+00:00") for day in ("02", "03"))
BETWEEN = "2026-03-03T00:00:00Z"


def demo_events() -> list[dict[str, Any]]:
    """The events of both days, in the order they were captured."""
    return [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


def recording_of(lake: Path, between: datetime) -> bytes:
    """The landed events of a lake in the form of the recording."""
    files = sorted((lake / "landing").glob("dt=*/*.ndjson"))
    text = b"".join(file.read_bytes() for file in files).decode().replace(str(lake / "platform"), FOLDER)
    events = [json.loads(line) for line in text.splitlines()]
    starts = [min(times) for times in _by_day([_time(event) for event in events], between)]
    for event in events:
        day = int(_time(event) >= between)
        event["eventTime"] = _stamp(DAYS[day] + (_time(event) - starts[day]))
    lines = "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)
    return gzip.compress(lines.encode(), 9, mtime=0)


def _by_day(times: list[datetime], between: datetime) -> tuple[list[datetime], list[datetime]]:
    return [time for time in times if time < between], [time for time in times if time >= between]


def _time(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["eventTime"].replace("Z", "+00:00"))


def _stamp(time: datetime) -> str:
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder) / "delivery"
        command = [sys.executable, "-m", "colline", "demo", "--lake", str(lake)]
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        between = re.search(r"--since (\S+)", output)
        assert between is not None, output[-2000:]
        RECORDED.write_bytes(recording_of(lake, datetime.fromisoformat(between[1])))


if __name__ == "__main__":
    main()
