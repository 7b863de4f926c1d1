"""Every question in every output format: narrow and wide terminals, CSV, Markdown."""

from __future__ import annotations

import csv
import inspect
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from colline.cli import cli
from colline.graph import Answer, Lineage, open_lake
from colline.graph.render.text import main_table, to_csv, to_text
from colline.graph.rows import ColumnIdentity
from colline.graph.traversal.bfs import exist_at
from tests.graph.graph_lakes import LakeWriter

QUESTIONS: dict[str, tuple[str, Callable[[Lineage], Answer]]] = {
    "find": ("find email", lambda x: x.find("email")),
    "upstream": ("upstream kpi.revenue --since 2026-01-01", lambda x: x.upstream("kpi.revenue", since="2026-01-01")),
    "downstream": ("downstream bronze.customers.email", lambda x: x.downstream("bronze.customers.email")),
    "tables": ("upstream kpi.revenue --grain table", lambda x: x.upstream("kpi.revenue", grain="table")),
    "jobs": ("upstream kpi.revenue --grain job", lambda x: x.upstream("kpi.revenue", grain="job")),
    "affected tables": ("impact silver.customers.region --grain table",
                        lambda x: x.impact("silver.customers.region", grain="table")),
    "affected jobs": ("impact silver.customers.region --grain job",
                      lambda x: x.impact("silver.customers.region", grain="job")),
    "personal data by table": ("pii --tag PII --grain table", lambda x: x.pii(tag="PII", grain="table")),
    "droppable tables": ("droppable silver.customers --grain table",
                         lambda x: x.droppable("silver.customers", grain="table")),
    "unused tables": ("unused --grain table", lambda x: x.unused(grain="table")),
    "paths": ("paths bronze.orders.amount kpi.revenue", lambda x: x.paths("bronze.orders.amount", "kpi.revenue")),
    "impact": ("impact silver.customers.region", lambda x: x.impact("silver.customers.region")),
    "pii": (
        "pii bronze.customers.email --allowed-zone silver.*",
        lambda x: x.pii("bronze.customers.email", allowed_zones=["silver.*"]),
    ),
    "droppable": ("droppable silver.customers.*", lambda x: x.droppable("silver.customers.*")),
    "unused": ("unused", lambda x: x.unused()),
    "writers": ("writers daily_revenue.total", lambda x: x.writers("daily_revenue.total")),
    "compare": ("compare contacts.email contacts.key", lambda x: x.compare("contacts.email", "contacts.key")),
    "diff": ("diff --from 2026-01-02", lambda x: x.diff("2026-01-02")),
    "coverage": ("coverage", lambda x: x.coverage()),
    "roots": ("columns --roots", lambda x: x.columns(roots=True)),
    "leaves": ("columns --leaves", lambda x: x.columns(leaves=True)),
    "top": ("columns --top 9", lambda x: x.columns(top=9)),
}  # fmt: skip


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("name", QUESTIONS)
def test_table_fits_the_terminal_and_does_not_break_names(lineage: Lineage, name: str, width: int) -> None:
    answer = QUESTIONS[name][1](lineage)
    lines = to_text(answer, width=width).splitlines()[1:]  # the first is the verdict, a sentence that may wrap
    assert lines or not answer.main_rows
    assert len(main_table(answer)[1]) == len(answer.main_rows)
    assert [line for line in lines if len(line) > width and not line.startswith("unknown: ")] == []
    words = {word for line in lines for word in line.split()}
    labels = {row["label"] for row in answer.main_rows if isinstance(row, ColumnIdentity)}
    assert labels <= words


@pytest.mark.parametrize("name", QUESTIONS)
def test_csv_has_every_row_and_markdown_every_table(shop_lake: Path, lineage: Lineage, name: str) -> None:
    command, method = QUESTIONS[name]
    answer = method(lineage)
    outputs = []
    for shape in ("--csv", "--markdown"):
        done = CliRunner().invoke(cli, [*command.split(), shape, "--lake", str(shop_lake)])
        assert done.exit_code == (0 if answer.holds else 1), done.output
        outputs.append(done.stdout)
    rows = list(csv.DictReader(io.StringIO(outputs[0])))
    assert len(rows) == len(answer.main_rows)
    assert outputs[1].startswith("**")
    blocks = [block.splitlines() for block in outputs[1].split("\n\n") if block.startswith("|")]
    assert len(rows) + 2 in map(len, blocks) or not rows
    for block in blocks:
        assert len({line.replace("\\|", "").count("|") for line in block if line.startswith("|")}) == 1
        assert "" not in [header.strip() for header in block[0].strip("|").split("|")]


