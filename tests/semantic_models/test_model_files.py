"""TMDL folders and model.bim: the same model from both, and what happens to broken and hostile files."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from colline.semantic_models.json_model import json_model
from colline.semantic_models.model_lineage import model_lineage
from colline.semantic_models.partition_sources import PartitionSources
from colline.semantic_models.power_query.m_evaluation import MAX_STEPS
from colline.semantic_models.semantic_model import NOWHERE, FilePosition, ModelProblem, SemanticModel
from colline.semantic_models.source_address import AddressesOnly
from colline.semantic_models.tmdl.tmdl_model import tmdl_model
from colline.trace.lineage_text import effect_label

ROOT = Path(__file__).parents[1] / "cases" / "semantic_models"
FILES = {
    path.relative_to(ROOT / "shop").as_posix(): path.read_text("utf-8") for path in (ROOT / "shop").rglob("*.tmdl")
}
BIM = (ROOT / "shop.bim").read_text("utf-8")


def without_positions(value: Any) -> Any:
    """The value with every file position replaced."""
    if isinstance(value, FilePosition):
        return NOWHERE
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: without_positions(getattr(value, each.name)) for each in fields(value)})
    if isinstance(value, tuple):
        return tuple(map(without_positions, value))
    return {key: without_positions(item) for key, item in value.items()} if hasattr(value, "items") else value


def read_tmdl(text: str) -> tuple[SemanticModel, list[ModelProblem]]:
    return tmdl_model("m", {"a.tmdl": text})


def test_tmdl_and_bim_give_the_same_model() -> None:
    from_tmdl, tmdl_problems = tmdl_model("shop", FILES)
    from_json, json_problems = json_model("shop", BIM)
    assert (tmdl_problems, json_problems) == ([], [])
    assert without_positions(from_tmdl) == without_positions(from_json)


def test_windows_line_ends_byte_order_marks_and_spaces_make_no_difference() -> None:
    changed = {name: "\ufeff" + text.replace("\t", "    ").replace("\n", "\r\n") for name, text in FILES.items()}
    expected, _ = tmdl_model("shop", FILES)
    found, problems = tmdl_model("shop", changed)
    assert problems == []
    text = repr(without_positions(found)).replace("\\t", "    ")
    assert text == repr(without_positions(expected)).replace("\\t", "    ")


def test_expressions_know_their_file_and_line() -> None:
    model, _ = tmdl_model("shop", FILES)
    sales = next(table for table in model.tables if table.name == "Sales Facts")
    lines = (FILES["tables/Sales Facts.tmdl"]).splitlines()
    for measure in sales.measures:
        position = measure.expression.position
        first = measure.expression.text.splitlines()[0]
        assert position.file == "tables/Sales Facts.tmdl"
        assert first in lines[position.line - 1]


def test_a_script_declares_the_same_objects() -> None:
    body = "\n".join(f"\t{line}" for line in FILES["tables/Store.tmdl"].splitlines())
    found, problems = read_tmdl(f"createOrReplace\n\n{body}\n")
    assert problems == []
    assert [table.name for table in found.tables] == ["Store", "Group"]


def test_broken_lines_are_reported_and_the_rest_is_read() -> None:
    text = "table A\n\tcolumn X\n\t\tdataType: int64\n\n\t=== what\n\t\tdeeper\n\tcolumn Y Z\n\t\tsourceColumn: y\n"
    found, problems = read_tmdl(text)
    assert [column.name for column in found.tables[0].columns] == ["X", "Y"]
    assert [(each.position.line, each.message) for each in problems] == [
        (5, "expected an object such as `measure Name = …`, or a property such as `isHidden`"),
        (7, "expected `=` or the end of the line after the name `Y`"),
    ]


def test_an_open_fence_is_reported_with_its_line() -> None:
    found, problems = read_tmdl("table A\n\tmeasure M = ```\n\t\t\tSUM(A[X])\n")
    assert [(each.position.line, each.message[:14]) for each in problems] == [(2, "expected ``` a")]
    assert found.tables[0].measures[0].expression.text == "SUM(A[X])"


def test_a_relationship_without_columns_is_reported() -> None:
    _, problems = read_tmdl("relationship r\n\tfromColumn: A.X\n")
    assert [each.position.line for each in problems] == [1]


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("{\n  'a': 1}", 2, "expected JSON: Expecting property name"),
        ('{"name": "x"}', 1, "expected an object with the key `model`"),
        ("[" * 100_000, 1, "expected JSON: nested too deeply"),
        ('{"model": {"tables": [{"columns": []}]}}', 1, "expected a name in `tables` of the model"),
    ],
)
def test_broken_bim_is_reported(text: str, line: int, expected: str) -> None:
    _, [problem] = json_model("m", text)
    assert problem.position == FilePosition("model.bim", line)
    assert problem.message.startswith(expected)


def test_a_bim_inside_of_a_script_is_read() -> None:
    script = {"createOrReplace": {"object": {"database": "x"}, "database": json.loads(BIM)}}
    found, problems = json_model("shop", json.dumps(script))
    assert (len(found.tables), problems) == (3, [])


def lineage_of(model: SemanticModel) -> Any:
    return model_lineage(model, "powerbi", PartitionSources(model, AddressesOnly()).read)


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 10_000 + "1" + ")" * 10_000,
        "VAR a = " * 10_000 + "1",
        "IF(1, " * 5_000 + "1" + ")" * 5_000,
        "1 + " * 200_000 + "1",
        "SUM(A[X]) + " * 20_000 + "0",
        "{" * 5_000,
        '"' + "a" * 10_000_000,
        "[" + "x" * 10_000_000,
        "'" * 9_999,
        "/*" * 100_000,
    ],
    ids=[
        "brackets",
        "variables",
        "calls",
        "chain",
        "columns",
        "braces",
        "10 MB text",
        "10 MB name",
        "quotes",
        "comments",
    ],
)
def test_hostile_dax_ends_with_a_result_or_a_report(expression: str) -> None:
    found, _ = read_tmdl(f"table A\n\tcolumn X\n\tmeasure M = {expression}\n\tmeasure Good = SUM(A[X])\n")
    lineage = lineage_of(found)
    fields_found = lineage.tables[0].lineage.fields
    assert "Good" in fields_found
    assert lineage.gaps or fields_found["M"] or re.fullmatch(r"[1 +]+", expression)


@pytest.mark.parametrize(
    "expression",
    ["(" * 10_000, "each " * 10_000 + "1", "{" * 10_000, "[a=" * 10_000, "let a = " * 10_000, '"' + "x" * 10_000_000],
    ids=["brackets", "each", "lists", "records", "let", "10 MB text"],
)
def test_hostile_m_is_reported(expression: str) -> None:
    found, _ = read_tmdl(f"table A\n\tcolumn X\n\tpartition P = m\n\t\tsource = {expression}\n")
    assert [each.message[:30] for each in lineage_of(found).gaps] == ["M that could not be read: expe"] or lineage_of(
        found
    ).gaps[0].message.startswith("M that could not be read: 10,")


def test_functions_and_shared_expressions_that_call_each_other_end() -> None:
    text = (
        "expression F = (x) => G(x)\nexpression G = (x) => F(x)\nexpression A = B\nexpression B = A\n"
        "table T\n\tcolumn X\n\tpartition P = m\n\t\tsource = F(A)\n"
    )
    assert lineage_of(read_tmdl(text)[0]).tables[0].lineage.fields == {"X": ()}


def test_measures_in_a_cycle_and_in_a_long_chain_end() -> None:
    chain = "".join(f"\tmeasure M{n} = CALCULATE([M{n + 1}], A[X] = 1)\n" for n in range(3000))
    cycle = "\tmeasure C1 = CALCULATE([C2], A[X] = 1)\n\tmeasure C2 = CALCULATE([C1], A[X] = 2)\n"
    found, _ = read_tmdl(f"table A\n\tcolumn X\n{chain}\tmeasure M3000 = SUM(A[X])\n{cycle}")
    fields_found = lineage_of(found).tables[0].lineage.fields
    assert [entry.column.field for entry in fields_found["M0"]] == ["M1", "X"]
    assert [entry.column.field for entry in fields_found["C1"]] == ["C2", "X"]


def lineage_lines(text: str) -> list[str]:
    """The lineage of a model in TMDL: `Table.field <- dataset.column effect`."""
    model, problems = read_tmdl(text)
    found = model_lineage(model, "powerbi", PartitionSources(model, AddressesOnly()).read)
    lines = [f"problem: {each.position.line}: {each.message}" for each in (*problems, *found.gaps)]
    for table in found.tables:
        for field, entries in table.lineage.fields.items():
            for entry in entries:
                source = f"{entry.column.dataset.name}.{entry.column.field}"
                lines += (
                    f"{table.table.name}.{field} <- {source} {effect_label(each)}" for each in entry.transformations
                )
    return sorted(lines)


STOCK = """\
table Stock
	column sku
		sourceColumn: sku
	refreshPolicy
		policyType: basic
		sourceExpression =
				let
					Source = Sql.Database("srv", "shop"),
					Rows = Source{[Schema="dbo",Item="Stock"]}[Data]
				in
					Rows
	partition Q1 = policyRange
		mode: import
		source
			start: 2024-01-01T00:00:00
	partition Q2 = policyRange
		mode: import
