"""Naming rules of another package, registered under the entry point group `colline.datasets`."""

from __future__ import annotations

from colline.naming.dataset import DatasetKind, NameContext, NamedDataset
from colline.naming.rules import Source
from colline.trace import DatasetName


def name(source: Source, _context: NameContext) -> NamedDataset | None:
    """Name a CRM object by its organization and name."""
    if source.provider != "com.example.crm":
        return None
    return NamedDataset(
        DatasetName(f"crm://{source.option('org')}", source.option("object") or ""), kind=DatasetKind.TABLE
    )


def raise_error(source: Source, _context: NameContext) -> NamedDataset | None:
    """A rule that always raises."""
    raise RuntimeError(f"cannot name {source.kind}")
