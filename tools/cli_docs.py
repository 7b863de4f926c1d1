"""docs/cli.md, made from the commands themselves: each one's help, and an example that was run.

python tools/cli_docs.py            # write docs/cli.md
python tools/cli_docs.py --check    # end with 1 if it would change
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "cli.md"

# command → examples, one a line, that are run on the lake of the tests, a small shop
EXAMPLES = {
    "find": "find email",
    "upstream": "upstream kpi.revenue --since 2026-01-05\nupstream kpi.revenue --indirect --depth 2 --tree",
    "downstream": "downstream bronze.customers.email\ndownstream bronze.customers.email --tree",
    "paths": "paths bronze.orders.status kpi.revenue --indirect",
    "impact": "impact silver.customers.region --change drop",
    "pii": "pii --tag PII --allowed-zone silver --allowed-zone 'gold.*'",
    "droppable": "droppable silver.customers.nickname silver.customers.email",
    "unused": "unused silver.customers",
    "writers": "writers daily_revenue.total",
    "compare": "compare contacts.email contacts.key",
    "diff": "diff --from 2026-01-02 --to 2026-01-08",
    "coverage": "coverage",
    "roots": "roots bronze.orders",
    "leaves": "leaves gold.contacts",
    "hubs": "hubs --limit 3",
    "graph": "graph gold.contacts.email",
}
HEAD = """# Commands that ask

Made by `make cli-docs`; a test runs every example.

Every command takes `--lake PATH` (or the variable `COLLINE_LAKE`). A column may be any unique suffix; `-` reads
names from standard input, one a line. Data goes to standard output, messages to standard error. Colour appears on a
terminal only, and never with `NO_COLOR`; a long answer goes through the pager.

| exit code | meaning |
|---|---|
| 0 | an answer |
| 1 | the verdict is a no, or there are violations |
| 2 | wrong usage, no such column, or a name that fits several |
| 3 | no such lake, an empty one, or one that cannot be read |
| 130 | stopped by Ctrl-C |

Completion of commands and column names: `eval "$(_COLLINE_COMPLETE=bash_source colline)"` (or `zsh_source`,
`fish_source`); set `COLLINE_LAKE` first.
"""


def page() -> str:
    """The whole page; examples are run on a lake that is written now."""
    sys.path.insert(0, str(ROOT))
    from tests.graph.graph_lakes import shop

    with tempfile.TemporaryDirectory() as folder:
        lake = shop().write(Path(folder) / "lake")
        return HEAD + "".join(section(name, example, lake) for name, example in EXAMPLES.items())


def section(name: str, examples: str, lake: Path) -> str:
    """Help and examples of one command."""
    help_text = run([name, "--help"], lake)[1]
    shown = "".join(shown_run(example, lake) for example in examples.splitlines())
    return f"\n## `colline {name}`\n\n```text\n{help_text}\n```\n{shown}"


def shown_run(example: str, lake: Path) -> str:
    """An example and what it printed."""
    code, output = run(shlex.split(example), lake)
    ends = f"\n(ends with {code})" if code else ""
    return f"\n```text\n$ colline {example}\n{output}{ends}\n```\n"


def run(arguments: list[str], lake: Path) -> tuple[int, str]:
    """Exit code and output of a command on that lake; moments of publishing are made the same for every run."""
    from click.testing import CliRunner

    from colline.cli import cli

    result = CliRunner().invoke(
        cli, arguments, prog_name="colline", terminal_width=100, env={"COLLINE_LAKE": str(lake)}
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, re.sub(r"as of 2\S+Z", "as of 2026-01-31T12:00:00Z", result.stdout).rstrip()


def main() -> int:
    """Write the page, or say that it is old."""
    found = page()
    if "--check" in sys.argv:
        old = not TARGET.exists() or TARGET.read_text(encoding="utf-8") != found
        if old:
            print("docs/cli.md is old: run `make cli-docs`", file=sys.stderr)
        return int(old)
    TARGET.write_text(found, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
