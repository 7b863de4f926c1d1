"""A contract that people wrote in their own style: only lines whose values changed are written again."""

from __future__ import annotations

import copy
import difflib
import random
from typing import Any

import pytest

from colline.contracts.contract_document import parse_contract
from colline.contracts.contract_merge import merge_contract
from colline.contracts.generated_contract import generated_contract
from colline.contracts.table_facts import FactsReader
from colline.contracts.yaml_patch import patch_yaml
from colline.contracts.yaml_tree import dump_yaml, round_trip_yaml

BY_HAND = """\
# Owner: the finance team
apiVersion: v3.2.0
kind: DataContract
id: my-own-id   # not a number
name: Daily revenue
version: 2.0.0
status: active
x-notes: &notes
    reviewed:   2026-01-01
    by: [ "Ann",  'Bob' ]
tags: ['finance',   "kpi"]
description:
    purpose: >
        Revenue per day.
        Folded over lines.

        Second paragraph.
    usage: |
        Use it
          with care.
    limits: A long line in plain style that is much longer than the width of the writer, so that it would fold it.

team:
- username: ann
  role: Owner      # since 2025

slaProperties:
- {property: latency, value: 4, unit: h}

schema:
- name: gold.daily_revenue
  physicalName: an older name
  quality:
  - type: sql
    query: |
      select count(*) from {object}

    # of the query
    mustBe: 0
  x-anchor: *notes
  properties:
  - name: total   # the number
    businessName: Revenue

    logicalType: number
    quality:
    - <<: &null {metric: nullValues, mustBe: 0}
      description: never null
    - *null
    examples: [1.50, 2e3, 0x1F, 010]
  # region comes next
  - name: region
    description: 'It''s a "region"'
# the end
"""


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that are gone, and those that are new."""
    found = list(difflib.ndiff(before.splitlines(), after.splitlines()))
    return [line[2:] for line in found if line[0] == "-"], [line[2:] for line in found if line[0] == "+"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_an_export_changes_only_generated_lines(reader: FactsReader, line_end: str) -> None:
    text = BY_HAND.replace("\n", line_end)
    document = parse_contract(text, "x")
    merge_contract(document, generated_contract(reader.table("gold.daily_revenue")))
    gone, new = changed_lines(text, document.text())
    assert gone == ["  physicalName: an older name", "    logicalType: number"]
    lines = document.text().split(line_end)
    assert not any("\r" in line or line.endswith(" ") for line in lines)
    assert "  physicalName: /lake/gold/daily_revenue" in new
    # comments stay next to what they describe
    place = lines.index("  # region comes next")
    assert lines[place + 1] == "  - name: region"
    assert lines[lines.index("    # of the query") + 1] == "    mustBe: 0"
    assert lines[-2:] == ["# the end", ""]
    again = parse_contract(document.text(), "x")
    merge_contract(again, generated_contract(reader.table("gold.daily_revenue")))
    assert again.text() == document.text()


def test_a_new_contract_has_no_blanks_at_the_ends_of_lines(reader: FactsReader) -> None:
    for row in reader.lineage.tables(limit=0).rows:
        text = dump_yaml(generated_contract(reader.table(row.name, row.namespace)))
        assert [line for line in text.splitlines() if line.endswith(" ")] == []


@pytest.mark.parametrize(
    ("text", "change", "expected"),
    [
        ("a: 1 # one\nb: 2\n", {"a": 7}, "a: 7 # one\nb: 2\n"),
        ("a: 1\nb: 2\n# end\n", {"c": [1]}, "a: 1\nb: 2\nc:\n  - 1\n# end\n"),
        ("a:\n- 1\n- 2 # two\n- 3", {"a": [2, 3, 4]}, "a:\n- 2 # two\n- 3\n- 4\n"),
        ("a: [1, 2] # list\n", {"a": [1, 3]}, "a: [1, 3] # list\n"),
        ("a: x\nb: 1\n", {"a": "two\nlines"}, 'a: "two\\nlines"\nb: 1\n'),
        ("a:\n  - x: 1\n", {"a": []}, "a: []\n"),
        ("a:\nb: 1\n", {"a": "now"}, "a: now\nb: 1\n"),
        ("é: '\u2028'\nb: 1 # x\n", {"b": 2}, "é: '\u2028'\nb: 2 # x\n"),
    ],
)
def test_one_change(text: str, change: dict[str, Any], expected: str) -> None:
    tree = round_trip_yaml().load(text)
    tree.update(change)
    assert patch_yaml(text, tree) == expected


def test_any_change_gives_the_wanted_values() -> None:
    chance = random.Random(7)
    for _ in range(300):
        tree = round_trip_yaml().load(BY_HAND)
        for _ in range(chance.randrange(1, 6)):
            change_somewhere(tree, chance)
        wanted = copy.deepcopy(tree)
        assert round_trip_yaml().load(patch_yaml(BY_HAND, tree)) == wanted


def change_somewhere(tree: Any, chance: random.Random) -> None:
    """Change, add or remove one value at a random place."""
    node = tree
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        inner = [key for key in keys if isinstance(node[key], dict | list) and node[key]]
        if not inner or chance.random() < 0.3:
            break
        node = node[chance.choice(inner)]
    new = chance.choice(["text", 5, None, ["a", {"b": 1}], {"c": {"d": "e: f"}}, "two\nlines", []])
    if isinstance(node, dict):
        node[chance.choice([*keys, "new key"])] = new
    elif keys and chance.random() < 0.5:
        del node[chance.choice(keys)]
    else:
        node.insert(chance.randrange(len(node) + 1), new)
