"""What the platform's operational systems would deliver: two days of files, the same on every run."""

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
CUSTOMERS, RESTAURANTS, COURIERS, ORDERS_A_DAY = 60, 12, 10, 150


def write_reference(folder: Path) -> None:
    """Customers, restaurants, couriers and menus, as nightly CSV exports."""
    chance = random.Random(7)  # noqa: S311 - sample data, the same every time
    _write_csv(folder / "customers" / "export.csv", (_customer(n, chance) for n in range(CUSTOMERS)))
    _write_csv(folder / "restaurants" / "export.csv", (_restaurant(n, chance) for n in range(RESTAURANTS)))
    _write_csv(folder / "couriers" / "export.csv", (_courier(n, chance) for n in range(COURIERS)))
    _write_csv(folder / "menu_items" / "export.csv", (_menu_item(n, chance) for n in range(RESTAURANTS * 4)))


def write_day(folder: Path, day: int) -> None:
    """One day of orders, payments and courier pings, as JSON lines."""
    chance = random.Random(100 + day)  # noqa: S311 - sample data, the same every time
    orders = [_order(day * ORDERS_A_DAY + n, DAYS[day], chance) for n in range(ORDERS_A_DAY)]
    _write_json(folder / "orders" / f"{DAYS[day]}.json", orders)
    _write_json(folder / "payments" / f"{DAYS[day]}.json", (_payment(order, chance) for order in orders))
    _write_json(folder / "pings" / f"{DAYS[day]}.json", (ping for order in orders for ping in _pings(order, chance)))


def _customer(number: int, chance: random.Random) -> Row:
    return {
        "customer_id": f"c{number:04}",
        "full_name": f"Customer {number}",
        "email": f"customer{number}@example.com",
        "phone": f"+44 7700 900{number:03}",
        "birth_date": f"{1960 + number % 45}-0{1 + number % 9}-15",
        "city": chance.choice(CITIES),
        "signed_up_on": f"2025-{1 + number % 12:02}-10",
        "marketing_consent": str(chance.random() < 0.6).lower(),
    }


def _restaurant(number: int, chance: random.Random) -> Row:
    return {
        "restaurant_id": f"r{number:03}",
        "name": f"Kitchen {number}",
        "cuisine": chance.choice(CUISINES),
        "city": CITIES[number % len(CITIES)],
        "commission_rate": f"{0.15 + 0.01 * (number % 5):.2f}",
        "legacy_code": f"L-{number * 37}",
        "latitude": f"{53.8 + number / 100:.4f}",
        "longitude": f"{-1.5 - number / 100:.4f}",
    }


def _courier(number: int, chance: random.Random) -> Row:
    return {
        "courier_id": f"k{number:03}",
        "courier_name": f"Courier {number}",
        "vehicle": chance.choice(("bike", "scooter", "car")),
        "city": CITIES[number % len(CITIES)],
        "bank_account": f"GB00DEMO{number:08}",
    }


def _menu_item(number: int, chance: random.Random) -> Row:
    return {
        "item_id": f"m{number:04}",
        "restaurant_id": f"r{number // 4:03}",
        "title": f"Dish {number}",
        "list_price": f"{chance.randint(500, 2200) / 100:.2f}",
    }


def _order(number: int, day: str, chance: random.Random) -> Row:
    restaurant = chance.randrange(RESTAURANTS)
    items = [
        {
            "item_id": f"m{restaurant * 4 + chance.randrange(4):04}",
            "quantity": chance.randint(1, 3),
            "price": price / 100,
        }
        for price in (chance.randint(500, 2200) for _ in range(chance.randint(1, 3)))
    ]
    hour = chance.randint(11, 21)
    return {
        "order_id": f"o{number:06}",
        "customer_id": f"c{chance.randrange(CUSTOMERS):04}",
        "restaurant_id": f"r{restaurant:03}",
        "placed_at": f"{day}T{hour:02}:{chance.randrange(60):02}:00",
        "status": "cancelled" if chance.random() < 0.08 else "delivered",
        "promo_code": chance.choice((None, None, "SPRING", "WELCOME")),
        "address": {
            "street": f"{number % 90} Mill Lane",
            "city": chance.choice(CITIES),
            "latitude": 53.8 + chance.random() / 10,
            "longitude": -1.6 + chance.random() / 10,
        },
        "items": items,
    }


def _payment(order: Row, chance: random.Random) -> Row:
    gross = round(sum(item["quantity"] * item["price"] for item in order["items"]), 2)
    refund = gross if order["status"] == "cancelled" else round(gross * 0.2, 2) if chance.random() < 0.1 else 0.0
    return {
        "payment_id": "p" + order["order_id"][1:],
        "order_id": order["order_id"],
        "method": chance.choice(("card", "wallet", "cash")),
        "card_number": f"4929 0000 0000 {chance.randrange(10000):04}",
        "gross_amount": gross,
        "refund_amount": refund,
        "paid_at": order["placed_at"],
    }


def _pings(order: Row, chance: random.Random) -> list[Row]:
    courier = f"k{chance.randrange(COURIERS):03}"
    day, clock = order["placed_at"].split("T")
    hour, minute = int(clock[:2]), int(clock[3:5])
    ends = (minute + chance.randint(18, 55), minute + 12)
    return [
        {"order_id": order["order_id"], "courier_id": courier, "event": event,
         "at": f"{day}T{hour + at // 60:02}:{at % 60:02}:00"}
        for event, at in (("picked_up", ends[1]), ("dropped_off", ends[0]))
    ]  # fmt: skip


def _write_csv(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = list(rows)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(listed[0]))
        writer.writeheader()
        writer.writerows(listed)


def _write_json(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
