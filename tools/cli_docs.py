"""Generates docs/reference/cli.md: the help of each query command, and examples with their output.

python tools/cli_docs.py            # write docs/reference/cli.md
python tools/cli_docs.py --check    # exit with 1 if it would change
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from pathlib import Path

from colline.graph.queries.registry import QUESTIONS

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "reference" / "cli.md"

EXAMPLES = {question.name: question.examples for question in QUESTIONS if question.is_command}
EXAMPLES["graph"] = ("graph gold.contacts.email",)
HEAD = """# Query commands

`make cli-docs` generates this page from the question registry; the examples run on the small lake of the tests.

Every command takes `--lake PATH` (or the variable `COLLINE_LAKE`). A column may be given by any unique suffix of its
name; `-` reads names from standard input, one per line. Data goes to standard output, messages to standard error.
Colors appear on a terminal only, and never with `NO_COLOR`; a long answer is shown in the pager.

| exit code | meaning |
|---|---|
| 0 | an answer |
| 1 | the verdict is a no, or there are violations |
| 2 | wrong usage, an unknown column, or an ambiguous name |
| 3 | the lake does not exist, is empty, or cannot be read |
| 130 | stopped by Ctrl-C |

Completion of commands and column names: `eval "$(_COLLINE_COMPLETE=bash_source colline)"` (or `zsh_source`,
`fish_source`); set `COLLINE_LAKE` first.
"""


def page() -> str:
    """The page; the examples run on a lake in a temporary directory."""
    sys.path.insert(0, str(ROOT))
    from tests.graph.graph_lakes import shop

    with tempfile.TemporaryDirectory() as folder:
        lake = shop().write(Path(folder) / "lake")
        return HEAD + "".join(section(name, examples, lake) for name, examples in EXAMPLES.items())


def section(name: str, examples: tuple[str, ...], lake: Path) -> str:
    """Help and examples of one command."""
    help_text = run([name, "--help"], lake)[1]
    shown = "".join(example_with_output(example, lake) for example in examples)
    return f"\n## `colline {name}`\n\n```text\n{help_text}\n```\n{shown}"


def example_with_output(example: str, lake: Path) -> str:
    """A command line and what it prints."""
    code, output = run(shlex.split(example), lake)
    ends = f"\n(exit code {code})" if code else ""
    return f"\n```text\n$ colline {example}\n{output}{ends}\n```\n"


def run(arguments: list[str], lake: Path) -> tuple[int, str]:
    """Exit code and output of a command; the time of the snapshot is replaced by a constant."""
    from click.testing import CliRunner

    from colline.cli import cli

    result = CliRunner().invoke(
        cli, arguments, prog_name="colline", terminal_width=100, env={"COLLINE_LAKE": str(lake)}
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, re.sub(r"as of 2\S+Z", "as of 2026-01-31T12:00:00Z", result.stdout).rstrip()


def main() -> int:
    """Writes the page, or checks that it is up to date."""
    found = page()
    if "--check" in sys.argv:
        is_stale = not TARGET.exists() or TARGET.read_text(encoding="utf-8") != found
        if is_stale:
            print("docs/reference/cli.md is out of date: run `make cli-docs`", file=sys.stderr)
        return int(is_stale)
    TARGET.write_text(found, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
