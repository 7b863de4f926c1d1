"""The table of endpoints, its examples and docs/rest.md say the same."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from colline.server.endpoints import BY_NAME, ENDPOINTS
from colline.server.openapi.examples import EXAMPLES
from colline.server.openapi.reference import reference
from colline.server.openapi.schemas import SCHEMAS

DOCS = Path(__file__).parents[2] / "docs" / "rest.md"


def test_rest_page_is_the_table() -> None:
    assert DOCS.read_text() == reference(), "run `make rest-docs`"


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_example_has_the_shape_it_documents(name: str) -> None:
    schema = {"$ref": f"#/components/schemas/{BY_NAME[name].answer}", "components": {"schemas": SCHEMAS}}
    jsonschema.Draft202012Validator(schema).validate(EXAMPLES[name])


def test_every_address_is_listed_once() -> None:
    addresses = [(endpoint.method, endpoint.path) for endpoint in ENDPOINTS]
    assert len(set(addresses)) == len(addresses) == len(BY_NAME)
