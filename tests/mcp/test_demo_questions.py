"""Questions of agents about the demo's lake: the facts that each answer must contain, and its size.

They are put to `/mcp` of a real server, whose lake was filled by the receiver and the pipeline.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.demo_events import BETWEEN
from tests.server.serving import Server

from .conftest import http_session

pytestmark = [pytest.mark.anyio, pytest.mark.spark, pytest.mark.delta, pytest.mark.timeout(1600)]

# tool, arguments, facts that the text must contain, the largest size of the text
Question = tuple[str, dict[str, Any], tuple[str, ...], int]
QUESTIONS: tuple[Question, ...] = (
    ("find_column", {"q": "email"}, ("bronze.customers.email", "gold.customer_360.email_digest"), 1500),
    ("find_column", {"q": "commission"}, ("5 columns match", "platinum.restaurant_league.commission"), 1500),
    ("find_column", {"q": "build_revenue"}, ("job | ", "build_revenue"), 1500),
    ("find_column", {"q": "zzzz"}, ("no column matches 'zzzz'", "none"), 300),
    ("find_column", {"q": "card_number", "layer": "bronze"}, ("bronze.payments.card_number",), 800),
    ("find_column", {"q": "email", "tag": "PII"}, ("bronze.customers.email",), 800),
    (
        "trace", {"column": ["platinum.executive_summary.total_revenue"]},
        ("4 columns in 4 datasets", "gold.daily_revenue", ".net_amount a> ", "settle_payments"), 1000,
    ),
    ("trace", {"column": ["platinum.executive_summary.total_revenue"], "depth": 1}, ("gold.daily_revenue",), 600),
    (
        "trace", {"column": ["silver.payments.net_amount"], "as_of": BETWEEN},
        (".refund_amount", ".gross_amount"), 900,
    ),
    ("trace", {"column": ["gold.daily_revenue.revenue"], "expressions": True}, ("«sum(net_amount)»",), 900),
    (
        "trace", {"column": ["gold.daily_revenue.revenue"], "indirect": True},
        ("F:filter", "J:join key", ".status F> "), 2000,
    ),
    ("trace", {"column": ["gold.customer_360.email_digest"]}, (".email f#> ", "#:masked"), 900),
    ("trace", {"column": ["platinum.churn_risk.churn_risk"]}, ("capture: gaps", "unknown: ", "opaque"), 2500),
    ("trace", {"column": ["source.orders.address"]}, ("nothing feeds", "none"), 400),
    (
        "trace", {"column": ["bronze.restaurants.commission_rate"], "direction": "downstream"},
        ("3 columns in 3 datasets", ".commission", "publish_board"), 900,
    ),
    ("trace", {"column": ["bronze.customers.email"], "direction": "downstream"}, ("export.newsletter",), 1500),
    ("trace", {"column": ["gold.daily_revenue.revenu"]}, ("the answer for `gold.daily_revenue.revenue`",), 1000),
    ("trace", {"column": ["gold.daily_revenue.*"], "max_characters": 1000}, ("columns=",), 1000),
    (
        "paths_between", {"from": "bronze.customers.email", "to": "export.newsletter.contact"},
        ("3 steps", "platinum.campaign_audience.contact", "publish_campaign"), 1000,
    ),
    ("paths_between", {"from": "source.payments.gross_amount", "to": "gold.daily_revenue.revenue"}, ("3 steps",), 1000),
    (
        "paths_between", {"from": "bronze.couriers.courier_name", "to": "gold.dish_sales.sales"}, ("none",), 500,
    ),
    (
        "impact", {"column": ["silver.orders.promo_code"], "change": "drop"},
        ("build_revenue", "platinum.executive_summary.promoted_share"), 1500,
    ),
    (
        "impact", {"column": ["bronze.customers.email", "bronze.customers.phone"], "change": "rename"},
        ("merge_customers", "silver.customer_contacts.phone"), 6000,
    ),
    ("impact", {"column": ["silver.restaurants.legacy_code"]}, ("affects nothing",), 500),
    ("impact", {"column": ["bronze.restaurants.commission_rate"], "change": "type"}, ("conform_reference",), 2000),
    (
        "pii_reach", {"column": ["bronze.customers.email"], "allowed_zone": ["silver.*"]},
        ("2 violations of the allowed zones", "export.newsletter.contact", "masked"), 6000,
    ),
    ("pii_reach", {"tag": "PII"}, ("in clear", "silver.payments.card"), 6000),
    ("pii_reach", {"column": ["bronze.payments.card_number"]}, ("1 masked", "settle_payments"), 900),
    ("pii_reach", {"tag": "no such tag"}, ("error: ", "hint: "), 300),
    ("droppable", {"column": ["silver.restaurants.legacy_code"]}, ("silver.restaurants.legacy_code",), 2000),
    ("droppable", {"column": ["silver.orders.promo_code"]}, ("no", "build_revenue"), 1500),
    ("droppable", {"column": ["silver.orders.promo_code", "bronze.customers.email"]}, ("customers.email",), 2500),
    ("unused", {"dataset": "silver.restaurants"}, ("silver.restaurants.legacy_code",), 1500),
    ("unused", {"layer": "gold"}, ("gold.daily_revenue.city",), 6000),
    ("who_writes", {"column": ["silver.payments.net_amount"]}, ("settle_payments",), 1000),
    ("who_writes", {"column": ["gold.daily_revenue.revenue"]}, ("build_revenue", "sum(net_amount)"), 1000),
    ("who_writes", {"column": ["source.orders.address"]}, ("none",), 500),
    ("diff", {"from": BETWEEN}, ("refund_amount", "settle_payments"), 6000),
    ("diff", {"from": BETWEEN, "dataset": "silver.payments"}, ("refund_amount",), 3000),
    ("coverage", {"kind": "opaque_step", "job": "predict_churn"}, ("mapInPandas", "capture: gaps"), 1500),
    ("table", {"name": "silver.customers"}, ("6 columns", "merge_customers", "gold.customer_360"), 2500),
    ("table", {"name": "build_revenue", "kind": "job"}, ("silver.payments", "gold.daily_revenue", "COMPLETE"), 3000),
    ("table", {"name": "predict_churn", "kind": "job"}, ("FAIL", "CAST_INVALID_INPUT"), 3000),
    ("table", {"name": "export.newsletter"}, ("publish_campaign",), 1500),
    ("contract", {"table": "gold.customer_360", "max_characters": 20_000}, ("pseudonym", "sha2(email, 256)"), 20_100),
)  # fmt: skip


async def test_every_answer_has_its_facts_and_fits_its_size(ingested_server: Server) -> None:
    assert len(QUESTIONS) >= 40
    wrong = []
    async with http_session(ingested_server.address) as session:
        for tool, arguments, facts, size in QUESTIONS:
            text = (await session.call_tool(tool, arguments)).content[0].text
            missing = [fact for fact in facts if fact not in text]
            if missing or len(text) > size:
                wrong.append((tool, arguments, missing, len(text), text))
    assert wrong == []
