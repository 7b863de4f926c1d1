"""Folders of SQL files: views that read each other, procedures, descriptions, broken statements."""

from __future__ import annotations

from pathlib import Path

import pytest

from colline.errors import SettingError
from colline.importers.definitions import Definitions, ImportProblem
from colline.importers.formats import ImportOptions, read_definitions
from colline.importers.known_tables import NoTables
from tests.importers.definition_lines import job_lines, job_named

PROJECT = Path(__file__).parents[1] / "cases" / "sql_project"


@pytest.fixture(scope="module")
def project() -> Definitions:
    return read_definitions(PROJECT, NoTables(), ImportOptions(dialect="postgres")).definitions


def test_star_over_a_view_of_a_later_file_is_resolved(project: Definitions) -> None:
    assert job_lines(job_named(project, "views/a_totals.sql")) == [
        "shop.totals.customer_id <- shop.paid_orders.customer_id direct/identity",
        "shop.totals.total <- shop.paid_orders.total direct/identity",
    ]


def test_a_procedure_is_a_job_of_its_own(project: Definitions) -> None:
    refresh = job_named(project, "shop.refresh")
    assert (refresh.job_type, refresh.path) == ("PROCEDURE", "procedures.sql")
    assert job_lines(refresh) == [
        "shop.history.customer_id <- shop.totals.customer_id direct/identity",
        "shop.history.total <- shop.totals.total direct/identity",
        "shop.history.* <- shop.history.customer_id indirect/filter",
    ]


def test_ddl_describes_a_table(project: Definitions) -> None:
    [orders] = project.datasets
    assert orders.description == "Orders as the shop writes them."
    assert [(column.name, column.type, column.description) for column in orders.columns] == [
        ("id", "int", ""),
        ("customer_id", "int", ""),
        ("amount", "decimal(10, 2)", "With tax."),
        ("status", "varchar(20)", ""),
    ]


def test_what_cannot_be_read_has_a_file_and_a_line(project: Definitions) -> None:
    [dynamic, broken] = project.problems
    assert str(dynamic) == "procedures.sql:5: shop.refresh: runs SQL text that is built at run time"
    assert str(broken).startswith("procedures.sql:10: not understood")
    assert [step.why for step in job_named(project, "shop.refresh").opaque] == [
        "runs SQL text that is built at run time"
    ]


def test_a_problem_is_written_like_a_compiler_writes_it() -> None:
    assert str(ImportProblem("a.sql", 3, "not understood")) == "a.sql:3: not understood"


def test_one_file_can_be_imported_alone() -> None:
    found = read_definitions(PROJECT / "views" / "b_paid.sql", NoTables(), ImportOptions(dialect="postgres"))
    assert [job.name for job in found.definitions.jobs] == ["b_paid.sql"]
    assert found.resolutions.unknown == {"shop.orders": None}


def test_an_unknown_dialect_is_an_error() -> None:
    with pytest.raises(SettingError, match="there is no SQL dialect `klingon`"):
        read_definitions(PROJECT, NoTables(), ImportOptions(dialect="klingon"))


def test_a_file_that_is_not_text_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_bytes(b"create view v as select 1 as x;\n\xff\xfe\x00")
    (tmp_path / "b.sql").write_text("create view w as select 1 as x", "utf-8")
    found = read_definitions(tmp_path, NoTables(), ImportOptions())
    assert ("a.sql", 2, "expected UTF-8 text") in [
        (each.file, each.line, each.message) for each in found.definitions.problems
    ]
    assert job_named(found.definitions, "b.sql")


def test_sql_in_utf_16_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_bytes("create view v as select 1 as x".encode("utf-16"))
    assert job_named(read_definitions(tmp_path, NoTables(), ImportOptions()).definitions, "a.sql").outputs
