"""Finds a browser for the page's tests, or brings one: apt-get when root, else playwright's own.

Never fails: the tests that need a browser say so themselves (they fail in continuous integration, and skip elsewhere).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from colline.environment.browser import installed_browser


def run(*command: str) -> bool:
    """Whether the command ended well; its output is shown only if it did not."""
    print(f"no browser yet, trying: {' '.join(command)}", file=sys.stderr)
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    )
    if done.returncode:
        print((done.stdout + done.stderr)[-400:], file=sys.stderr)
    return done.returncode == 0


def main() -> None:
    """Bring a browser if there is none and a test asks for one."""
    if installed_browser():
        return
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        _ = run("apt-get", "update", "-qq") and run(
            "apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"
        )
    if not installed_browser():
        run(
            sys.executable,
            "-m",
            "playwright",
            "install",
            "--with-deps" if os.geteuid() == 0 else "--no-shell",
            "chromium",
        )


main()
