"""Values of literals are removed from a plan that becomes part of an event."""

from __future__ import annotations

import pytest

from colline.capture.connect.client.literal_removal import neutral_sql, without_literals
from colline.capture.connect.recorded_plan import EarlierCommand, RecordedPlan, TableDescription

pytest.importorskip("google.protobuf")


def test_sql_text_keeps_its_structure() -> None:
    sql = "select a from `t '1'` where b = 'it''s Ann' and c > 411111 and d < 3 -- Ann\n and e = date'2020-02-03'"
    assert neutral_sql(sql) == "select a from `t '1'` where b = '?' and c > 0 and d < 3  \n and e = date'1970-01-01'"


def test_no_value_is_left_in_a_recorded_plan() -> None:
    from pyspark.sql.connect.proto import base_pb2

    plan = base_pb2.Plan()
    plan.root.filter.condition.literal.string = "Ann"
    plan.root.filter.input.filter.condition.literal.long = 4111111111
    plan.root.filter.input.filter.input.sql.query = "select * from t where name = 'Ann'"
    plan.root.filter.input.filter.input.sql.named_arguments["x"].literal.string = "Ann"
    view = TableDescription(("spark_catalog", "default", "v"), "{}", view_text="select 'Ann' as a")
    content = plan.SerializeToString()
    found = without_literals(RecordedPlan(content, earlier=(EarlierCommand(content),), tables=(view,)))
    neutral = base_pb2.Plan.FromString(found.plan)
    assert neutral.root.filter.input.filter.condition.literal.long == 0
    assert neutral.root.filter.input.filter.condition.literal.WhichOneof("literal_type") == "long"
    assert b"Ann" not in found.plan + found.earlier[0].plan + found.tables[0].view_text.encode()
