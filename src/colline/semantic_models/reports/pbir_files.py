"""The files of a PBIR report → report. Reports in the older form, one report.json, are read too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from colline.semantic_models.json_model import json_objects, load_json
from colline.semantic_models.reports.field_uses import field_uses
from colline.semantic_models.reports.report_definition import (
    ReportDefinition,
    ReportMeasure,
    ReportPage,
    ReportVisual,
)
from colline.semantic_models.semantic_model import Expression, FilePosition, ModelProblem
from colline.trace import Effect

_PAGE = re.compile(r"(?:^|/)definition/pages/([^/]+)/page\.json$")
_VISUAL = re.compile(r"(?:^|/)definition/pages/([^/]+)/visuals/([^/]+)/visual\.json$")


def pbir_report(name: str, files: Mapping[str, str]) -> tuple[ReportDefinition, list[ModelProblem]]:
    """The report of a folder, from the text of each file, and what could not be read."""
    reader = _ReportReader(files)
    return reader.report(name), reader.problems


class _ReportReader:
    """Reads the JSON files of one report; a file that is not JSON is a problem."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.problems: list[ModelProblem] = []
        self._files = {file.replace("\\", "/"): text for file, text in sorted(files.items())}

    def _load(self, file: str) -> dict[str, Any]:
        try:
            loaded = load_json(self._files[file])
        except ValueError as error:
            position = FilePosition(file, getattr(error, "lineno", 1))
            self.problems.append(ModelProblem(position, f"expected JSON: {error}"))
            return {}
        if not isinstance(loaded, dict):
            self.problems.append(ModelProblem(FilePosition(file), "expected a JSON object"))
            return {}
        return loaded

    def _ending(self, suffix: str) -> str:
        """The file with this end of its path; empty without such a file."""
        return next((file for file in self._files if file == suffix or file.endswith(f"/{suffix}")), "")

    def report(self, name: str) -> ReportDefinition:
        """The report."""
        pages = list(self._pages())
        root = self._ending("definition/report.json")
        legacy = "" if root or pages else self._ending("report.json")
        settings = self._load(root or legacy) if root or legacy else {}
        if legacy:
            pages = list(_legacy_pages(settings, legacy))
        path, model = self._model()
        filters = field_uses(settings.get("filterConfig") or _json_text(settings.get("filters")), Effect.FILTER)
        return ReportDefinition(
            name, tuple(pages), filters, tuple(self._measures()), path, model, FilePosition(root or legacy)
        )

    def _model(self) -> tuple[str, str]:
        """The path of the model's folder, or its name in the service."""
        file = self._ending("definition.pbir")
        reference = self._load(file).get("datasetReference") if file else None
        reference = reference if isinstance(reference, dict) else {}
        by_path = reference.get("byPath")
        if isinstance(by_path, dict) and isinstance(by_path.get("path"), str):
            return by_path["path"], ""
        by_connection = reference.get("byConnection")
        text = json.dumps(by_connection) if isinstance(by_connection, dict) else ""
        found = re.search(r"(?i)initial catalog=\\?\"?([^;\"\\]+)", text)
        return "", found[1].strip() if found else ""

    def _measures(self) -> Iterator[ReportMeasure]:
        file = self._ending("definition/reportExtensions.json")
        for entity in json_objects(self._load(file).get("entities")) if file else ():
            for measure in json_objects(entity.get("measures")):
                names = (entity.get("name"), measure.get("name"), measure.get("expression"))
                if all(isinstance(each, str) for each in names):
                    expression = Expression(str(names[2]), FilePosition(file))
                    yield ReportMeasure(str(names[0]), str(names[1]), expression)

    def _pages(self) -> Iterator[ReportPage]:
        visuals: dict[str, list[ReportVisual]] = {}
        for file in self._files:
            found = _VISUAL.search(file)
            if found is not None:
                visual = _visual(self._load(file), found[2], file)
                visuals.setdefault(found[1], []).append(visual)
        for file in self._files:
            page = _PAGE.search(file)
            if page is not None:
                loaded = self._load(file)
                label = loaded.get("displayName")
                yield ReportPage(
                    label if isinstance(label, str) and label else page[1],
                    tuple(_unique_labels(visuals.get(page[1], []))),
                    field_uses(loaded.get("filterConfig"), Effect.FILTER),
                    FilePosition(file),
                )


def _visual(loaded: dict[str, Any], identifier: str, file: str) -> ReportVisual:
    inner = loaded.get("visual")
    inner = inner if isinstance(inner, dict) else {}
    kind = inner.get("visualType")
    kind = kind if isinstance(kind, str) else "visual"
    uses = (*field_uses(inner), *field_uses(loaded.get("filterConfig"), Effect.FILTER))
    label = _title(inner) or f"{kind} {identifier[:8]}"
    return ReportVisual(label, kind, tuple(dict.fromkeys(uses)), FilePosition(file))


def _title(visual: dict[str, Any]) -> str:
    """The text of a title: `visualContainerObjects.title[].properties.text.expr.Literal.Value`."""
    for container in ("visualContainerObjects", "vcObjects"):
        objects = visual.get(container)
        for title in json_objects(objects.get("title") if isinstance(objects, dict) else None):
            value: Any = title
            for key in ("properties", "text", "expr", "Literal", "Value"):
                value = value.get(key) if isinstance(value, dict) else None
            if isinstance(value, str) and value.strip("'"):
                return value.strip("'").replace("''", "'")
    return ""


def _unique_labels(visuals: list[ReportVisual]) -> Iterator[ReportVisual]:
    """The visuals of a page in order; a repeated title gets a number."""
    seen: dict[str, int] = {}
    for visual in sorted(visuals, key=lambda each: (each.label, each.position.file)):
        count = seen[visual.label.lower()] = seen.get(visual.label.lower(), 0) + 1
        label = visual.label if count == 1 else f"{visual.label} ({count})"
        yield ReportVisual(label, visual.kind, visual.uses, visual.position)


def _legacy_pages(report: dict[str, Any], file: str) -> Iterator[ReportPage]:
    """The `sections` of report.json, whose visuals are JSON inside of texts."""
    for section in json_objects(report.get("sections")):
        visuals = []
        for number, container in enumerate(json_objects(section.get("visualContainers"))):
            config = _json_text(container.get("config"))
            inner = config.get("singleVisual") if isinstance(config, dict) else None
            loaded = {
                "visual": inner if isinstance(inner, dict) else {},
                "filterConfig": _json_text(container.get("filters")),
            }
            identifier = config.get("name") if isinstance(config, dict) else None
            visuals.append(_visual(loaded, str(identifier or number), file))
        name = section.get("displayName") or section.get("name")
        uses = field_uses(_json_text(section.get("filters")), Effect.FILTER)
        yield ReportPage(str(name or "page"), tuple(_unique_labels(visuals)), uses, FilePosition(file))


def _json_text(value: Any) -> Any:
    """The JSON inside of a text; other values as they are."""
    if not isinstance(value, str):
        return value
    try:
        return load_json(value)
    except ValueError:
        return None
