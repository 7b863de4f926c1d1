"""Reads and writes contracts as YAML: comments, key order and unknown keys survive, and hostile files are refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from colline.contracts.contract_shape import shape_problems
from colline.contracts.yaml_patch import patch_yaml
from colline.contracts.yaml_tree import dump_yaml, round_trip_yaml
from colline.errors import ContractError

if TYPE_CHECKING:
    from ruamel.yaml.comments import CommentedMap

API_VERSION = "v3.2.0"
VENDOR = "colline"  # marks the custom properties that colline writes
MAX_CONTRACT_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 60
MAX_NODES = 500_000  # with the nodes behind aliases counted each time they are used


@dataclass(frozen=True, slots=True)
class ContractDocument:
    """A contract as a YAML tree. `source` names its file in messages, `written` is its text before any change."""

    tree: CommentedMap
    source: str
    written: str = ""

    def tables(self) -> list[CommentedMap]:
        """The schema objects: one per table."""
        return [table for table in _mappings(self.tree.get("schema")) if isinstance(table.get("name"), str)]

    def text(self) -> str:
        """The contract as YAML. Lines whose values did not change are those that were read."""
        return patch_yaml(self.written, self.tree) if self.written else dump_yaml(self.tree)


def parse_contract(text: str, source: str) -> ContractDocument:
    """The contract in a YAML text. A text that is not a contract is an error with its line."""
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if len(text) > MAX_CONTRACT_BYTES:
        raise ContractError("the file is too large for a contract", source, hint="one contract per table is usual")
    try:
        _check_size(text, source)
        tree = round_trip_yaml().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise ContractError(f"not YAML: {error.problem}", source, line, hint="correct the line") from error
    except (YAMLError, ValueError) as error:
        raise ContractError("not YAML", source, hint="the file must be UTF-8 text in YAML") from error
    if not isinstance(tree, CommentedMap) or tree.get("kind") != "DataContract":
        hint = "it must be a mapping with `kind: DataContract`, as the Open Data Contract Standard defines it"
        raise ContractError("not a data contract", source, 1, hint=hint)
    problem = next(shape_problems(tree), None)
    if problem is not None:
        line = line_of(problem.owner, problem.key)
        raise ContractError(f"expected {problem.path} to be {problem.expected}", source, line, hint="correct the value")
    return ContractDocument(tree, source, text)


def new_contract(source: str) -> ContractDocument:
    """A contract without content."""
    from ruamel.yaml.comments import CommentedMap

    return ContractDocument(CommentedMap(), source)


def custom_property(owner: Any, name: str) -> Any:
    """The value of a custom property of a contract, table or column, or None."""
    for each in _mappings(owner.get("customProperties")):
        if each.get("property") == name:
            return each.get("value")
    return None


def line_of(node: Any, key: str | None = None) -> int | None:
    """The line of a node in its file, or of one of its keys."""
    place = getattr(node, "lc", None)
    if place is None:
        return None
    if key is not None and key in getattr(place, "data", {}):
        return int(place.data[key][0]) + 1
    return None if place.line is None else int(place.line) + 1


def _mappings(value: Any) -> Iterator[Any]:
    return (each for each in value if hasattr(each, "get")) if isinstance(value, list) else iter(())


def properties_of(table: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The columns of a table with their names; fields of structs as `struct.field`."""
    for column in _mappings(table.get("properties")):
        if isinstance(column.get("name"), str):
            yield prefix + column["name"], column
            yield from properties_of(column, f"{prefix}{column['name']}.")


def _check_size(text: str, source: str) -> None:
    """Refuses texts that are too deep or that aliases would expand without bound, before a tree is built."""
    size = _TreeSize()
    for event in round_trip_yaml().parse(text):
        size.add(event)
        if size.nodes > MAX_NODES or len(size.open) > MAX_DEPTH:
            line = event.start_mark.line + 1
            raise ContractError("too many or too deep values for a contract", source, line, hint="shorten the file")


class _TreeSize:
    """Counts the nodes of a YAML text while it is parsed. An alias counts as much as what it repeats."""

    def __init__(self) -> None:
        self.nodes = 0
        self.open: list[tuple[str | None, int]] = []  # anchor of each open collection, and the nodes before it
        self._sizes: dict[str, int] = {}  # by anchor

    def add(self, event: Any) -> None:
        """Count an event of the parser."""
        from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, ScalarEvent

        if isinstance(event, AliasEvent):
            repeats_itself = any(anchor == event.anchor for anchor, _ in self.open)
            self.nodes += MAX_NODES + 1 if repeats_itself else self._sizes.get(event.anchor, 1)
        elif isinstance(event, CollectionStartEvent):
            self.open.append((event.anchor, self.nodes))
            self.nodes += 1
        elif isinstance(event, CollectionEndEvent):
            anchor, before = self.open.pop()
            self._remember(anchor, self.nodes - before)
        elif isinstance(event, ScalarEvent):
            self.nodes += 1
            self._remember(event.anchor, 1)

    def _remember(self, anchor: str | None, size: int) -> None:
        if anchor:
            self._sizes[anchor] = size
