"""The questions of the demo: a title, why it matters, and the command that answers it.

`{between}` in a command is replaced by the time between the two days. Exit code 1 of a command means that the answer
is "no".
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DemoQuestion:
    """A question, why it matters, and the command line that answers it."""

    title: str
    why: str
    command: tuple[str, ...]

    def arguments(self, between: str) -> list[str]:
        """The command's arguments, with the time between the two days filled in."""
        return [part.replace("{between}", between) for part in self.command]


QUESTIONS: tuple[DemoQuestion, ...] = (
    DemoQuestion(
        "Which columns match a name?",
        "Nobody remembers full column names, so most searches start here.",
        ("find", "revenue"),
    ),
    DemoQuestion(
        "What does the table of daily revenue look like?",
        "Its columns, who writes it, and who reads it.",
        ("show", "gold.daily_revenue"),
    ),
    DemoQuestion(
        "The board's revenue looks wrong: what feeds it?",
        "Revenue on day two is too high. The answer marks the job that changed since day one: settle_payments.",
        ("upstream", "platinum.executive_summary.total_revenue", "--since", "{between}"),
    ),
    DemoQuestion(
        "What changed between the two days?",
        "net_amount no longer depends on refund_amount: a one-line change, three tables upstream of the board.",
        ("diff", "--from", "{between}"),
    ),
    DemoQuestion(
        "What was the lineage before the change?",
        "The same query as of day one still shows refund_amount: colline keeps the history of lineage.",
        ("upstream", "silver.payments.net_amount", "--as-of", "{between}"),
    ),
    DemoQuestion(
        "Which job writes a column, and how?",
        "One job, its owner, and how it computes the column today.",
        ("writers", "silver.payments.net_amount"),
    ),
    DemoQuestion(
        "What depends on a restaurant's commission rate?",
        "Finance changes the rates tonight: these columns and jobs are affected.",
        ("downstream", "bronze.restaurants.commission_rate"),
    ),
    DemoQuestion(
        "Where does a customer's e-mail address end up?",
        "Masked in the analysts' table, but unmasked in the campaign and in a file that leaves the platform.",
        ("pii", "bronze.customers.email", "--direct", "--allowed-zone", "silver.*"),
    ),
    DemoQuestion(
        "Where does all other personal data end up?",
        "Rules in the lake's colline.toml tag personal columns as PII. Unmasked data outside silver is a violation.",
        ("pii", "--tag", "PII", "--direct", "--allowed-zone", "silver.*"),
    ),
    DemoQuestion(
        "On which path did it get there?",
        "Every step of the path, to find the job that has to be fixed.",
        ("paths", "bronze.customers.email", "platinum.campaign_audience.contact"),
    ),
    DemoQuestion(
        "What breaks if the promo code is dropped?",
        "Asked before the pull request is merged: one metric uses it, in a condition.",
        ("impact", "silver.orders.promo_code", "--change", "drop"),
    ),
    DemoQuestion(
        "Is it safe to drop a column?",
        "No job reads legacy_code. status is never part of a result, but it filters which orders count.",
        ("droppable", "silver.restaurants.legacy_code", "silver.orders.status"),
    ),
    DemoQuestion(
        "Which columns are never read?",
        "They cost storage and maintenance, and no job or dashboard uses them.",
        ("unused", "silver.restaurants"),
    ),
    DemoQuestion(
        "Do two revenue columns mean the same?",
        "One is per city, one per restaurant. They have the same source, so their totals must agree.",
        ("compare", "gold.daily_revenue.revenue", "gold.restaurant_performance.revenue"),
    ),
    DemoQuestion(
        "Can the churn score be trusted today?",
        "Its last run failed, so the table holds yesterday's scores; and the model's code is opaque.",
        ("upstream", "platinum.churn_risk.churn_risk", "--depth", "1"),
    ),
    DemoQuestion(
        "Which runs failed?",
        "The failed run, with its job, its start and the error of Spark.",
        ("runs", "--state", "FAIL"),
    ),
    DemoQuestion(
        "Where is lineage missing?",
        "The code of mapInPandas cannot be analyzed: its columns are reported as unknown, not as unconnected.",
        ("coverage",),
    ),
    DemoQuestion(
        "Which tables of the gold layer are there?",
        "With the number of their columns, and of the tables upstream and downstream.",
        ("tables", "--layer", "gold"),
    ),
    DemoQuestion(
        "Which jobs are there?",
        "Each job with the state and the time of its last run.",
        ("jobs",),
    ),
    DemoQuestion(
        "Which columns have the most connections?",
        "Errors in these columns affect the most data, so tests are worth most here.",
        ("columns", "--top", "5"),
    ),
    DemoQuestion(
        "Where does the data come from?",
        "Files of the operational systems, and counts, which have no input column.",
        ("columns", "--roots", "--limit", "10"),
    ),
    DemoQuestion(
        "Where does the data end?",
        "Reports, scores and an exported file.",
        ("columns", "--leaves", "--limit", "10"),
    ),
)
