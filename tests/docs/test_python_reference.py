"""docs/reference/python.md: the signatures of the public functions, and the classes of errors."""

from __future__ import annotations

import inspect
import re

import pytest

import colline
from colline import errors
from tests.docs.pages import DOCS

PAGE = (DOCS / "reference/python.md").read_text(encoding="utf-8")
# one per heading: `attach(spark, transport=None) -> Watch`
SIGNATURES = dict(re.findall(r"^`(\w+)\((.*)\)(?: -> .*)?`$", PAGE, re.MULTILINE))


def parameters(function: object) -> str:
    """The parameters of a function without types: `spark, transport=None, *, lake=None, **settings`."""
    signature = inspect.signature(function)  # type: ignore[arg-type] # every public name is callable
    named = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(inspect.Signature(named))[1:-1]


def test_every_public_function_is_described() -> None:
    functions = {name for name in colline.__all__ if not inspect.isclass(getattr(colline, name))} | {"job"}
    assert functions - {"masks", "__version__"} == set(SIGNATURES)


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_match_the_code(name: str) -> None:
    assert SIGNATURES[name].replace('"', "'") == parameters(getattr(colline, name))


def test_every_error_is_listed() -> None:
    listed = set(re.findall(r"`(\w+Error)`", PAGE))
    listed |= {"CollineError"}  # named in the text as the base class
    assert {name for name in vars(errors) if name.endswith("Error")} == listed
