"""The question registry: the methods of `Lineage` have the parameters, defaults and result types that it lists."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import pytest

from colline.graph import Lineage, results
from colline.graph.queries.registry import BY_NAME, QUESTIONS, REQUESTS, Parameter, Question

by_name = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)


def method_parameters(question: Question) -> dict[str, inspect.Parameter]:
    found = dict(inspect.signature(getattr(Lineage, question.name)).parameters)
    del found["self"]
    return found


def expected_default(parameter: Parameter) -> Any:
    if parameter.required:
        return inspect.Parameter.empty
    if parameter.kind in ("column", "text", "sql") and parameter.repeatable and parameter.minimum is None:
        return ()
    return parameter.default


@by_name
def test_method_has_the_parameters_of_the_registry(question: Question) -> None:
    assert set(method_parameters(question)) == {parameter.keyword for parameter in question.parameters}


@by_name
def test_method_has_the_defaults_of_the_registry(question: Question) -> None:
    found = {name: each.default for name, each in method_parameters(question).items()}
    assert found == {parameter.keyword: expected_default(parameter) for parameter in question.parameters}


@by_name
def test_result_types_exist(question: Question) -> None:
    for name in question.result.split(" | "):
        assert issubclass(getattr(results, name), results.Answer)


def test_names_of_questions_and_requests_are_unique() -> None:
    assert len(BY_NAME) == len(QUESTIONS)
    assert len(REQUESTS) == sum(len(question.requests()) for question in QUESTIONS)


@by_name
def test_alternatives_are_optional_parameters(question: Question) -> None:
    optional = {parameter.name for parameter in question.parameters if not parameter.required}
    assert set(question.alternatives) <= optional


def test_registry_imports_nothing_heavy() -> None:
    code = "import sys, colline.graph.queries.registry; print([m for m in ('numpy', 'msgspec') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
