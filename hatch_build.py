"""Refuses to build a wheel or an sdist without the page. With Node, the page is built from its source first.

An sdist contains the built page, so that building a wheel from it needs no Node.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "src/colline/server/static/index.html"


class PageBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling before each build."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Check that the page is there. An editable install serves it from the source tree as soon as it is built."""
        page = Path(self.root) / PAGE
        if version == "editable" or page.is_file():
            return
        npm = shutil.which("npm")
        if npm is not None:
            web = str(Path(self.root) / "web")
            for arguments in (["ci", "--silent"], ["run", "--silent", "build"]):
                subprocess.run([npm, "--prefix", web, *arguments], check=False)
        if not page.is_file():
            raise RuntimeError(
                f"the web page is not built: {PAGE} is missing\nhint: run `make page`, or install Node 20"
            )
