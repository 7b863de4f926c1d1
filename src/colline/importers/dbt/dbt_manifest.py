"""manifest.json and catalog.json → nodes as frozen values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from colline.importers.definitions import DefinedColumn
from colline.importers.json_values import Json, as_map, as_maps, as_text, as_texts
from colline.sql_lineage.table_schema import TableParts

# adapter of dbt → dialect of sqlglot, where the names differ
_DIALECTS = {
    "sqlserver": "tsql", "synapse": "tsql", "fabric": "tsql", "fabricspark": "spark", "glue": "spark",
    "athena": "trino",
    "postgresql": "postgres", "greenplum": "postgres", "materialize": "postgres", "alloydb": "postgres",
    "tidb": "mysql", "singlestore": "mysql", "maxcompute": "hive", "impala": "hive", "hologres": "postgres",
}  # fmt: skip
_KNOWN_DIALECTS = frozenset((
    "bigquery", "clickhouse", "databricks", "doris", "dremio", "drill", "duckdb", "exasol", "hive", "materialize",
    "mysql", "oracle", "postgres", "presto", "redshift", "risingwave", "snowflake", "spark", "sqlite", "starrocks",
    "teradata", "trino", "tsql",
))  # fmt: skip


@dataclass(frozen=True)
class DbtNode:
    """A model, seed, snapshot or source."""

    unique_id: str
    kind: str  # model, seed, snapshot, source
    name: str
    package: str
    table: TableParts
    columns: tuple[DefinedColumn, ...] = ()
    sql: str = ""
    language: str = "sql"
    materialized: str = ""
    description: str = ""
    owners: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str = ""
    depends_on: tuple[str, ...] = ()

    @property
    def is_relation(self) -> bool:
        """Whether it exists in the database; an ephemeral model is a part of the queries that use it."""
        return self.materialized != "ephemeral"


@dataclass(frozen=True)
class DbtExposure:
    """A dashboard or another use of models, outside of dbt."""

    name: str
    package: str
    kind: str
    description: str = ""
    owners: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str = ""
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True)
class DbtProject:
    """Everything of a project that has lineage. `semantic_models` and `metrics` are as they are in the manifest."""

    name: str
    adapter: str
    nodes: Mapping[str, DbtNode] = field(default_factory=dict)
    exposures: tuple[DbtExposure, ...] = ()
    semantic_models: tuple[Json, ...] = ()
    metrics: tuple[Json, ...] = ()

    @property
    def dialect(self) -> str:
        """The dialect of the project's database in sqlglot; empty if sqlglot has none."""
        name = _DIALECTS.get(self.adapter, self.adapter)
        return name if name in _KNOWN_DIALECTS else ""


def dbt_project(manifest: Json, catalog: Json) -> DbtProject:
    """The project of a manifest; the catalog adds the columns that exist in the database, with their types."""
    metadata = as_map(manifest.get("metadata"))
    owners = _group_owners(manifest)
    nodes = {node.unique_id: node for node in _nodes(manifest, catalog, owners)}
    return DbtProject(
        name=as_text(metadata.get("project_name")) or "dbt",
        adapter=as_text(metadata.get("adapter_type")).lower(),
        nodes=nodes,
        exposures=tuple(_exposures(manifest)),
        semantic_models=tuple(as_maps(manifest.get("semantic_models"))),
        metrics=tuple(as_maps(manifest.get("metrics"))),
    )


def _nodes(manifest: Json, catalog: Json, group_owners: Mapping[str, tuple[str, ...]]) -> Iterator[DbtNode]:
    for section, described in (("nodes", "nodes"), ("sources", "sources")):
        found = as_map(catalog.get(described))
        for unique_id, node in as_map(manifest.get(section)).items():
            kind = as_text(as_map(node).get("resource_type"))
            if kind in {"model", "seed", "snapshot", "source"}:
                yield _node(unique_id, kind, node, as_map(found.get(unique_id)), group_owners=group_owners)


