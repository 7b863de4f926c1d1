"""The language checker: which texts it reads, which words it refuses, and what its options do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tools.check_language import check_file, main, project_files, read_rules


@pytest.fixture
def words_in(tmp_path: Path):
    """Checks a text as a file of the given name; returns (line, word) pairs."""

    def check(name: str, text: str) -> list[tuple[int, str]]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return [(hit.line, hit.word) for hit in check_file(tmp_path, name, read_rules())]

    return check


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository with one clean page and one that is not."""
    root = tmp_path.resolve()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name, text in {
        "clean.md": "Reads a table.\n",
        "docs/old.md": "It is told.\nIt goes on.\nIt is told.\n",
    }.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    "text",
    [
        "def told_again(): ...",
        "class ToldRows: ...",
        "def build(*, told): ...",
        "told = 1",
        "row.told = 1",
        "def build():\n    '''What a run told.'''",
        "x = f'{x} was told'",
        "x = 1  # told once",
    ],
)
def test_python_names_strings_and_comments_are_checked(words_in, text: str) -> None:
    assert [word.lower() for _, word in words_in("module.py", text)] == ["told"]


def test_python_code_that_uses_a_name_of_another_package_is_not_checked(words_in) -> None:
    assert words_in("module.py", "from other import told\n\nother.told(told)\n") == []


@pytest.mark.parametrize("name", ["page.tsx", "Plan.java", "style.css", "guide.md", "case.sql", "Makefile"])
def test_other_files_are_checked_as_text(words_in, name: str) -> None:
    assert words_in(name, "one\nwhat toldBy is, however you look\n") == [(2, "however"), (2, "told")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("module.py", "def f():\n    '''It goes\n    on.'''\n"),
        ("module.py", "# first\n# it goes\n# on\n"),
        ("Plan.java", "/**\n * it goes\n * on\n */"),
        ("guide.md", "first\nit goes\non\n"),
    ],
)
def test_a_phrase_may_cross_a_line_break(words_in, name: str, text: str) -> None:
    assert words_in(name, text) == [(2, "goes on")]


def test_a_hit_has_the_line_of_its_own_literal(words_in) -> None:
    assert words_in("module.py", "x = (\n    'a retold '\n    'is told'\n)\n") == [(2, "retold"), (3, "told")]


@pytest.mark.parametrize(
    "name", ["told", "_told", "numbered", "beside", "kept", "landed", "rewritten", "missing", "_plain"]
)
def test_a_function_named_by_a_participle_adjective_or_adverb_is_refused(words_in, name: str) -> None:
    hits = words_in("module.py", f"def {name}(): ...\n")
    assert (1, name) in hits


@pytest.mark.parametrize("name", ["is_numbered", "numbered_rows", "split", "read", "seed", "unused", "__reduce__"])
def test_other_function_names_are_accepted(words_in, name: str) -> None:
    assert words_in("module.py", f"def {name}(): ...\n") == []


def test_participles_are_accepted_as_variables(words_in) -> None:
    assert words_in("module.py", "numbered = sorted(rows)\n") == []


def test_functions_of_the_page_are_checked(words_in) -> None:
    source = """
        function grouped(a) {}
        const filled = (a: Map<string, () => void>): string => a
        const sorted = rows.sort()
        const retired = (a ?? b).filter((c) => c)
    """
    assert words_in("page.ts", source) == [(2, "grouped"), (3, "filled")]


def test_vague_names_are_fine_in_prose(words_in) -> None:
    assert words_in("module.py", "def look_at(): ...\n\n# A look-up is made near the end.\n") == [(1, "look")]


@pytest.mark.parametrize("name", ["src/told.py", "decisions/0035-halves-of-lines.md", "tests/test_ends.py"])
def test_file_names_are_checked(words_in, name: str) -> None:
    assert len(words_in(name, "")) == 1


@pytest.mark.parametrize(
    "text", ["There is no table.", "It is no longer used.", "where x is None", "However, it fails.", "a no-op"]
)
def test_plain_english_is_accepted(words_in, text: str) -> None:
    assert words_in("guide.md", text) == []


def test_an_exception_does_not_hide_other_words(words_in) -> None:
    assert words_in("guide.md", "There is no table that is no view.") == [(1, "is no")]


def test_hits_are_printed_with_their_replacement(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], project) == 1
    assert capsys.readouterr().out.splitlines() == [
        'docs/old.md:1: "told" → report, return, select, distinguish, recompute',
        'docs/old.md:2: "goes on" → continue, resume',
        'docs/old.md:3: "told" → report, return, select, distinguish, recompute',
    ]


def test_summary_counts_each_word(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--summary"], project) == 1
    assert capsys.readouterr().out.split() == ["2", "told", "1", "goes", "on"]


def test_named_paths_only_are_checked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(project / "docs")], project) == 1
    assert main([str(project / "clean.md")], project) == 0
    assert capsys.readouterr().out.count("docs/old.md:") == 3


def test_ignored_files_are_not_checked(project: Path) -> None:
    (project / ".gitignore").write_text("docs\n", encoding="utf-8")
    assert project_files(project) == ["clean.md"]
