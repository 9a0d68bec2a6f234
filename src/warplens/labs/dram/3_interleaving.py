"""Where an array of floats lies: burst after burst goes round the channels, and then to the next bank of each."""

from __future__ import annotations

from warplens.machine import machine
from warplens.machine.dram_banks import distribution

ELEMENTS = 32


def quantities() -> dict[str, int]:
    channels = machine("textbook").channels
    assert channels
    found: dict[str, int] = {}
    for place, elements in distribution(ELEMENTS, 4, channels).items():
        for element in elements:
            found[f"channel of M[{element}]"] = place.channel
            found[f"bank of M[{element}]"] = place.bank
    first = [e for e in range(1, ELEMENTS) if all(found[f"{what} of M[{e}]"] == 0 for what in ("channel", "bank"))]
    found["elements of a round"] = next(e for e in first if e > 1)
    return found