def _node(
    unique_id: str, kind: str, node: Json, found: Json, *, group_owners: Mapping[str, tuple[str, ...]]
) -> DbtNode:
    config = as_map(node.get("config"))
    name = as_text(node.get("name"))
    table = as_text(node.get("alias")) or as_text(node.get("identifier")) or name
    parts = (as_text(node.get("database")), as_text(node.get("schema")), table)
    source = as_text(node.get("source_name"))
    version = node.get("version")
    return DbtNode(
        unique_id=unique_id,
        kind=kind,
        name=f"{source}.{name}" if source else f"{name}.v{version}" if version is not None else name,
        package=as_text(node.get("package_name")),
        table=tuple(part for part in parts if part),
        columns=_columns(as_map(node.get("columns")), as_map(found.get("columns"))),
        sql=as_text(node.get("compiled_code")) or as_text(node.get("compiled_sql")) or _sql_without_jinja(node),
        language=as_text(node.get("language")) or "sql",
        materialized=as_text(config.get("materialized")),
        description=as_text(node.get("description")) or as_text(as_map(found.get("metadata")).get("comment")),
        owners=_owners(node, config, group_owners),
        tags=_tags(node, config),
        path=as_text(node.get("original_file_path")),
        depends_on=as_texts(as_map(node.get("depends_on")).get("nodes")),
    )


def _sql_without_jinja(node: Json) -> str:
    """The source of a model that was not compiled, if it contains no Jinja."""
    text = as_text(node.get("raw_code")) or as_text(node.get("raw_sql"))
    return "" if "{{" in text or "{%" in text else text


def _columns(described: Json, existing: Json) -> tuple[DefinedColumn, ...]:
    """The columns of the database in their order, else those that are described, with what people wrote."""
    by_name = {name.lower(): as_map(column) for name, column in described.items()}
    ordered = sorted(as_maps(existing), key=lambda column: _index(column.get("index")))
    if not ordered:
        return tuple(_column(as_text(column.get("name")) or name, {}, column) for name, column in by_name.items())
    found = ((as_text(column.get("name")), column) for column in ordered)
    return tuple(_column(name, column, by_name.get(name.lower(), {})) for name, column in found if name)


def _index(value: object) -> int:
    return value if isinstance(value, int) else 0


def _column(name: str, existing: Json, described: Json) -> DefinedColumn:
    kind = as_text(existing.get("type")) or as_text(described.get("data_type"))
    text = as_text(described.get("description")) or as_text(existing.get("comment"))
    return DefinedColumn(name, kind.lower(), text, _tags(described, as_map(described.get("config"))))


def _tags(node: Json, config: Json) -> tuple[str, ...]:
    """The tags, and the keys of `meta` that are true: `meta: {contains_pii: true}`."""
    metas = (as_map(node.get("meta")), as_map(config.get("meta")))
    flags = (key for meta in metas for key, value in meta.items() if value is True)
    return tuple(dict.fromkeys((*as_texts(node.get("tags")), *as_texts(config.get("tags")), *flags)))


def _owners(node: Json, config: Json, group_owners: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The owner in `meta`, else the owner of the node's group."""
    metas = (as_map(node.get("meta")), as_map(config.get("meta")))
    found = tuple(owner for meta in metas for owner in _owner(meta.get("owner")))
    group = as_text(node.get("group")) or as_text(config.get("group"))
    return tuple(dict.fromkeys(found)) or group_owners.get(group, ())


def _owner(value: object) -> tuple[str, ...]:
    """`"team"`, `["a", "b"]`, or `{"name": …, "email": …}`."""
    owner = as_map(value)
    return as_texts(as_text(owner.get("email")) or as_text(owner.get("name"))) if owner else as_texts(value)


def _group_owners(manifest: Json) -> dict[str, tuple[str, ...]]:
    return {as_text(group.get("name")): _owner(group.get("owner")) for group in as_maps(manifest.get("groups"))}


def _exposures(manifest: Json) -> Iterator[DbtExposure]:
    for exposure in as_maps(manifest.get("exposures")):
        yield DbtExposure(
            name=as_text(exposure.get("name")),
            package=as_text(exposure.get("package_name")),
            kind=as_text(exposure.get("type")) or "exposure",
            description=as_text(exposure.get("description")) or as_text(exposure.get("label")),
            owners=_owner(exposure.get("owner")),
            tags=_tags(exposure, as_map(exposure.get("config"))),
            path=as_text(exposure.get("original_file_path")),
            depends_on=as_texts(as_map(exposure.get("depends_on")).get("nodes")),
        )
