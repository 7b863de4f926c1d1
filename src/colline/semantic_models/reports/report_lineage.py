"""A report → the lineage of its pages: each visual is a column of its page, which leads to the fields that it shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from colline.semantic_models.dax.dax_expressions import value_lineage
from colline.semantic_models.dax.dax_scope import DaxFindings, DaxScope
from colline.semantic_models.model_names import ModelNames
from colline.semantic_models.reports.report_definition import FieldUse, ReportDefinition, ReportPage
from colline.semantic_models.semantic_model import FilePosition, ModelProblem, SemanticModel
from colline.trace import ColumnLineage, ColumnRef, DatasetName, Transformation
from colline.trace.flow import Dependencies, apply_effect, dependency_entries, merge


@dataclass(frozen=True)
class PageLineage:
    """A page as a dataset, with the lineage of its visuals. `kinds` are the types of the visuals by label."""

    dataset: DatasetName
    page: ReportPage
    kinds: dict[str, str]
    lineage: ColumnLineage
    gaps: tuple[ModelProblem, ...] = ()  # fields that the model does not have


@dataclass
class ReportLineage:
    """The pages of a report with their lineage."""

    pages: list[PageLineage] = field(default_factory=list)

    @property
    def gaps(self) -> tuple[ModelProblem, ...]:
        """What is not known about the pages."""
        return tuple(gap for page in self.pages for gap in page.gaps)


def report_lineage(report: ReportDefinition, model: SemanticModel | None, namespace: str) -> ReportLineage:
    """The lineage of every page. Without the model's files, the names of its fields are taken as they are."""
    reader = _ReportReader(report, model, namespace)
    for page in report.pages:
        reader.read_page(page)
    return reader.found


def report_label(name: str) -> str:
    """The name of a report that differs from that of its model: `Food Delivery` → Food Delivery Report."""
    return name if name.lower().endswith("report") else f"{name} Report"


class _ReportReader:
    def __init__(self, report: ReportDefinition, model: SemanticModel | None, namespace: str) -> None:
        self.found = ReportLineage()
        self._gaps: list[ModelProblem] = []  # of the page that is read
        self._report = report
        self._is_model_known = model is not None
        self._names = ModelNames(model or SemanticModel(report.model_name or report.name), namespace)
        self._namespace = namespace
        self._measures = {(each.table.lower(), each.name.lower()): each for each in report.measures}

    def read_page(self, page: ReportPage) -> None:
        """Add the lineage of a page."""
        self._gaps = []
        fields = {
            visual.label: dependency_entries(merge(self._dependencies(visual.uses, visual.position)))
            for visual in page.visuals
        }
        filters = merge(self._dependencies((*self._report.filters, *page.filters), page.position))
        dataset = DatasetName(self._namespace, f"{report_label(self._report.name)}/{page.name}")
        kinds = {visual.label: visual.kind for visual in page.visuals}
        lineage = ColumnLineage(fields, dependency_entries(filters))
        self.found.pages.append(PageLineage(dataset, page, kinds, lineage, tuple(dict.fromkeys(self._gaps))))

    def _dependencies(self, uses: tuple[FieldUse, ...], position: FilePosition) -> Iterator[Dependencies]:
        for use in uses:
            measure = self._measures.get((use.table.lower(), use.name.lower()))
            if measure is not None:
                scope = DaxScope(self._names, DaxFindings(), lambda _: frozenset(), home=measure.table)
                lineage = value_lineage(measure.expression, scope)
                self._gaps += lineage.unresolved
                yield apply_effect(lineage.dependencies, use.effect, masking=use.masking)
                continue
            column = self._names.field(use.table, use.name)
            if column is None and self._is_model_known:
                message = f"the model has no '{use.table}'[{use.name}]"
                self._gaps.append(ModelProblem(position, message))
                continue
            column = column or ColumnRef(self._names.dataset(use.table), use.name)
            yield {column: frozenset({Transformation(use.effect, "", use.masking)})}
