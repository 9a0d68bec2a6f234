"""Expressions: arithmetic over names in launches and arguments: "n / 128", "ceil(n/256)", "3.5f".

Whole numbers are exact throughout: `/` gives a fraction, and a result that is not whole is refused, never silently
rounded.  Nothing is passed to Python's eval.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeAlias

from warplens.errors import UsageError

Number: TypeAlias = int | float
Names: TypeAlias = Mapping[str, Number]
_Value: TypeAlias = int | float | Fraction

_LONGEST = 200  # characters; keeps the tree walk, 3 frames a level, far from the recursion limit
LARGEST = 2**128  # no size or parameter is larger; limits both parts of fractions, else ((1/3)**99)**99 never ends
_POSSIBLE = "possible are numbers, names, + - * / // % ** << >>, min, max and ceil"
_C_FLOAT = re.compile(r"(?<![\w.])(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)[fF]\b")


def evaluate(text: str, names: Names | None = None) -> Number:
    """The value of one expression; a float only if it contains one or a name is one."""
    values = evaluate_list(text, names)
    if len(values) != 1:
        raise UsageError(f"'{text.strip()}' is {len(values)} values where one number is wanted")
    return values[0]


def evaluate_whole(text: str, names: Names | None = None) -> int:
    """The value of one expression that must be a whole number; 1e6 counts as whole."""
    return whole(text, evaluate(text, names))


def evaluate_ratio(text: str, names: Names | None = None) -> Number | None:
    """As evaluate(), but a fraction becomes a float; None for a division by zero."""
    call = _parse(text)
    if len(call.args) != 1 or call.keywords:
        raise UsageError(f"'{text.strip()}' is not one number")
    try:
        value = _value(call.args[0], names or {})
    except ZeroDivisionError:
        return None
    except (OverflowError, ValueError):
        raise UsageError(f"'{text.strip()}' is too large") from None
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value


def evaluate_list(text: str, names: Names | None = None) -> tuple[Number, ...]:
    """The values of a list "n, m / 2"."""
    values, keywords = evaluate_call(text, names)
    if keywords:
        raise UsageError(f"'{text.strip()}': {next(iter(keywords))}= has no meaning here")
    return values


def evaluate_call(text: str, names: Names | None = None) -> tuple[tuple[Number, ...], dict[str, Number]]:
    """Arguments of a call, "0, 1000, seed=7": values in order and by keyword."""
    call, known = _parse(text), names or {}
    return (
        tuple(_finish(node, known) for node in call.args),
        {str(keyword.arg): _finish(keyword.value, known) for keyword in call.keywords},
    )


def whole(text: str, value: Number) -> int:
    if isinstance(value, float) and not value.is_integer():
        raise UsageError(f"'{text.strip()}' is {value}, and a whole number is wanted")
    return int(value)


def parse_setting(text: str, names: Names | None = None) -> tuple[str, Number]:
    """ "n = 1 << 20" as name and value."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise UsageError(f"expected NAME=VALUE such as n=1024, got '{text}'")
    return name.strip(), evaluate(value, names)


def _parse(text: str) -> ast.Call:
    if len(text) > _LONGEST:
        raise UsageError(f"an expression of {len(text)} characters; the longest possible has {_LONGEST}")
    if not text.strip():
        raise UsageError("a number or an expression is missing")
    try:
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # "1if" is refused below anyway
            body = ast.parse(f"call({_C_FLOAT.sub(_as_float, text)}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UsageError(f"'{text.strip()}' is not an expression; {_POSSIBLE}") from None
    match body:
        case ast.Call(func=ast.Name(), keywords=keywords) if all(keyword.arg for keyword in keywords):
            return body
    raise UsageError(f"'{text.strip()}' is not an expression; {_POSSIBLE}")  # "n), (m" or "**n"


def _as_float(literal: re.Match[str]) -> str:
    digits = literal[1]
    return digits if re.search(r"[.eE]", digits) else f"{digits}.0"


def _finish(node: ast.expr, names: Names) -> Number:
    text = ast.unparse(node)
    try:
        value = _value(node, names)
    except ZeroDivisionError:
        raise UsageError(f"'{text}' divides by zero") from None
    except (OverflowError, RecursionError, ValueError):  # ValueError: ceil(nan)
        raise UsageError(f"'{text}' is too large") from None
    if isinstance(value, Fraction):
        if value.denominator != 1:
            raise UsageError(
                f"'{text}' is {value.numerator}/{value.denominator}, which is not a whole number: "
                f"write ceil({text}) to round up or // to round down"
            )
        return value.numerator
    return value


def _value(node: ast.expr, names: Names) -> _Value:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _bounded(node, value)
        case ast.Name(id=name):
            if name not in names:
                known = ", ".join(names) or f"none; an argument '{name} = 1024' or --set {name}=1024 makes one"
                raise UsageError(f"no name '{name}'; known names: {known}")
            return names[name] if isinstance(names[name], float) else _bounded(node, names[name])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, names)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _bounded(node, _OPERATORS[type(sign)](_value(left, names), _value(right, names)))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(arg, names) for arg in args))
    raise UsageError(f"'{ast.unparse(node)}' has no meaning here; {_POSSIBLE}")


def _bounded(node: ast.expr, value: _Value) -> _Value:
    parts = (value.numerator, value.denominator) if isinstance(value, Fraction) else (value,)
    if not all(-LARGEST < part < LARGEST for part in parts):
        raise UsageError(f"'{ast.unparse(node)}' is too large")
    return value


def _divide(a: _Value, b: _Value) -> _Value:
    return a / b if isinstance(a, float) or isinstance(b, float) else Fraction(a) / Fraction(b)


def _power(a: _Value, b: _Value) -> _Value:
    result: _Value = a ** _count(b, "**")
    return result


def _shift(name: str, shift: Callable[[int, int], int]) -> Callable[[_Value, _Value], _Value]:
    def shifted(a: _Value, b: _Value) -> _Value:
        if isinstance(a, float) or a != int(a):
            raise UsageError(f"{name} shifts whole numbers only, not {a}")
        return shift(int(a), _count(b, name))

    return shifted


def _count(value: _Value, name: str) -> int:
    if isinstance(value, float) or value not in range(128):
        raise UsageError(f"the right side of {name} is {value}; it can be a whole number from 0 to 127")
    return int(value)


def _ceil(value: _Value, *more: _Value) -> int:
    if more:
        raise UsageError("ceil rounds one number up; for a quotient write ceil(n/128)")
    return math.ceil(value)


def _least(*values: _Value) -> _Value:
    return min(values)


def _greatest(*values: _Value) -> _Value:
    return max(values)


_OPERATORS: Mapping[type[ast.operator], Callable[[_Value, _Value], _Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divide,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.LShift: _shift("<<", operator.lshift),
    ast.RShift: _shift(">>", operator.rshift),
}
_FUNCTIONS: Mapping[str, Callable[..., _Value]] = {
    "min": _least,
    "max": _greatest,
    "ceil": _ceil,
}