"""


def test_partitions_of_a_refresh_policy_read_its_expression() -> None:
    assert lineage_lines(STOCK) == ["Stock.sku <- shop.dbo.Stock.sku direct/identity"]


def test_a_refresh_policy_of_a_bim_file_is_read() -> None:
    source = 'let Source = Sql.Database("srv", "shop"){[Schema="dbo",Item="Stock"]}[Data] in Source'
    table = {
        "name": "Stock",
        "columns": [{"name": "sku", "sourceColumn": "sku"}],
        "refreshPolicy": {"policyType": "basic", "sourceExpression": source},
        "partitions": [{"name": "Q1", "source": {"type": "policyRange", "start": "2024-01-01T00:00:00"}}],
    }
    model, problems = json_model("m", json.dumps({"model": {"tables": [table]}}))
    assert problems == []
    assert [each.expression.text for each in model.tables[0].partitions] == [source]


def test_every_partition_of_a_table_is_a_source() -> None:
    partition = '\tpartition {0} = m\n\t\tsource = Sql.Database("srv", "shop"){{[Schema="dbo",Item="{0}"]}}[Data]\n'
    text = "table T\n\tcolumn a\n\t\tsourceColumn: a\n" + partition.format("Old") + partition.format("New")
    assert lineage_lines(text) == [
        "T.a <- shop.dbo.New.a direct/identity",
        "T.a <- shop.dbo.Old.a direct/identity",
    ]


MEASURES = """\
table T
	column Amount
	column Currency
	column Goal
	column Note
	measure Total = SUM(T[Amount])
		formatStringDefinition = IF(SELECTEDVALUE(T[Currency]) = "EUR", "0 €", "0 $")
		kpi
			targetExpression = SUM(T[Goal])
			statusGraphic: Shapes
		detailRowsDefinition =
				SELECTCOLUMNS(T, "Note", T[Note])
