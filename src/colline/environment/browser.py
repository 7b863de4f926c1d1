"""Finds a Chromium-based browser on this computer, for the tests of the page."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)


def installed_browser() -> Path | None:
    """The browser of COLLINE_BROWSER, else the first one on PATH, in macOS applications, or installed by playwright."""
    named = os.environ.get("COLLINE_BROWSER")
    if named:
        return Path(named) if Path(named).is_file() else None
    for program in PROGRAMS:
        found = shutil.which(program)
        if found:
            return Path(found)
    return next((path for path in [*map(Path, APPLICATIONS), *_playwright_browsers()] if path.is_file()), None)


def _playwright_browsers() -> list[Path]:
    """Browsers in playwright's folder, newest first."""
    folder = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    return sorted((p for p in folder.glob("chromium-*/chrome-*/*") if p.name in {"chrome", "Chromium"}), reverse=True)
