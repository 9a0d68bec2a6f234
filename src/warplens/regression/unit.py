"""Units of budgets: which numbers can be compared, added and divided.

A plain number takes the unit of what it stands beside: `registers <= 40` and `registers <= 40 registers` are the same.
"""

from __future__ import annotations

from warplens.errors import UsageError

PLAIN = ""
SCALES: dict[str, tuple[str, float]] = {
    "B": ("byte", 1), "kB": ("byte", 1e3), "KB": ("byte", 1e3), "MB": ("byte", 1e6), "GB": ("byte", 1e9),
    "KiB": ("byte", 1 << 10), "MiB": ("byte", 1 << 20), "GiB": ("byte", 1 << 30),
    "ns": ("ns", 1), "us": ("ns", 1e3), "µs": ("ns", 1e3), "μs": ("ns", 1e3), "ms": ("ns", 1e6), "s": ("ns", 1e9),
    "%": ("%", 1), "GB/s": ("byte/s", 1e9), "TB/s": ("byte/s", 1e12),
}  # fmt: skip
WORDS = ("byte", "inst", "sector", "warp", "thread", "block", "cycle", "register")
EACH = ("block", "thread")
"""Of what is said for each of these the unit may be left out: 48 KiB of launch__shared_mem_per_block_static."""


def scaled(number: float, unit: str) -> tuple[float, str]:
    """A number with a unit as it is written, in the unit that metrics have.  UsageError for an unknown one."""
    if unit in SCALES:
        base, scale = SCALES[unit]
        return number * scale, base
    above, _, below = unit.partition("/")
    word = above.removesuffix("s")
    if word in WORDS and (not below or below in (*WORDS, "request")):
        return number, f"{word}/{below}" if below else word
    known = ", ".join([*dict.fromkeys(SCALES), *WORDS])
    raise UsageError(f"{unit!r} is no unit; possible are {known}")


def common(one: str, other: str) -> str | None:
    """The unit of two numbers that are added or compared; None if they cannot be."""
    if one == other or other == PLAIN:
        return one
    if one == PLAIN:
        return other
    for long, short in ((one, other), (other, one)):
        above, _, below = long.partition("/")
        if above == short and below in EACH:
            return long
    return None


def product(one: str, other: str) -> str:
    return one or other if PLAIN in (one, other) else f"{one}*{other}"


def quotient(above: str, below: str) -> str:
    if below == PLAIN:
        return above
    return PLAIN if above == below else f"{above or '1'}/{below}"
