"""Query commands: the same answers as the methods, exit codes, output formats, completion, the pager."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from colline.cli import COMMANDS, cli
from colline.errors import CollineError
from colline.graph import Lineage
from tests.graph.graph_lakes import LakeWriter

ROOT = Path(__file__).resolve().parents[3]


def run(lake: Path, *arguments: str, text: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(cli, [*arguments, "--lake", str(lake)], input=text)
    if isinstance(result.exception, CollineError):
        return result.exception.exit_code, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout


def test_cli_page_is_up_to_date() -> None:
    from tools import cli_docs

    assert cli_docs.page() == (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert set(cli_docs.EXAMPLES) <= set(COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "method"),
    [
        (["find", "email"], lambda x: x.find("email")),
        (["upstream", "kpi.revenue", "--indirect", "--depth", "2"],
         lambda x: x.upstream("kpi.revenue", indirect=True, depth=2)),
        (["downstream", "bronze.orders.amount", "--grain", "table"],
         lambda x: x.downstream("bronze.orders.amount", grain="table")),
        (["paths", "bronze.orders.amount", "kpi.revenue"], lambda x: x.paths("bronze.orders.amount", "kpi.revenue")),
        (["impact", "silver.customers.region", "--change", "type"],
         lambda x: x.impact("silver.customers.region", change="type")),
        (["pii", "--tag", "PII"], lambda x: x.pii(tag="PII")),
        (["droppable", "silver.customers.*"], lambda x: x.droppable("silver.customers.*")),
        (["unused", "--layer", "gold"], lambda x: x.unused(layer="gold")),
        (["writers", "daily_revenue.total"], lambda x: x.writers("daily_revenue.total")),
        (["compare", "contacts.email", "contacts.key"], lambda x: x.compare("contacts.email", "contacts.key")),
        (["diff"], lambda x: x.diff()),
        (["diff", "--from", "2026-01-02", "--to", "2026-01-08"], lambda x: x.diff("2026-01-02", "2026-01-08")),
        (["coverage"], lambda x: x.coverage()),
        (["columns", "--roots"], lambda x: x.columns(roots=True)),
        (["columns", "--leaves"], lambda x: x.columns(leaves=True)),
        (["columns", "--top", "2"], lambda x: x.columns(top=2)),
        (["upstream", "contacts.fax", "--as-of", "2026-01-03"],
         lambda x: x.upstream("contacts.fax", as_of="2026-01-03")),
    ],
)  # fmt: skip
def test_json_output_equals_the_answer_of_the_method(
    shop_lake: Path, lineage: Lineage, arguments: list[str], method: Callable[[Lineage], Any]
) -> None:
    answer = method(lineage)
    code, output = run(shop_lake, *arguments, "--json")
    assert json.loads(output) == json.loads(json.dumps(answer.to_dict()))
    assert code == (0 if answer.holds else 1)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["upstream", "kpi.revenue"], 0, "3 columns"),
        (["droppable", "silver.customers.nickname"], 0, "yes, with medium confidence: "),
        (["droppable", "silver.customers.email"], 1, "no: "),
        (["pii", "bronze.customers.email", "--allowed-zone", "gold"], 1, "violation"),
        (["impact", "silver.customers.nickname"], 0, "affects nothing"),
        (["impact", "silver.customers.email"], 1, "breaks 1 job"),
        (["upstream", "email"], 2, "fits 3 columns"),
        (["upstream", "nothing.like.this"], 2, "no column is called"),
        (["upstream", "kpi.revenue", "--as-of", "yesterdayish"], 2, "is not a time"),
        (["upstream", "kpi.revenue", "--as-of", "2020-01-01"], 2, "no lineage recorded before"),
        (["upstream", "kpi.revenue", "--json", "--csv"], 2, ""),
        (["coverage", "--by", "job", "--json"], 2, ""),
        (["pii"], 2, ""),
        (["impact"], 2, ""),
        (["upstream", "kpi.revenue", "--depth", "0"], 2, ""),
    ],
)
def test_exit_codes(shop_lake: Path, arguments: list[str], code: int, message: str) -> None:
    found, output = run(shop_lake, *arguments)
    assert found == code and message in output


def test_missing_lake_exits_with_3_and_prints_a_hint(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "colline", "find", "x", "--lake", str(tmp_path / "none")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error: no lake at") and "hint:" in done.stderr


def test_ctrl_c_exits_with_130(shop_lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_interrupt(_: str) -> Lineage:
        raise KeyboardInterrupt

    monkeypatch.setattr("colline.graph.open_lake", raise_interrupt)
    done = CliRunner().invoke(cli, ["columns", "--top", "9", "--lake", str(shop_lake)])
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "stopped\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437", "utf-8"])
def test_terminals_without_unicode_get_other_characters(tmp_path: Path, encoding: str) -> None:
    lake = LakeWriter()
    lake.edge("bronze.sales.betrag", "gold.sales.名前", "load sales", "AGGREGATION")
    root = str(lake.write(tmp_path / "a lake"))

    def output_of(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "colline", *arguments, "--lake", root], capture_output=True, check=True,
            env={**os.environ, "PYTHONIOENCODING": encoding},
        )  # fmt: skip
        return done.stdout.decode("utf-8" if encoding == "ascii" else encoding)  # click writes UTF-8 on ASCII

    text = output_of("paths", "bronze.sales.betrag", "gold.sales.名前")
    if encoding in ("ascii", "utf-8"):
        assert "bronze.sales.betrag → gold.sales.名前" in text
    else:
        assert "bronze.sales.betrag -> gold.sales.\\u540d\\u524d" in text
    assert "load sales" in text
    [column] = json.loads(output_of("downstream", "bronze.sales.betrag", "--json"))["columns"]
    assert column["label"] == "gold.sales.名前"


def test_csv_and_markdown(shop_lake: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run(shop_lake, "downstream", "bronze.customers.email", "--csv")[1])))
    assert [row["label"] for row in rows][-1] == "exports.mailing.address"
    text = run(shop_lake, "impact", "silver.customers.region", "--markdown")[1]
    assert (
        text.startswith("**dropping silver.customers.region breaks 1 job")
        and "| daily\\_revenue | finance | yes | 1 |" in text
    )


def test_names_are_read_from_standard_input_and_schemas_from_files(shop_lake: Path, tmp_path: Path) -> None:
    code, output = run(shop_lake, "droppable", "-", text="silver.customers.nickname\r\n\nkpi.revenue\n")
    assert code == 0 and "2 of 2 columns can be dropped" in output
    old, new = tmp_path / "old.sql", tmp_path / "new schema.sql"
    old.write_text("create table silver.customers (id string, email string)")
    new.write_text("create table silver.customers (id string)\r\n")
    code, output = run(shop_lake, "impact", "--diff", str(old), "--diff", str(new))
    assert code == 1 and "dropping silver.customers.email breaks 1 job" in output


def test_number_of_omitted_rows_is_printed(shop_lake: Path) -> None:
    assert "2 more rows were left out" in run(shop_lake, "upstream", "kpi.revenue", "--limit", "1")[1]


def test_commands_and_column_names_are_completed(shop_lake: Path) -> None:
    def complete(words: str) -> list[str]:
        env = os.environ | {"_COLLINE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COLLINE_LAKE": str(shop_lake)}
        env["COMP_CWORD"] = str(len(words.split(" ")) - 1)
        done = subprocess.run(
            [str(Path(sys.executable).parent / "colline")], env=env, capture_output=True, text=True, check=True
        )
        return [line.partition(",")[2] for line in done.stdout.splitlines()]

    assert complete("colline upst") == ["upstream"]
    assert complete("colline upstream gold.daily_revenue.t") == ["gold.daily_revenue.total"]
    assert "silver.customers.email" in complete("colline droppable silver.customers.")
    assert "silver.customers.email_hash" in complete("colline pii email_h")
    assert "gold.daily_revenue.total" in complete("colline upstream Gold.daily_r")


def on_terminal(lake: Path, *arguments: str, **env: str) -> str:
    """The output of the command on a pseudo terminal."""
    ours, theirs = pty.openpty()
    plain = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "PAGER", "LESS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "colline", *arguments, "--lake", str(lake)],
        stdin=theirs, stdout=theirs, stderr=theirs, env=plain | {"TERM": "xterm", "LINES": "50", **env},
    )  # fmt: skip
    os.close(theirs)
    out = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    process.wait(60)
    os.close(ours)
    return out.decode()


def test_colors_appear_on_a_terminal_only_and_never_with_no_color(shop_lake: Path) -> None:
    arguments = ("pii", "bronze.customers.email")
    assert "\x1b[31mclear" in on_terminal(shop_lake, *arguments)
    assert "\x1b[31m" not in on_terminal(shop_lake, *arguments, NO_COLOR="1")
    assert "\x1b[" not in run(shop_lake, *arguments)[1]


def test_long_answer_is_shown_in_the_pager(shop_lake: Path, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\ncat\n")
    pager.chmod(0o755)
    assert "PAGED" in on_terminal(shop_lake, "columns", "--top", "50", PAGER=str(pager), LINES="10")
    assert "PAGED" not in on_terminal(shop_lake, "columns", "--top", "50", PAGER=str(pager), LINES="60")


def test_diagram_format_follows_the_file_extension(shop_lake: Path, tmp_path: Path) -> None:
    target = tmp_path / "a b.svg"
    assert run(shop_lake, "graph", "kpi.revenue", "-o", str(target))[0] == 0
    assert target.read_text().startswith("<svg")
    assert run(shop_lake, "graph", "kpi.revenue")[1].startswith("flowchart LR\n")
    assert run(shop_lake, "graph", "kpi.revenue", "-o", str(tmp_path / "x.bmp"))[0] == 2
    code, output = run(shop_lake, "graph", "kpi.revenue", "-o", str(tmp_path / "none" / "x.svg"))
    assert code == 2 and "cannot write" in output
