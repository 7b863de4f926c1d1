"""What one asks of the platform, as a table: the question, why it matters, and the command that answers it.

`{between}` is the moment between the two days. A command that ends with 1 has said "no", which is an answer.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question in words, why somebody asks it, and the command line that answers it."""

    title: str
    why: str
    command: tuple[str, ...]

    def arguments(self, between: str) -> list[str]:
        """The command's arguments with the moment filled in."""
        return [part.replace("{between}", between) for part in self.command]


QUESTIONS: tuple[Question, ...] = (
    Question(
        "Which columns are called like this?",
        "Nobody remembers full names; every other question starts here.",
        ("find", "revenue"),
    ),
    Question(
        "The board's revenue looks wrong: what feeds it?",
        "Day two's revenue is too high. The walk names the job whose logic changed since day one: settle_payments.",
        ("upstream", "platinum.executive_summary.total_revenue", "--since", "{between}"),
    ),
    Question(
        "What changed between the two days?",
        "net_amount no longer comes from refund_amount: a one-line change, three tables upstream of the board.",
        ("diff", "--from", "{between}"),
    ),
    Question(
        "What was true before?",
        "The same question as of day one still shows the refunds; history is kept, not overwritten.",
        ("upstream", "silver.payments.net_amount", "--as-of", "{between}"),
    ),
    Question(
        "Who writes it, and how?",
        "One job, and how it derives the column today: this is whom to call.",
        ("writers", "silver.payments.net_amount"),
    ),
    Question(
        "What is built on a restaurant's commission rate?",
        "Finance changes rates tonight: these tables and jobs move with it.",
        ("downstream", "bronze.restaurants.commission_rate"),
    ),
    Question(
        "Where does a customer's e-mail address end up?",
        "Masked on its way to analysts, in clear in the campaign and in a file that leaves the platform.",
        ("pii", "bronze.customers.email", "--direct", "--allowed-zone", "silver.*"),
    ),
    Question(
        "And everything else that is personal?",
        "Columns tagged PII by the lake's colline.toml, all at once: what leaves silver in clear is a violation.",
        ("pii", "--tag", "PII", "--direct", "--allowed-zone", "silver.*"),
    ),
    Question(
        "How exactly did it get there?",
        "The path, step by step, to show to whoever must close it.",
        ("paths", "bronze.customers.email", "platinum.campaign_audience.contact"),
    ),
    Question(
        "What breaks if the promo code goes?",
        "Before the pull request, not after: one reported share depends on it, by a condition, not by value.",
        ("impact", "silver.orders.promo_code", "--change", "drop"),
    ),
    Question(
        "May I drop it?",
        "legacy_code is read by nobody; status decides which orders count, although no value of it is ever shown.",
        ("droppable", "silver.restaurants.legacy_code", "silver.orders.status"),
    ),
    Question(
        "Which columns does nobody read?",
        "Storage and attention spent on columns that answer nothing.",
        ("unused", "silver.restaurants"),
    ),
    Question(
        "Do two revenues mean the same?",
        "One is per city, one per restaurant: same source, so a difference is a fault and not a definition.",
        ("compare", "gold.daily_revenue.revenue", "gold.restaurant_performance.revenue"),
    ),
    Question(
        "Can the churn score be trusted today?",
        "Its last run failed, so what is in the table is yesterday's; and the model cannot be seen into.",
        ("upstream", "platinum.churn_risk.churn_risk", "--depth", "1"),
    ),
    Question(
        "Where is lineage missing?",
        "A function over whole batches cannot be seen into: told as unknown, never shown as nothing.",
        ("coverage",),
    ),
    Question(
        "Which columns have the most built on them?",
        "Where a mistake costs most, and where tests pay first.",
        ("columns", "--top", "5"),
    ),
    Question(
        "Where does everything begin?",
        "The files of the operational systems, and counts, which have no input column.",
        ("columns", "--roots", "--limit", "10"),
    ),
    Question(
        "And where does it end?",
        "What leaves: reports, scores and a file.",
        ("columns", "--leaves", "--limit", "10"),
    ),
)
