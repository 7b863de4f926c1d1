"""Refuses words and phrases that the project does not use: `python tools/check_language.py [PATH…]`.

The words, their replacements and the exceptions are in `refused_words.toml`. In Python files, the names they define,
docstrings, comments and strings are checked; other files as plain text.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
WORDS_FILE = ROOT / "tools/refused_words.toml"
PROSE_SUFFIXES = {".md", ".css", ".html", ".sql", ".toml", ".yml", ".yaml", ".sh"}
CODE_SUFFIXES = {".ts", ".tsx", ".java"}
SCRIPTS = {"Makefile", ".ci/run", "tools/bare", "tools/bring-uv", "tools/lacks"}

Kind = Literal["prose", "name", "function", "module"]
# what the value of `in` in refused_words.toml covers
SCOPES: dict[str, set[Kind]] = {
    "everywhere": {"prose", "name", "function", "module"},
    "names": {"name", "function", "module"},
}
SEARCH_LINES = 40  # how far below the start of a string its text may be
# one blank, or a line break with the comment sign of the next line
_BLANK = r"(?:[ \t]+|[ \t]*\n[ \t]*(?:#+|//|\*|--|>)?[ \t]*)"
_CAMEL_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DECLARATION = re.compile(
    r"\b(?:function|const|let|var|class|interface|type|enum)\s+(?P<name>\w+)"
    r"(?P<arrow>\s*=\s*(?:async\s*)?\((?:[^()]|\([^()]*\))*\)\s*(?::[^=\n]+)?=>)?"
    r"|\b(?:public|private|protected|static|final|synchronized)\s+[\w<>\[\], .?]*?\b(?P<member>\w+)\s*"
    r"(?:(?P<call>\()|[=;])"
)


@dataclass(frozen=True)
class Fragment:
    """A piece of a file that is checked by itself."""

    line: int
    text: str
    kind: Kind = "prose"


@dataclass(frozen=True)
class Hit:
    """A refused word at a place."""

    path: str
    line: int
    word: str
    instead: str

    def __str__(self) -> str:
        return f'{self.path}:{self.line}: "{self.word}" → {self.instead}'


@dataclass(frozen=True)
class Allowance:
    """Text or a path in which refused words are fine."""

    path: str
    pattern: re.Pattern[str] | None

    def covers(self, path: str) -> bool:
        """Whether the exception holds for this file."""
        return not self.path or is_below(path, self.path)


class Rules:
    """The refused words with their replacements, and the exceptions."""

    def __init__(self, table: dict[str, Any]) -> None:
        refused = table.get("refuse", [])
        self._instead = {word.lower(): entry["instead"] for entry in refused for word in entry["words"]}
        self._patterns = {kind: _any_of(_words_for(kind, refused)) for kind in SCOPES["everywhere"]}
        self._functions = table["function_names"]
        self._modules = table["module_names"]
        self._allowances = [
            Allowance(entry.get("path", ""), _phrase_pattern(entry.get("phrases", [])))
            for entry in table.get("allow", [])
        ]

    def skips(self, path: str) -> bool:
        """Whether the whole file is an exception."""
        return any(each.pattern is None and each.covers(path) for each in self._allowances)

    def check(self, path: str, fragment: Fragment) -> Iterator[Hit]:
        """The refused words of one fragment."""
        text = fragment.text
        for each in self._allowances:
            if each.pattern and each.covers(path):
                text = each.pattern.sub(lambda found: re.sub(r"\S", "~", found[0]), text)
        text = split_identifiers(text)
        for found in self._patterns[fragment.kind].finditer(text):
            word = re.sub(rf"{_BLANK}|\s+", " ", found[0])
            yield Hit(path, fragment.line + text.count("\n", 0, found.start()), word, self._instead[word.lower()])
        if fragment.kind == "function" and self._is_bare(fragment.text):
            yield Hit(path, fragment.line, fragment.text, f"{self._functions['instead']} (name of a function)")
        if fragment.kind == "module" and fragment.text.removeprefix("test_") in self._modules["words"]:
            yield Hit(path, fragment.line, fragment.text, f"{self._modules['instead']} (name of a file)")

    def _is_bare(self, name: str) -> bool:
        """Whether a function is named by a single participle, adjective or adverb: `numbered`, `missing`, `onward`."""
        word = name.strip("_")
        if not word.islower() or "_" in word:
            return False
        is_regular = word.endswith("ed") and word not in self._functions["verbs"]
        return is_regular or any(word in self._functions[kind] for kind in ("participles", "adjectives", "adverbs"))


def _words_for(kind: Kind, refused: list[dict[str, Any]]) -> list[str]:
    return [word for entry in refused if kind in SCOPES[entry.get("in", "everywhere")] for word in entry["words"]]


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(phrases, key=len, reverse=True)
    choices = "|".join(re.escape(each).replace(r"\ ", _BLANK) for each in longest_first) or r"(?!)"
    return re.compile(rf"(?<![\w-])(?:{choices})(?![\w-])", re.IGNORECASE)


def _phrase_pattern(phrases: list[str]) -> re.Pattern[str] | None:
    choices = []
    for each in phrases:
        pattern = re.escape(each).replace(r"\ ", _BLANK)
        choices.append(pattern if any(letter.isupper() for letter in each) else f"(?i:{pattern})")
    return re.compile(rf"(?<!\w)(?:{'|'.join(choices)})(?!\w)") if choices else None


def split_identifiers(text: str) -> str:
    """Splits identifiers into words: `rowCount` → `row Count`, `row_count` → `row count`. Line breaks are kept."""
    return _CAMEL_HUMP.sub(" ", text).replace("_", " ")


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a given file or directory, or inside of it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def fragments(path: str, text: str) -> Iterator[Fragment]:
    """What is checked in a file, starting with its own name."""
    yield Fragment(1, Path(path).stem.replace("-", "_"), "module")
    if path.endswith(".py"):
        tree = ast.parse(text)
        yield from _python_names(tree)
        yield from _python_strings(tree)
        yield from _python_comments(text)
    else:
        yield Fragment(1, text)
        if Path(path).suffix in CODE_SUFFIXES:
            yield from _declarations(text)


def _python_names(tree: ast.AST) -> Iterator[Fragment]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Fragment(node.lineno, node.name, "function")
        elif isinstance(node, ast.ClassDef):
            yield Fragment(node.lineno, node.name, "name")
        elif isinstance(node, ast.arg):
            yield Fragment(node.lineno, node.arg, "name")
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield Fragment(node.lineno, node.id, "name")
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield Fragment(node.lineno, node.attr, "name")
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield Fragment(node.lineno, node.name, "name")


def _python_strings(tree: ast.AST) -> Iterator[Fragment]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield Fragment(node.lineno, node.value)


def _python_comments(text: str) -> Iterator[Fragment]:
    """Comments; those on neighbouring lines are one fragment, so that a phrase may cross the line break."""
    start, block = 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        if token.start[0] != start + len(block):
            if block:
                yield Fragment(start, "\n".join(block))
            start, block = token.start[0], []
        block.append(token.string)
    if block:
        yield Fragment(start, "\n".join(block))


def _declarations(text: str) -> Iterator[Fragment]:
    """Names that TypeScript or Java code declares, as far as a pattern recognizes them."""
    for found in _DECLARATION.finditer(text):
        is_function = found["arrow"] or found["call"] or found[0].startswith("function")
        line = 1 + text.count("\n", 0, found.start())
        yield Fragment(line, found["name"] or found["member"], "function" if is_function else "name")


def check_file(root: Path, path: str, rules: Rules) -> list[Hit]:
    """The hits of one file, by line."""
    text = (root / path).read_text(encoding="utf-8")
    lines = text.lower().splitlines()
    found = (hit for fragment in fragments(path, text) for hit in rules.check(path, fragment))
    hits = {replace(hit, line=_actual_line(lines, hit)) for hit in found}
    return sorted(hits, key=lambda hit: (hit.line, hit.word))


def _actual_line(lines: list[str], hit: Hit) -> int:
    """The line of a hit; Python only knows where a string of several literals starts."""
    word = re.compile(rf"(?<![a-z]){re.escape(hit.word.lower())}(?![a-z])")
    for number in range(hit.line, min(hit.line + SEARCH_LINES, len(lines) + 1)):
        if word.search(lines[number - 1]):
            return number
    return hit.line


def project_files(root: Path) -> list[str]:
    """The files of the project whose text is checked: tracked ones and new ones that git does not ignore."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    suffixes = {".py"} | PROSE_SUFFIXES | CODE_SUFFIXES
    return sorted(
        path for path in set(listed) if (Path(path).suffix in suffixes or path in SCRIPTS) and (root / path).is_file()
    )


