"""A report as frozen values: its pages, their visuals, and the fields of the model that each uses."""

from __future__ import annotations

from dataclasses import dataclass

from colline.semantic_models.semantic_model import NOWHERE, Expression, FilePosition
from colline.trace import Effect


@dataclass(frozen=True, slots=True)
class FieldUse:
    """A field of a table that a report uses, and how. `is_extension`: a measure of the report itself."""

    table: str
    name: str
    effect: Effect
    masking: bool = False
    is_extension: bool = False


@dataclass(frozen=True, slots=True)
class ReportVisual:
    """A visual of a page; `label` is its title, or its type with its id."""

    label: str
    kind: str
    uses: tuple[FieldUse, ...]
    position: FilePosition = NOWHERE


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A page with its visuals, and the fields that its filters use."""

    name: str
    visuals: tuple[ReportVisual, ...] = ()
    filters: tuple[FieldUse, ...] = ()
    position: FilePosition = NOWHERE


@dataclass(frozen=True, slots=True)
class ReportMeasure:
    """A measure that a report adds to a table of the model."""

    table: str
    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class ReportDefinition:
    """A report and the model that it reads: by the path of its folder, or by its name."""

    name: str
    pages: tuple[ReportPage, ...] = ()
    filters: tuple[FieldUse, ...] = ()
    measures: tuple[ReportMeasure, ...] = ()
    model_path: str = ""
    model_name: str = ""
    position: FilePosition = NOWHERE
