"""docs/reference/rest.md and the generated examples agree with the table of endpoints."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from tools.rest_docs import reference

from colline.server.endpoints import BY_NAME, ENDPOINTS, Endpoint
from colline.server.openapi.examples import example_response
from colline.server.openapi.schemas import component_schemas, reference_to

REST_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "rest.md"


def test_rest_page_is_up_to_date() -> None:
    assert REST_PAGE.read_text(encoding="utf-8") == reference(), "run `make rest-docs`"


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_example_matches_its_schema(endpoint: Endpoint) -> None:
    example = example_response(endpoint)
    if example is not None:
        schema = {**reference_to(endpoint.result), "components": {"schemas": component_schemas()}}
        jsonschema.Draft202012Validator(schema).validate(example)


def test_paths_and_names_are_unique() -> None:
    paths = [(endpoint.method, endpoint.path) for endpoint in ENDPOINTS]
    assert len(set(paths)) == len(paths) == len(BY_NAME)
