"""Tensor memory: instructions of the pipes that sm_100 has for it, tc for products and tmem for loads and stores.

The names are Nsight Compute's; which instructions each counts is taken from what they do, and read on no GPU: hence
`modelled`.
"""

from __future__ import annotations

from collections.abc import Iterator

from warplens.counters.vocabulary import EXECUTED, Formula, Quantity, Selection, modelled, only, opcode

blackwell = only(100, 103)
PRODUCTS = opcode("UTCHMMA", "UTCQMMA", "UTCIMMA", "UTCOMMA", "UTCCP", "UTCSHIFT")
MOVES = opcode("LDTM", "STTM")
OF_A_PAIR = Selection(lambda site: "2CTA" in site.opcode.split("."))


def both(name: str, quantity: Quantity) -> Iterator[Formula]:
    for prefix in ("smsp", "sm"):
        yield modelled(f"{prefix}__inst_executed_pipe_{name}.sum", "inst", quantity, blackwell)


METRICS: tuple[Formula, ...] = (
    *both("tc", EXECUTED[PRODUCTS]),
    *both("tc_scope_1cta", EXECUTED[PRODUCTS & ~OF_A_PAIR]),
    *both("tc_scope_2cta", EXECUTED[PRODUCTS & OF_A_PAIR]),
    *both("tmem", EXECUTED[MOVES]),
)
