"""Processes that need missing jars download them one after the other."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from colline.environment.jar_downloads import one_download_at_a_time

PACKAGE = "io.example:thing_2.13:1.0"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def download(order: list[str]) -> None:
    with one_download_at_a_time([PACKAGE]):
        order.append("second")


def test_second_download_waits_for_the_first() -> None:
    order: list[str] = []
    second = threading.Thread(target=download, args=(order,))
    with one_download_at_a_time([PACKAGE]):
        second.start()
        second.join(0.2)
        order.append("first")
    second.join()
    assert order == ["first", "second"]


def test_jars_that_are_here_need_no_waiting(home: Path) -> None:
    jars = home / ".ivy2.5.2" / "jars"
    jars.mkdir(parents=True)
    order: list[str] = []
    second = threading.Thread(target=download, args=(order,))
    with one_download_at_a_time([PACKAGE]):
        (jars / "io.example_thing_2.13-1.0.jar").touch()
        second.start()
        second.join()
        order.append("first")
    assert order == ["second", "first"]


def test_home_that_cannot_be_written_is_accepted(home: Path) -> None:
    (home / ".cache").write_text("a file where the folder should be")
    order: list[str] = []
    download(order)
    assert order == ["second"]