@pytest.mark.parametrize("name", QUESTIONS)
def test_csv_has_every_column_of_the_table(lineage: Lineage, name: str) -> None:
    answer = QUESTIONS[name][1](lineage)
    headers, cells = main_table(answer)
    columns = next(csv.reader(io.StringIO(to_csv(answer))))
    assert not cells or {header.replace(" ", "_") for header in headers} <= set(columns)
    assert len(set(columns)) == len(columns) and "" not in columns


@pytest.mark.parametrize("name", ["find", "upstream", "downstream", "impact", "pii", "unused", "diff", "roots", "top"])
def test_limit_prints_the_number_of_omitted_rows(shop_lake: Path, lineage: Lineage, name: str) -> None:
    command, method = QUESTIONS[name]
    every = len(method(lineage).main_rows)
    assert every > 1
    done = CliRunner().invoke(cli, [*command.split(), "--limit", "1", "--lake", str(shop_lake)])
    assert f"{every - 1:,} more rows were left out; --limit 0 shows all" in done.stdout


def test_wide_characters_are_not_truncated(tmp_path: Path) -> None:
    lake = LakeWriter()
    lake.edge("银.订单.金额", "金.每日收入.总额", "每日收入", "AGGREGATION", description="sum(金额)")
    answer = open_lake(lake.write(tmp_path / "lake")).upstream("总额")
    for width in (30, 80):
        text = to_text(answer, width=width)
        assert "银.订单.金额" in text and "每日收入" in text


def test_diff_lists_and_counts_datasets_first(tmp_path: Path) -> None:
    lake = LakeWriter()
    lake.edge("a.t.x", "b.t.x", "copy")
    answer = open_lake(lake.write(tmp_path / "lake")).diff("2000-01-01")
    assert answer.totals["datasets"] == 2 and "2 datasets" in answer.verdict
    assert [row["kind"] for row in answer.added] == ["dataset", "dataset", "column", "column", "edge"]


@pytest.mark.parametrize("name", [name for name in QUESTIONS if name != "diff"])
def test_every_question_takes_a_time_in_the_past(shop_lake: Path, lineage: Lineage, name: str) -> None:
    at = "2026-01-03"
    done = CliRunner().invoke(cli, [*QUESTIONS[name][0].split(), "--as-of", at, "--json", "--lake", str(shop_lake)])
    answer = json.loads(done.stdout)
    assert answer["as_of"] == f"{at}T00:00:00Z"
    view = lineage.view()
    nodes = np.arange(view.arrays.meta["nodes"])
    then = {view.names.label(n) for n in nodes[exist_at(view.arrays, nodes, view.moment(at))].tolist()}
    rows = answer.get("columns") or answer.get("landings") or answer.get("rows") or []
    assert {row["label"] for row in rows if "field" in row} <= then


def test_landing_lists_the_columns_on_its_path(lineage: Lineage) -> None:
    found = {row["label"]: row["through"] for row in lineage.pii("bronze.customers.email").landings}
    assert found["exports.mailing.address"][0] == "silver.customers.email"
    assert found["silver.customers.email"] == []


def test_reference_page_lists_every_question_and_argument() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "answers.md").read_text("utf-8")
    rows = {name: row for row in page.splitlines() if row.startswith("| `") for name in re.findall(r"`(\w+)\(", row)}
    methods = {name: method for name, method in inspect.getmembers(Lineage, inspect.isfunction) if name[0] != "_"}
    assert rows.keys() == methods.keys() - {"close", "complete", "complete_table", "picture", "view"}
    common = {"self", "as_of", "limit", "cursor", "how"}
    for name, row in rows.items():
        missing = inspect.signature(methods[name]).parameters.keys() - common - set(re.findall(r"\w+", row))
        assert missing == set(), name
