"""Generates the source files of two days: the same data on every run."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]

CITIES = ("Leeds", "Lyon", "Porto")
CUISINES = ("thai", "pizza", "indian", "sushi")
DAYS = ("2026-03-01", "2026-03-02")
CUSTOMERS, RESTAURANTS, COURIERS, ORDERS_PER_DAY = 60, 12, 10, 150


def write_reference(folder: Path) -> None:
    """Write customers, restaurants, couriers and menus as CSV exports."""
    rng = random.Random(7)  # noqa: S311 - sample data, the same every time
    _write_csv(folder / "customers" / "export.csv", (_customer(n, rng) for n in range(CUSTOMERS)))
    _write_csv(folder / "restaurants" / "export.csv", (_restaurant(n, rng) for n in range(RESTAURANTS)))
    _write_csv(folder / "couriers" / "export.csv", (_courier(n, rng) for n in range(COURIERS)))
    _write_csv(folder / "menu_items" / "export.csv", (_menu_item(n, rng) for n in range(RESTAURANTS * 4)))


def write_day(folder: Path, day: int) -> None:
    """Write one day of orders, payments and courier pings as JSON lines."""
    rng = random.Random(100 + day)  # noqa: S311 - sample data, the same every time
    orders = [_order(day * ORDERS_PER_DAY + n, DAYS[day], rng) for n in range(ORDERS_PER_DAY)]
    _write_json(folder / "orders" / f"{DAYS[day]}.json", orders)
    _write_json(folder / "payments" / f"{DAYS[day]}.json", (_payment(order, rng) for order in orders))
    _write_json(folder / "pings" / f"{DAYS[day]}.json", (ping for order in orders for ping in _pings(order, rng)))


def _customer(number: int, rng: random.Random) -> Row:
    return {
        "customer_id": f"c{number:04}",
        "full_name": f"Customer {number}",
        "email": f"customer{number}@example.com",
        "phone": f"+44 7700 900{number:03}",
        "birth_date": f"{1960 + number % 45}-0{1 + number % 9}-15",
        "city": rng.choice(CITIES),
        "signed_up_on": f"2025-{1 + number % 12:02}-10",
        "marketing_consent": str(rng.random() < 0.6).lower(),
    }


def _restaurant(number: int, rng: random.Random) -> Row:
    return {
        "restaurant_id": f"r{number:03}",
        "name": f"Kitchen {number}",
        "cuisine": rng.choice(CUISINES),
        "city": CITIES[number % len(CITIES)],
        "commission_rate": f"{0.15 + 0.01 * (number % 5):.2f}",
        "legacy_code": f"L-{number * 37}",
        "latitude": f"{53.8 + number / 100:.4f}",
        "longitude": f"{-1.5 - number / 100:.4f}",
    }


def _courier(number: int, rng: random.Random) -> Row:
    return {
        "courier_id": f"k{number:03}",
        "courier_name": f"Courier {number}",
        "vehicle": rng.choice(("bike", "scooter", "car")),
        "city": CITIES[number % len(CITIES)],
        "bank_account": f"GB00DEMO{number:08}",
    }


def _menu_item(number: int, rng: random.Random) -> Row:
    return {
        "item_id": f"m{number:04}",
        "restaurant_id": f"r{number // 4:03}",
        "title": f"Dish {number}",
        "list_price": f"{rng.randint(500, 2200) / 100:.2f}",
    }


def _order(number: int, day: str, rng: random.Random) -> Row:
    restaurant = rng.randrange(RESTAURANTS)
    items = [
        {
            "item_id": f"m{restaurant * 4 + rng.randrange(4):04}",
            "quantity": rng.randint(1, 3),
            "price": price / 100,
        }
        for price in (rng.randint(500, 2200) for _ in range(rng.randint(1, 3)))
    ]
    hour = rng.randint(11, 21)
    return {
        "order_id": f"o{number:06}",
        "customer_id": f"c{rng.randrange(CUSTOMERS):04}",
        "restaurant_id": f"r{restaurant:03}",
        "placed_at": f"{day}T{hour:02}:{rng.randrange(60):02}:00",
        "status": "cancelled" if rng.random() < 0.08 else "delivered",
        "promo_code": rng.choice((None, None, "SPRING", "WELCOME")),
        "address": {
            "street": f"{number % 90} Mill Lane",
            "city": rng.choice(CITIES),
            "latitude": 53.8 + rng.random() / 10,
            "longitude": -1.6 + rng.random() / 10,
        },
        "items": items,
    }


def _payment(order: Row, rng: random.Random) -> Row:
    gross = round(sum(item["quantity"] * item["price"] for item in order["items"]), 2)
    refund = gross if order["status"] == "cancelled" else round(gross * 0.2, 2) if rng.random() < 0.1 else 0.0
    return {
        "payment_id": "p" + order["order_id"][1:],
        "order_id": order["order_id"],
        "method": rng.choice(("card", "wallet", "cash")),
        "card_number": f"4929 0000 0000 {rng.randrange(10000):04}",
        "gross_amount": gross,
        "refund_amount": refund,
        "paid_at": order["placed_at"],
    }


def _pings(order: Row, rng: random.Random) -> list[Row]:
    courier = f"k{rng.randrange(COURIERS):03}"
    day, clock = order["placed_at"].split("T")
    hour, minute = int(clock[:2]), int(clock[3:5])
    dropped_off, picked_up = minute + rng.randint(18, 55), minute + 12
    return [
        {"order_id": order["order_id"], "courier_id": courier, "event": event,
         "at": f"{day}T{hour + at // 60:02}:{at % 60:02}:00"}
        for event, at in (("picked_up", picked_up), ("dropped_off", dropped_off))
    ]  # fmt: skip


def _write_csv(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    all_rows = list(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(all_rows[0]))
        writer.writeheader()
        writer.writerows(all_rows)


def _write_json(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
