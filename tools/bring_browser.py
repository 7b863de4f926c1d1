"""Finds a browser for the tests of the page, or installs one: by apt-get when root, otherwise by playwright.

Never fails: without a browser, the tests that need one fail in continuous integration and are skipped elsewhere.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from colline.environment.browser import installed_browser


def run(*command: str) -> bool:
    """Whether the command succeeded; its output is printed only if it failed."""
    print(f"no browser yet, trying: {' '.join(command)}", file=sys.stderr)
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    )
    if done.returncode:
        print((done.stdout + done.stderr)[-400:], file=sys.stderr)
    return done.returncode == 0


def main() -> None:
    """Install a browser if this machine has none."""
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
