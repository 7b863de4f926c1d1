"""A plain Spark Connect server in a process of its own, which captures nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def home_python() -> str | None:
    """The Python of the default Spark, in whose place a client of another version runs; None if it is this one."""
    return os.environ.get("COLLINE_HOME_PYTHON")


@contextmanager
def remote_server() -> Iterator[str]:
    """The address of a running server with Delta."""
    with tempfile.TemporaryDirectory() as folder:
        command = [home_python() or sys.executable, "-m", __name__, folder]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("port "), "the server did not start"
            yield f"sc://127.0.0.1:{line.split()[1]}"
            process.kill()


def main() -> None:
    """Serve until stdin ends."""
    from colline.capture.connect.connect_session import server_port
    from tests.sessions import session

    spark = session(Path(sys.argv[1]))
    print("port", server_port(spark), flush=True)
    sys.stdin.read()
    spark.stop()


if __name__ == "__main__":
    main()
