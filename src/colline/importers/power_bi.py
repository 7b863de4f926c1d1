"""Semantic models and reports of Power BI and Fabric: TMDL folders, model.bim, PBIP projects, PBIR reports."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from colline.importers import POWER_BI
from colline.importers.definitions import (
    DefinedColumn,
    DefinedDataset,
    DefinedInput,
    DefinedJob,
    DefinedOutput,
    Definitions,
    ImportProblem,
)
from colline.importers.file_tree import FileTree
from colline.importers.table_resolution import TableResolver
from colline.naming.dataset import DatasetKind
from colline.semantic_models.json_model import json_model, load_json
from colline.semantic_models.model_lineage import ModelLineage, TableLineage, model_lineage
from colline.semantic_models.partition_sources import PartitionSources
from colline.semantic_models.reports.pbir_files import pbir_report
from colline.semantic_models.reports.report_definition import ReportDefinition
from colline.semantic_models.reports.report_lineage import PageLineage, ReportLineage, report_lineage
from colline.semantic_models.semantic_model import ModelProblem, SemanticModel
from colline.semantic_models.tmdl.tmdl_model import tmdl_model
from colline.trace import DatasetName, OpaqueStep

INTEGRATION = "POWER_BI"
MODEL, REPORT = "SEMANTIC_MODEL", "REPORT"
_MODEL_SUFFIXES = (".semanticmodel", ".dataset")


@dataclass(frozen=True)
class ModelFolder:
    """A semantic model that was read, with the folder of its files."""

    folder: str
    model: SemanticModel
    problems: tuple[ModelProblem, ...]


def read_power_bi(tree: FileTree, resolver: TableResolver, namespace: str = POWER_BI) -> Definitions:
    """The models and reports of a folder, as jobs."""
    models = list(_models(tree))
    reports = list(_reports(tree))
    jobs: list[DefinedJob] = []
    problems: list[ImportProblem] = []
    for folder in models:
        lineage = model_lineage(folder.model, namespace, PartitionSources(folder.model, resolver).read)
        jobs += _table_jobs(folder, lineage, namespace)
        problems += _import_problems((*folder.problems, *lineage.gaps))
    for folder_name, report, report_problems in reports:
        pages = report_lineage(report, _model_of(folder_name, report, models), namespace)
        jobs += _page_jobs(pages, namespace)
        problems += _import_problems((*report_problems, *pages.gaps))
    return Definitions(tuple(jobs), problems=tuple(problems), files=len(models) + len(reports))


def _import_problems(problems: tuple[ModelProblem, ...]) -> Iterator[ImportProblem]:
    return (ImportProblem(each.position.file, each.position.line, each.message) for each in problems)


# models


def _models(tree: FileTree) -> Iterator[ModelFolder]:
    folders: dict[str, list[str]] = {}
    for file in tree.ending(".tmdl"):
        folders.setdefault(_model_folder(file), []).append(file)
    for folder, files in folders.items():
        texts = {file: text for file in files if (text := tree.text(file)) is not None}
        model, problems = tmdl_model(_item_name(tree, folder, _database_name(texts)), texts)
        yield ModelFolder(folder, model, tuple(problems))
    for file in tree.ending(".bim"):
        folder = posixpath.dirname(file)
        text = tree.text(file) if folder not in folders else None  # TMDL is the newer form of the same model
        if text is not None:
            stem = posixpath.splitext(posixpath.basename(file))[0]
            name = _item_name(tree, folder, stem if stem.lower() != "model" else "")
            model, problems = json_model(name, text, file)
            yield ModelFolder(folder, model, tuple(problems))


def _model_folder(file: str) -> str:
    """The folder of a model: `Sales.SemanticModel/definition/tables/Sales.tmdl` → Sales.SemanticModel."""
    parts = file.split("/")
    for name in ("definition", "tables", "roles", "cultures", "perspectives"):
        if name in parts[:-1]:
            return "/".join(parts[: parts.index(name)])
    return "/".join(parts[:-1])


def _database_name(texts: Mapping[str, str]) -> str:
    """The name in `database 'Food Delivery'`."""
    for text in texts.values():
        first = text.removeprefix("\ufeff").lstrip().split("\n", 1)[0].strip()
        if first.lower().startswith("database "):
            return first[len("database ") :].strip().strip("'").replace("''", "'")
    return ""


def _item_name(tree: FileTree, folder: str, fallback: str) -> str:
    """The name of a model or report: in `.platform`, of its folder, or in its files."""
    named = _platform_name(tree, folder)
    base = posixpath.basename(folder) or tree.root.resolve().name
    stem, extension = posixpath.splitext(base)
    is_item = extension.lower() in (*_MODEL_SUFFIXES, ".report")
    return named or (stem if is_item else "") or fallback or stem or base


def _platform_name(tree: FileTree, folder: str) -> str:
    path = tree.root / folder / ".platform"
    text = tree.text(posixpath.join(folder, ".platform")) if path.is_file() else None
    try:
        loaded = load_json(text) if text else {}
    except ValueError:
        return ""
    metadata = loaded.get("metadata") if isinstance(loaded, dict) else None
    name = metadata.get("displayName") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _table_jobs(folder: ModelFolder, lineage: ModelLineage, namespace: str) -> Iterator[DefinedJob]:
    """One job per table, so that what is not known about one table is not reported for the others."""
    for table in lineage.tables:
        yield DefinedJob(
            namespace,
            job_name(table.dataset),
            INTEGRATION,
            MODEL,
            outputs=(DefinedOutput(_table_dataset(table), table.lineage),),
            inputs=tuple(DefinedInput(DefinedDataset(name)) for name in table.inputs),
            opaque=tuple(OpaqueStep("expression", each.position.file, each.message) for each in table.gaps),
            description=table.table.description or folder.model.description,
            path=table.table.position.file,
        )


def job_name(dataset: DatasetName) -> str:
    """The job that defines a table of a model or a page of a report: `Food Delivery/Sales` → Food Delivery.Sales."""
    return dataset.name.replace("/", ".", 1)


def _table_dataset(table: TableLineage) -> DefinedDataset:
    columns = tuple(DefinedColumn(each.name, each.type, each.description) for each in table.fields)
    return DefinedDataset(table.dataset, DatasetKind.TABLE, columns, table.table.description)


# reports


def _reports(tree: FileTree) -> Iterator[tuple[str, ReportDefinition, tuple[ModelProblem, ...]]]:
    for file in tree.ending("definition.pbir"):
        folder = posixpath.dirname(file)
        prefix = f"{folder}/" if folder else ""
        files = [each for each in tree.files if each.startswith(prefix) and each.lower().endswith((".json", ".pbir"))]
        texts = {each: text for each in files if (text := tree.text(each)) is not None}
        report, problems = pbir_report(_item_name(tree, folder, "Report"), texts)
        yield folder, report, tuple(problems)


def _page_jobs(lineage: ReportLineage, namespace: str) -> Iterator[DefinedJob]:
    """One job per page."""
    for page in lineage.pages:
        yield DefinedJob(
            namespace,
            job_name(page.dataset),
            INTEGRATION,
            REPORT,
            outputs=(DefinedOutput(_page_dataset(page), page.lineage),),
            opaque=tuple(OpaqueStep("field", each.position.file, each.message) for each in page.gaps),
            path=page.page.position.file,
        )


def _page_dataset(page: PageLineage) -> DefinedDataset:
    columns = tuple(DefinedColumn(label, kind) for label, kind in page.kinds.items())
    return DefinedDataset(page.dataset, columns=columns)


def _model_of(folder: str, report: ReportDefinition, models: list[ModelFolder]) -> SemanticModel | None:
    """The model that a report names, if its files were imported too."""
    path = posixpath.normpath(posixpath.join(folder, report.model_path)) if report.model_path else None
    for each in models:
        if path is not None and posixpath.normpath(each.folder or ".") == path:
            return each.model
        if not report.model_path and each.model.name.lower() == report.model_name.lower():
            return each.model
    return None
