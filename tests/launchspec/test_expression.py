"""Expressions: exact arithmetic over names, and nothing else."""

from __future__ import annotations

import re

import pytest

from warplens.errors import UsageError
from warplens.launchspec.expression import (
    evaluate,
    evaluate_call,
    evaluate_list,
    evaluate_ratio,
    evaluate_whole,
    parse_setting,
)

NAMES = {"n": 1000, "m": 64, "scale": 0.5}
ODD = {"huge": 10**4000, "nothing": float("nan")}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n", 1000),
        ("n / 8", 125),
        ("n / 16 * 16", 1000),  # exact in between
        ("n // 128", 7),
        ("-n // 128", -8),
        ("(n + 127) // 128", 8),
        ("ceil(n/128)", 8),
        ("ceil((n + 1) / 1001)", 1),
        ("n % 128", 104),
        ("2 ** 10 - 1 << 2", 4092),
        ("n >> 3", 125),
        ("min(n, m) + max(n, m, 2000)", 2064),
        ("0x10", 16),
        ("+m - -m", 128),
        ("9007199254740993 / 1", 9007199254740993),  # beyond what a double holds
        ("3.5f", 3.5),
        ("2f", 2.0),
        ("1e-3F", 0.001),
        (".5", 0.5),
        ("0x1f", 31),
        ("scale * 4", 2.0),
        ("1.0 / 8", 0.125),
    ],
)
def test_value(text: str, value: float) -> None:
    result = evaluate(text, NAMES)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("n / 128", r"'n / 128' is 125/16, which is not a whole number: write ceil\(n / 128\)"),
        ("n + 1 / 2", "not a whole number"),
        ("k + 1", "no name 'k'; known names: n, m, scale"),
        ("", "missing"),
        ("n +", "not an expression; possible are"),
        ("n / 0", "divides by zero"),
        ("n % 0", "divides by zero"),
        ("9**9**9", "right side of"),
        ("1 << 1000", "right side of"),
        ("2 ** 0.5", "right side of"),
        ("2.5 << 1", "whole numbers only"),
        ("99 ** 99", "too large"),
        ("((1 / 3) ** 99) ** 99", "too large"),
        ("(((1/3) ** 127) ** 127) ** 127", "too large"),
        ("1/2**127 * (1/2**127)", "too large"),
        ("1 << 127 << 127 << 127", "too large"),
        ("huge", "too large"),
        ("huge ** 127", "too large"),
        ("ceil(nothing)", "too large"),
        ("1e30 ** 100", "too large"),
        ("1e999", "too large"),
        ("__import__('os')", "no meaning"),
        ("n.bit_length()", "no meaning"),
        ("[n]", "no meaning"),
        ("True", "no meaning"),
        ("'text'", "no meaning"),
        ("n if m else n", "no meaning"),
        ("n < m", "no meaning"),
        ("min()", "no meaning"),
        ("ceil(n, m)", "ceil rounds one number"),
        ("n), (m", "not an expression"),
        ("*n", "no meaning"),
        ("**n", "not an expression"),
        ("n, m", "2 values"),
        ("seed=1", "seed= has no meaning here"),
        ("n\0", "not an expression"),
        ("(" * 300 + ")" * 300, "longest"),
        ("(" * 100 + ")" * 99, "not an expression"),
    ],
)
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        evaluate(text, {**NAMES, **ODD} if set(re.findall(r"\w+", text)) & set(ODD) else NAMES)


def test_a_ratio_that_is_too_large_is_refused() -> None:
    with pytest.raises(UsageError, match="too large"):
        evaluate_ratio("1e30 ** 100")


def test_deep_expressions() -> None:
    assert evaluate("-" * 199 + "n", NAMES) == -1000
    assert evaluate("(" * 99 + "n" + ")" * 99, NAMES) == 1000


def test_whole_takes_floats_that_are_whole() -> None:
    assert evaluate_whole("1e6") == 1_000_000
    with pytest.raises(UsageError, match=r"'2\.5' is 2\.5, and a whole number"):
        evaluate_whole("2.5")


def test_lists_and_keywords() -> None:
    assert evaluate_list("n, min(n, m), 3", NAMES) == (1000, 64, 3)
    assert evaluate_call("0, n, seed=7", NAMES) == ((0, 1000), {"seed": 7})


def test_setting() -> None:
    assert parse_setting("n = 1 << 20") == ("n", 1048576)
    for wrong in ("n", "=3", "2n=3"):
        with pytest.raises(UsageError, match="such as n=1024"):
            parse_setting(wrong)