"""


def test_the_format_kpi_and_detail_rows_of_a_measure_are_conditions() -> None:
    assert lineage_lines(MEASURES) == [
        "T.Total <- m/T.Amount direct/aggregation",
        "T.Total <- m/T.Currency indirect/conditional",
        "T.Total <- m/T.Goal indirect/conditional",
        "T.Total <- m/T.Note indirect/conditional",
    ]


def test_the_details_of_a_measure_are_the_same_in_bim() -> None:
    measure = {
        "name": "Total",
        "expression": "SUM(T[Amount])",
        "formatStringDefinition": {"expression": 'IF(SELECTEDVALUE(T[Currency]) = "EUR", "0 €", "0 $")'},
        "kpi": {"targetExpression": ["SUM(T[Goal])"], "statusGraphic": "Shapes"},
        "detailRowsDefinition": {"expression": 'SELECTCOLUMNS(T, "Note", T[Note])'},
    }
    columns = [{"name": name} for name in ("Amount", "Currency", "Goal", "Note")]
    bim = {"model": {"tables": [{"name": "T", "columns": columns, "measures": [measure]}]}}
    from_json, _ = json_model("m", json.dumps(bim))
    from_tmdl, _ = read_tmdl(MEASURES)
    assert without_positions(from_json.tables[0].measures) == without_positions(from_tmdl.tables[0].measures)


def test_quoted_names_in_properties_are_unquoted_and_unknown_ones_are_reported() -> None:
    text = (
        "table T\n\tcolumn 'It''s A'\n\t\tsortByColumn: 'It''s B'\n"
        "\tcolumn 'It''s B'\n\tcolumn C\n\t\tsortByColumn: Gone\n"
        "\thierarchy H\n\t\tlevel One\n\t\t\tcolumn: 'It''s A'\n\t\tlevel Two\n\t\t\tcolumn: Lost\n"
        "relationship r\n\tfromColumn: T.C\n\ttoColumn: U.Key\n"
    )
    assert lineage_lines(text) == [
        "T.H <- m/T.It's A direct/identity",
        "T.It's A <- m/T.It's B indirect/sort",
        "problem: 12: a relationship: the model has no 'U'[Key]",
        "problem: 5: the model has no 'T'[Gone]",
        "problem: 7: the model has no 'T'[Lost]",
    ]


def test_line_separators_of_unicode_are_part_of_a_line() -> None:
    model, problems = read_tmdl('table T\n\tmeasure A = "one\u2028two\x85three"\n\tcolumn B\n')
    assert problems == []
    assert model.tables[0].measures[0].expression.text == '"one\u2028two\x85three"'


def test_the_limit_of_steps_counts_for_each_partition() -> None:
    table = "table {0}\n\tcolumn a\n\t\tsourceColumn: a\n\tpartition p = m\n\t\tsource = {1}\n"
    costly = "() => " + " & ".join(['"x"'] * (MAX_STEPS + 1))
    small = 'Sql.Database("srv", "shop"){[Schema="dbo",Item="Stock"]}[Data]'
    lines = lineage_lines(table.format("Bad", costly) + table.format("Good", small))
    assert lines == [
        "Good.a <- shop.dbo.Stock.a direct/identity",
        "problem: 5: M that could not be read: more than 50,000 steps",
    ]
