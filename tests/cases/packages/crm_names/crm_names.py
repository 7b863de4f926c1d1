"""An example of a third party's naming rules: a package like this one registers them under `colline.datasets`."""

from __future__ import annotations

from colline.naming.dataset import DatasetKind, NameContext, Named
from colline.naming.rules import Source
from colline.trace import DatasetName


def name(source: Source, _context: NameContext) -> Named | None:
    """A CRM object by its organisation and name."""
    if source.provider != "com.example.crm":
        return None
    return Named(DatasetName(f"crm://{source.option('org')}", source.option("object") or ""), kind=DatasetKind.TABLE)


def broken(source: Source, _context: NameContext) -> Named | None:
    """A rule with a defect, which must cost nobody anything."""
    raise RuntimeError(f"cannot name {source.kind}")
