"""schemathesis over the whole OpenAPI document, against a real server on a real lake."""

from __future__ import annotations

import json
from datetime import datetime

import hypothesis
import hypothesis.strategies as st
import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from colline.server.endpoints import ENDPOINTS
from colline.server.openapi.document import openapi
from tests.server.serving import Server


@schemathesis.serializer("application/x-ndjson")
def lines(_: schemathesis.SerializationContext, value: object) -> bytes:
    """One event a line; what is not a list is one line."""
    return b"\n".join(json.dumps(one).encode() for one in (value if isinstance(value, list) else [value])) or b"[]"


# the times an event can have: from 2000 on, at most a year ahead
_TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2026, 1, 1))
schemathesis.openapi.format("date-time", _TIMES.map(lambda at: at.isoformat(timespec="milliseconds") + "Z"))
# 410 is the right answer to a made-up cursor: a valid one holds the name of a snapshot that exists
_ACCEPTED = ["2xx", "401", "403", "404", "409", "410", "431", "5xx"]
# schemathesis's own list, and 431: an address that is too long is refused before anybody reads what is in it
_REFUSED = ["400", "401", "403", "404", "405", "406", "409", "415", "422", "428", "429", "431", "5xx"]
_CONFIG = schemathesis.Config.from_dict(
    {
        "checks": {
            "positive_data_acceptance": {"expected-statuses": _ACCEPTED},
            "negative_data_rejection": {"expected-statuses": _REFUSED},
        }
    }
)
schema = schemathesis.openapi.from_dict(openapi(), config=_CONFIG)


@schema.parametrize()
@hypothesis.settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(hypothesis.HealthCheck)
)
def test_the_server_keeps_to_its_own_document(case: schemathesis.Case, shop_served: Server) -> None:
    # a query cannot say "one of these two" in OpenAPI; docs/rest.md does
    hypothesis.assume(not {"column", "tag"} <= set(case.query or {}) or case.operation.path != "/api/v1/pii")
    # a batch with one wrong event among right ones is 200 by design, and lists the wrong one
    excluded = [negative_data_rejection] if case.operation.path.endswith("/batch") else []
    # no schema says which SQL changes something, or that one time comes after another
    excluded += [positive_data_acceptance] if case.operation.path.endswith(("/schema-impact", "/diff")) else []
    case.call_and_validate(base_url=shop_served.address, excluded_checks=excluded)


def test_the_document_lists_every_endpoint(shop_served: Server) -> None:
    document = shop_served.client.get("/openapi.json").json()
    assert document == openapi()
    listed = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert listed == {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
