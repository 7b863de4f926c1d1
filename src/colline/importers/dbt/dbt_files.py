"""Finds the manifest of each dbt project below a path, and reads it with its catalog."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from colline.importers.dbt.dbt_lineage import DbtReader
from colline.importers.dbt.dbt_manifest import dbt_project
from colline.importers.dbt.dbt_metrics import MetricReader
from colline.importers.definitions import Definitions, combine_definitions
from colline.importers.file_tree import FileTree
from colline.importers.json_values import Json, as_map, as_text
from colline.importers.table_resolution import TableResolver
from colline.semantic_models.json_model import load_json


def read_dbt(tree: FileTree, resolver: TableResolver, namespace: str) -> Definitions:
    """The models, exposures and metrics of every project, as jobs."""
    found = (_project(tree, resolver, namespace, file, manifest=manifest) for file, manifest in _manifests(tree))
    return combine_definitions(found)


def project_folders(tree: FileTree) -> frozenset[str]:
    """The folders with a dbt_project.yml, whose SQL files are templates."""
    return frozenset(posixpath.dirname(file) for file in tree.ending("dbt_project.yml"))


def _manifests(tree: FileTree) -> Iterator[tuple[str, Json]]:
    for file in tree.ending("manifest.json"):
        loaded = _load(tree, file)
        version = as_text(as_map(loaded.get("metadata")).get("dbt_schema_version"))
        if "dbt" in version or "nodes" in loaded:
            yield file, loaded


def _load(tree: FileTree, file: str) -> Json:
    text = tree.text(file)
    try:
        loaded = load_json(text) if text is not None else {}
    except ValueError as error:
        tree.problems.add(file, getattr(error, "lineno", 1), f"expected JSON: {error}")
        return {}
    return as_map(loaded)


def _project(tree: FileTree, resolver: TableResolver, namespace: str, file: str, *, manifest: Json) -> Definitions:
    catalog_file = posixpath.join(posixpath.dirname(file), "catalog.json")
    catalog = _load(tree, catalog_file) if catalog_file in tree.files else {}
    project = dbt_project(manifest, catalog)
    reader = DbtReader(project, resolver.in_namespace(namespace or project.adapter or "database"), file)
    jobs = list(reader.jobs())
    metrics = MetricReader(project, reader.datasets)
    jobs += metrics.jobs()
    return Definitions(tuple(jobs), tuple(reader.sources()), (*reader.problems, *metrics.problems), files=1)
