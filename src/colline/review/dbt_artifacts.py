"""The artifacts of dbt projects in a review: `target/` is usually not under version control."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from colline.errors import SettingError

PROJECT, MANIFEST, CATALOG = "dbt_project.yml", "manifest.json", "catalog.json"
_PACKAGES = "dbt_packages"


def complete_dbt_projects(folder: Path, earlier: Path, state: Path | None) -> list[str]:
    """Put the artifacts in `state` into the dbt project of the base. Returns the projects that cannot be read.

    A project with artifacts on one side only is an error: all of its columns would be new, or gone.
    """
    projects = sorted(_projects(folder))
    if state is not None:
        _copy_state(projects, earlier, state)
    unread = []
    for project in projects:
        if not (earlier / project / PROJECT).exists():
            continue
        is_read, was_read = (_manifest(each / project).exists() for each in (folder, earlier))
        if is_read and not was_read:
            message = f"the dbt project {project.as_posix()} has no target/{MANIFEST} at the base revision"
            raise SettingError(message, hint="give the folder with the artifacts of the base: --dbt-state DIR")
        if was_read and not is_read:
            message = f"the dbt project {project.as_posix()} has no target/{MANIFEST}"
            raise SettingError(message, hint="run `dbt compile` first")
        if not is_read:
            unread.append(f"{(project / PROJECT).as_posix()}: no target/{MANIFEST}; run `dbt compile`")
    return unread


def _projects(folder: Path) -> Iterator[Path]:
    """The folders of dbt projects, relative to the folder."""
    for file in folder.rglob(PROJECT):
        if _PACKAGES not in file.relative_to(folder).parts:
            yield file.parent.relative_to(folder)


def _manifest(project: Path) -> Path:
    return project / "target" / MANIFEST


def _copy_state(projects: list[Path], earlier: Path, state: Path) -> None:
    if len(projects) != 1:
        raise SettingError(f"--dbt-state needs one dbt project, found {len(projects)}", hint="review its folder")
    if not (state / MANIFEST).is_file():
        raise SettingError(f"no {MANIFEST} in {state}", hint="give the `target` folder of a dbt run of the base")
    target = _manifest(earlier / projects[0]).parent
    target.mkdir(parents=True, exist_ok=True)
    for name in (MANIFEST, CATALOG):
        if (state / name).is_file():
            shutil.copyfile(state / name, target / name)
