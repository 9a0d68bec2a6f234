"""Wording: numbers and nouns as every report prints them."""

from __future__ import annotations

RESOURCES = {
    "registers": "registers",
    "shared_mem": "shared memory",
    "warps": "warps",
    "blocks": "SM block slots",
    "barriers": "barriers",
}
"""What limits occupancy, as occupancy() names it."""


CATEGORIES = {"main memory": "global/local memory", "constant memory": "constant loads"}
"""Categories of counters/opcodes.py that are printed by another name; the JSON document has the names of opcodes.py."""


def category_name(name: str) -> str:
    """ "global/local memory" for "main memory"."""
    return CATEGORIES.get(name, name)


def count(amount: int, noun: str) -> str:
    """ "1 block", "131,072 blocks"."""
    return f"{amount:,} {noun}" + "s" * (amount != 1)


def percent(part: float) -> str:
    """A percentage that is never rounded to nothing or to everything."""
    value = 100 * part
    if 0 < value < 1 or 99 < value < 100:
        return f"{value:.2g} %" if value < 1 else f"{value:.1f} %"
    return f"{value:.0f} %"


def decimal(amount: float) -> str:
    """ "4", "8.5", "1,024"."""
    return f"{amount:,.0f}" if abs(amount - round(amount)) < 0.05 else f"{amount:,.1f}"
