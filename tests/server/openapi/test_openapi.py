"""schemathesis tests every operation of the OpenAPI document against a real server."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import hypothesis
import hypothesis.strategies as st
import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from colline.server.endpoints import ENDPOINTS
from colline.server.openapi.document import openapi
from tests.server.serving import Server


@schemathesis.serializer("application/x-ndjson")
def lines(_: schemathesis.SerializationContext, value: object) -> bytes:
    """One event per line; a value that is not a list is one line."""
    return b"\n".join(json.dumps(one).encode() for one in (value if isinstance(value, list) else [value])) or b"[]"


# valid times of events: from 2000 on, at most a year in the future
_TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2026, 1, 1))
schemathesis.openapi.format("date-time", _TIMES.map(lambda at: at.isoformat(timespec="milliseconds") + "Z"))
# 410 is the right response to a random cursor: a valid one contains the name of an existing snapshot
_ACCEPTED = ["2xx", "401", "403", "404", "409", "410", "431", "5xx"]
# the list of schemathesis, and 431: a URL that is too long is refused before its parameters are read
_REFUSED = ["400", "401", "403", "404", "405", "406", "409", "415", "422", "428", "429", "431", "5xx"]
_CONFIG = schemathesis.Config.from_dict(
    {
        "checks": {
            "positive_data_acceptance": {"expected-statuses": _ACCEPTED},
            "negative_data_rejection": {"expected-statuses": _REFUSED},
        }
    }
)
# a schema cannot express which SQL changes something, that one time is after another, or "exactly one of"
PARTLY_DESCRIBED = ("/schema-impact", "/diff", "/columns-by-degree")


def _without_facets(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_facets(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _without_facets(value) for key, value in schema.items() if not key.lower().endswith("facets")}


def _document_without_repetitions() -> dict[str, Any]:
    """The document, with every part of an event in one place: schemathesis sends 18,000 requests otherwise.

    Inputs, outputs and datasets have the same schema; facets stay in outputs only. So do events of a batch.
    """
    document = openapi()
    event = document["components"]["schemas"]["Event"]
    plain = _without_facets(event)
    properties = event["properties"]
    assert properties["inputs"] == properties["outputs"]
    assert properties["dataset"]["anyOf"][0] == properties["outputs"]["anyOf"][0]["items"]
    kept = {key: properties[key] for key in ("run", "job", "outputs")}
    schemas = {"Event": {**event, "properties": {**plain["properties"], **kept}}, "EventInBatch": plain}
    batch = json.loads(json.dumps(document["paths"]["/api/v1/lineage/batch"]).replace('/Event"', '/EventInBatch"'))
    document["paths"] = {**document["paths"], "/api/v1/lineage/batch": batch}
    document["components"] = {**document["components"], "schemas": {**document["components"]["schemas"], **schemas}}
    return document


schema = schemathesis.openapi.from_dict(_document_without_repetitions(), config=_CONFIG)


@schema.parametrize()
@hypothesis.settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(hypothesis.HealthCheck)
)
def test_server_conforms_to_its_document(case: schemathesis.Case, shop_served: Server) -> None:
    # OpenAPI cannot express that exactly one of several query parameters must be given
    hypothesis.assume(not {"column", "tag"} <= set(case.query or {}) or case.operation.path != "/api/v1/pii")
    # a batch with some invalid events is 200 by design, and lists them
    excluded = [negative_data_rejection] if case.operation.path.endswith("/batch") else []
    excluded += [positive_data_acceptance] if case.operation.path.endswith(PARTLY_DESCRIBED) else []
    case.call_and_validate(base_url=shop_served.address, excluded_checks=excluded)


def test_document_lists_every_endpoint(shop_served: Server) -> None:
    document = shop_served.client.get("/openapi.json").json()
    assert document == openapi()
    listed = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert listed == {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
