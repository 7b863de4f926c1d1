"""Column lineage in the shape of Marquez's `GET /api/v1/column-lineage`, made from our own walks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from colline.errors import ColumnError
from colline.server.http_errors import Problem

if TYPE_CHECKING:
    from colline.graph import Lineage

Row = dict[str, Any]
_MOST = 10_000  # columns in one graph; Marquez has no paging, so beyond this the depth must be made smaller


def column_lineage(lineage: Lineage, node: str, depth: int, *, downstream: bool) -> Row:
    """`{"graph": [...]}`, one node a column, sorted by id; in-edges lead to inputs, out-edges to what is fed."""
    name = _column(lineage, node)
    walks = [lineage.upstream, lineage.downstream] if downstream else [lineage.upstream]
    answers = [walk(name, depth=depth, limit=_MOST).to_dict() for walk in walks]
    if any(answer["left_out"] for answer in answers):
        raise Problem(400, "bad_parameter", f"more than {_MOST} columns", hint="ask with a smaller `depth`")
    columns = {row["id"]: row for answer in answers for row in (*answer["of"], *answer["columns"])}
    edges = [edge for answer in answers for edge in answer["edges"]]
    return {"graph": sorted(_nodes(columns, edges), key=lambda found: str(found["id"]))}


def _nodes(columns: dict[int, Row], edges: Iterable[Row]) -> Iterator[Row]:
    inputs: dict[int, dict[int, Row]] = {}
    outputs: dict[int, dict[int, Row]] = {}
    for edge in edges:
        inputs.setdefault(edge["to"], {}).setdefault(edge["from"], edge)
        outputs.setdefault(edge["from"], {}).setdefault(edge["to"], edge)
    for ident, column in columns.items():
        fed, feeds = inputs.get(ident, {}), outputs.get(ident, {})
        me = node_id(column)
        yield {
            "id": me,
            "type": "DATASET_FIELD",
            "data": _data(column, columns, fed) if fed else None,
            "inEdges": [{"origin": me, "destination": node_id(columns[other])} for other in fed],
            "outEdges": [{"origin": me, "destination": node_id(columns[other])} for other in feeds],
        }


def _data(column: Row, columns: dict[int, Row], fed: dict[int, Row]) -> Row:
    known = {"namespace": column["namespace"], "dataset": column["name"], "field": column["field"]}
    inputs = [
        {
            "namespace": columns[other]["namespace"],
            "dataset": columns[other]["name"],
            "field": columns[other]["field"],
            "transformationDescription": edge["description"] or "",
            "transformationType": edge["subtype"] or "",
        }
        for other, edge in fed.items()
    ]
    return {**known, "fieldType": column.get("type"), "inputFields": inputs}


def node_id(column: Row) -> str:
    """Marquez's name of a column."""
    return f"datasetField:{column['namespace']}:{column['name']}:{column['field']}"


def exact_name(namespace: str, name: str, field: str) -> str:
    """A column's whole name as a program says it: nothing in it is taken for syntax."""
    return msgspec.json.encode([namespace, name, field]).decode()


def _column(lineage: Lineage, node: str) -> str:
    """The column, or all columns of the dataset, that a node id means. Names may hold colons: every split is tried."""
    kind, _, rest = node.partition(":")
    parts = rest.split(":")
    if kind not in ("dataset", "datasetField") or len(parts) < (3 if kind == "datasetField" else 2):
        hint = "write datasetField:{namespace}:{name}:{field} or dataset:{namespace}:{name}"
        raise Problem(400, "bad_parameter", "`nodeId` is not the id of a dataset or a field", hint=hint)
    for namespace, name, field in _splits(parts, has_field=kind == "datasetField"):
        asked = f"{_dataset_name(namespace, name)}.*" if field is None else exact_name(namespace, name, field)
        try:
            lineage.upstream(asked, depth=1, limit=1)
        except ColumnError:
            continue
        return asked
    raise Problem(404, "not_found", f"no node is called `{node[:200]}`", hint="GET /api/v1/columns?q= finds columns")


def _dataset_name(namespace: str, name: str) -> str:
    return "/".join('"' + part.replace('"', '""') + '"' for part in (namespace, name))


def _splits(parts: list[str], *, has_field: bool) -> Iterator[tuple[str, str, str | None]]:
    """Every way to read `a:b:c` as namespace, name and field, the likeliest (a short field) first."""
    ends = range(len(parts) - 1, 1, -1) if has_field else (len(parts),)
    for end in ends:
        for cut in range(1, end):
            field = ":".join(parts[end:]) if has_field else None
            yield ":".join(parts[:cut]), ":".join(parts[cut:end]), field