def read_rules(file: Path = WORDS_FILE) -> Rules:
    """The rules in a TOML file."""
    return Rules(tomllib.loads(file.read_text(encoding="utf-8")))


def print_summary(hits: list[Hit]) -> None:
    """Print how often each word was found, most frequent first."""
    for word, count in Counter(hit.word.lower() for hit in hits).most_common():
        print(f"{count:6} {word}")


def select_files(root: Path, paths: list[str]) -> list[str]:
    """The files to check: those below `paths`, or all of them."""
    files = project_files(root)
    if not paths:
        return files
    wanted = [Path(path).resolve().relative_to(root).as_posix() for path in paths]
    return [path for path in files if any(is_below(path, each) for each in wanted)]


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Print the hits; 1 if there are any."""
    parser = argparse.ArgumentParser(description="Check the language of the project.")
    parser.add_argument("paths", nargs="*", help="check these files and directories only")
    parser.add_argument("--summary", action="store_true", help="print a count per word instead of the places")
    options = parser.parse_args(arguments)
    rules = read_rules()
    files = [path for path in select_files(root, options.paths) if not rules.skips(path)]
    hits = [hit for path in files for hit in check_file(root, path, rules)]
    if options.summary:
        print_summary(hits)
    else:
        print("".join(f"{hit}\n" for hit in hits), end="")
    if hits:
        count = len({hit.path for hit in hits})
        print(f"{len(hits)} refused words in {count} files; tools/{WORDS_FILE.name} has the reasons", file=sys.stderr)
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())
