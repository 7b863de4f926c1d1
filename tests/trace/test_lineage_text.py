"""A lineage as a table, and as a picture."""

from __future__ import annotations

import re

from colline.trace import ColumnLineage, ColumnRef, DatasetName, Dependency, Effect, OpaqueStep, Transformation

ORDERS = DatasetName("file", "/data/orders")


def entry(field: str, effect: Effect, text: str = "", *, masking: bool = False) -> Dependency:
    return Dependency(ColumnRef(ORDERS, field), (Transformation(effect, text, masking),))


LINEAGE = ColumnLineage(
    fields={
        "region": (entry("region", Effect.IDENTITY),),
        "buyers": (entry("email", Effect.AGGREGATION, "count(DISTINCT email)", masking=True),),
        "made_at": (),
    },
    dataset=(entry("region", Effect.GROUP_BY, "region"),),
    opaque=(OpaqueStep("MapInPandas", "clean", "mapInPandas runs a program over whole rows"),),
    values={"made_at": "current_timestamp()"},
)


def test_lineage_prints_as_a_table() -> None:
    assert str(LINEAGE) == "\n".join(
        [
            "column   from           how                        expression",
            "───────  ─────────────  ─────────────────────────  ─────────────────────",
            "region   orders.region  direct/identity",
            "buyers   orders.email   direct/aggregation masked  count(DISTINCT email)",
            "made_at  —              no input                   current_timestamp()",
            "*        orders.region  indirect/group_by          region",
            "opaque: MapInPandas clean: mapInPandas runs a program over whole rows",
        ]
    )


def test_lineage_without_columns_prints_a_note() -> None:
    assert str(ColumnLineage()).endswith("(no columns)")


def test_picture_escapes_names_and_loads_nothing() -> None:
    hostile = ColumnLineage({'<script>alert("x")</script>': (entry("<b>", Effect.IDENTITY),)})
    html = hostile._repr_html_()
    assert "&lt;script&gt;" in html and "<script" not in html
    assert "&lt;b&gt;" in html and "<b>" not in html
    assert not re.search(r"(src|href)=|https?:(?!//www.w3.org/2000/svg)", html)


def test_picture_has_a_line_per_dependency_and_a_legend_of_the_kinds() -> None:
    html = LINEAGE._repr_html_()
    picture = html[: html.index("</svg>")]
    assert picture.count("<path") == 6  # three dependencies, and the legend of value, decides and masked
    assert [label for label in ("value", "decides", "masked") if f">{label}</text>" in picture] == [
        "value", "decides", "masked",
    ]  # fmt: skip
    assert "direct/aggregation masked: count(DISTINCT email)</title>" in picture
    assert "<td>count(DISTINCT email)</td>" in html and "opaque: MapInPandas clean" in html
