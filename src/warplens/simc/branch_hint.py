"""Branch hint: keeps code that rarely runs out of the way of the code around it, in compiled functions."""

from __future__ import annotations


def unlikely(condition: bool) -> bool:
    """The condition, marked as one that rarely holds (llvm.expect)."""
    return condition
