"""The facts of a table → the parts of a contract that colline writes, as plain values in the order of the YAML."""

from __future__ import annotations

import re
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from colline.contracts.contract_document import API_VERSION, VENDOR, custom_property
from colline.contracts.logical_types import element_type, logical_type
from colline.contracts.table_facts import ColumnFacts, ContractEdge, TableFacts
from colline.contracts.verified_statements import verified_statements

DATASET, EDGES, SOURCES, CONSUMERS, WRITERS, WRITTEN_EVERY, ORIGINS = (
    "openLineageDataset", "lineageEdges", "lineageSources", "lineageConsumers", "lineageWriters", "writtenEvery",
    "lineageOrigins",
)  # fmt: skip
# how a column is classified by the personal data that reaches it
PERSONAL, PSEUDONYMIZED = "personal", "pseudonymized"
CLASSIFICATIONS = {"clear": PERSONAL, "masked": PSEUDONYMIZED}
INSTRUCTIONS = (
    "The lineage in `customProperties` was captured from the jobs that write this table. Use `transformLogic` for the"
    " definition of a column and `lineageOrigins` for where its values begin. A column classified `personal` contains"
    " personal data in clear: do not copy it to tables that must not have it."
)
_KINDS = {"TABLE": "table", "VIEW": "view", "TOPIC": "topic", "FILE": "file"}
_EFFECT_KEYS = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
_EFFECT_WORDS = {
    "IDENTITY": "copied from", "TRANSFORMATION": "computed from", "AGGREGATION": "aggregated from",
    "CONDITIONAL": "chosen by", "WINDOW": "ordered or partitioned by", "FILTER": "filtered by", "JOIN": "joined on",
    "GROUP_BY": "grouped by", "SORT": "sorted by",
}  # fmt: skip


def generated_contract(facts: TableFacts) -> dict[str, Any]:
    """The contract of one table."""
    return {
        "apiVersion": API_VERSION,
        "kind": "DataContract",
        "id": str(uuid5(NAMESPACE_URL, f"{facts.namespace}/{facts.name}")),
        "name": facts.label,
        "version": "1.0.0",
        "status": "active",
        **({"domain": facts.domain} if facts.domain else {}),
        "schema": [_table(facts)],
    }


def _table(facts: TableFacts) -> dict[str, Any]:
    return {
        "name": facts.label,
        **({"description": facts.description} if facts.description else {}),
        "physicalName": facts.name,
        "physicalType": _KINDS.get(facts.kind or "", "table"),
        "logicalType": "object",
        **({"tags": sorted(facts.tags)} if facts.tags else {}),
        "properties": _column_tree(facts),
        "context": {"instructions": INSTRUCTIONS, "verifiedStatements": verified_statements(facts)},
        "customProperties": _properties(
            {
                DATASET: {"namespace": facts.namespace, "name": facts.name},
                WRITERS: list(facts.writers),
                WRITTEN_EVERY: facts.written_every,
                CONSUMERS: [_consumer(each.job, each.tables) for each in facts.consumers],
                SOURCES: [dict(zip(("table", "namespace", "name"), each, strict=True)) for each in facts.sources],
                EDGES: [_edge(edge) for edge in facts.edges],
            }
        ),
    }


def _consumer(job: str, tables: tuple[str, ...]) -> dict[str, Any]:
    return {"job": job, "tables": list(tables)} if tables else {"job": job}


def _properties(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"property": name, "value": value, "vendor": VENDOR}
        for name, value in values.items()
        if value not in (None, [], "")
    ]


def _edge(edge: ContractEdge) -> dict[str, Any]:
    return {
        "column": edge.column,
        "source": edge.source,
        "effect": f"{edge.type}/{edge.subtype}".lower(),
        **({"masking": True} if edge.masking else {}),
        **({"expression": edge.expression} if edge.expression else {}),
        **({"job": edge.job} if edge.job else {}),
    }


def read_edges(table: Any) -> tuple[ContractEdge, ...] | None:
    """The edges in a table of a contract; None if it has none or they were written by hand in another form."""
    rows = custom_property(table, EDGES)
    if not isinstance(rows, list):
        return None
    found = []
    for row in rows:
        kind, _, subtype = str(row.get("effect", "")).upper().partition("/") if hasattr(row, "get") else ("", "", "")
        if not subtype or not isinstance(row.get("column"), str) or not isinstance(row.get("source"), str):
            return None
        found.append(
            ContractEdge(
                str(row["column"]), str(row["source"]), kind, subtype, bool(row.get("masking", False)),
                str(row.get("expression", "")), str(row.get("job", "")),
            )
        )  # fmt: skip
    return tuple(found)


def _column_tree(facts: TableFacts) -> list[dict[str, Any]]:
    """The columns, with the fields of a struct below their column."""
    nodes: dict[str, dict[str, Any]] = {}
    roots: list[dict[str, Any]] = []
    for column in sorted(facts.columns, key=lambda each: each.name.count(".")):
        parent, _, field = column.name.rpartition(".")
        node = _column(column, field if parent in nodes else column.name, facts)
        nodes[column.name] = node
        (nodes[parent].setdefault("properties", []) if parent in nodes else roots).append(node)
    order = {column.name: place for place, column in enumerate(facts.columns)}
    return sorted(roots, key=lambda node: order[node["name"]])


def _column(column: ColumnFacts, name: str, facts: TableFacts) -> dict[str, Any]:
    edges = facts.column_edges(column.name)
    values = sorted({edge.source for edge in edges if edge.type == "DIRECT"})
    logic = "; ".join(sorted({edge.expression for edge in edges if edge.type == "DIRECT" and edge.expression}))
    place = facts.partitions.index(column.name) + 1 if column.name in facts.partitions else None
    found: dict[str, Any] = {
        "name": name,
        "logicalType": logical_type(column.type),
        "physicalType": column.type,
        "items": _items(column.type),
        "description": column.description,
        "partitioned": True if place else None,
        "partitionKeyPosition": place,
        "classification": CLASSIFICATIONS.get(column.personal or ""),
        "tags": sorted(column.tags) or None,
        "transformSourceObjects": values or None,
        "transformLogic": logic or None,
        "transformDescription": describe_edges(edges) or None,
        "customProperties": _properties({ORIGINS: list(column.origins)}) or None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _items(physical: str | None) -> dict[str, Any] | None:
    element = element_type(physical)
    logical = logical_type(element)
    return {"logicalType": logical, "physicalType": element} if logical else None


def describe_edges(edges: list[ContractEdge]) -> str:
    """The edges of a column in words: `aggregated from silver.payments.net_amount`."""
    by_effect: dict[str, set[str]] = {}
    for edge in edges:
        by_effect.setdefault(edge.subtype, set()).add(edge.source + (" (masked)" if edge.masking else ""))
    order = sorted(by_effect, key=lambda effect: (effect not in _EFFECT_KEYS, effect))
    parts = [f"{_EFFECT_WORDS.get(effect, 'depends on')} {', '.join(sorted(by_effect[effect]))}" for effect in order]
    return "; ".join(parts)


def file_name(label: str) -> str:
    """The usual name of a contract's file: `gold.daily_revenue.odcs.yaml`."""
    return re.sub(r"[^\w.-]+", "_", label).strip(".") + ".odcs.yaml"
