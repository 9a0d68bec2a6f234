"""Argument conversion: numbers to the bytes of their parameter, losslessly; checks the element types of arrays.

Rounding to the nearest float is no loss: 0.1 is a double in Python.  Neither is another sign of integers of the same
width: -1 and 0xffffffff are the same 4 bytes.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from warplens.compiler.parameter_type import ParameterType
from warplens.errors import UsageError
from warplens.launchspec.element_type import ElementType

LARGEST_BFLOAT16 = float.fromhex("0x1.FEp127")


def number_bytes(value: Any, size: int, kind: ParameterType, label: str) -> bytes:
    """A number, structure or null pointer in the bytes of its parameter.  UsageError if it does not fit."""
    if isinstance(value, np.ndarray):  # zero-dimensional
        value = value[()]
    if isinstance(value, bytes):  # as they are
        return _sized(value, size, "bytes", label)
    if kind.pointer and value is not None and not isinstance(value, np.uint64) and not _is_zero(value):
        raise UsageError(
            f"{label} is {_shown(value)}, and the kernel takes a pointer there, {kind.spelled}: pass an array, or "
            "None ('null') for a null pointer"
        )
    if kind.element is not None and not kind.pointer:
        return _as_type(value, kind, kind.element, label)
    if value is None:
        return bytes(size)
    if isinstance(value, np.generic):
        return _sized(value.tobytes(), size, str(value.dtype), label)
    return _python_number(value, size, label)


def check_elements(given: np.dtype[Any], kind: ParameterType, label: str) -> None:
    """UsageError if the parameter points to another element type, or is no pointer.

    Bytes and vectors of integers (char*, uint4*) accept data of any type, wider words accept narrower data packed in
    them.
    """
    if not given.isnative:
        raise UsageError(
            f"{label} is an array of {given} in another byte order than the GPU's: convert it with "
            f".astype({given.newbyteorder('=').name!r})"
        )
    if kind.element is None:
        return
    if not kind.pointer:
        raise UsageError(f"{label} is an array, and the kernel takes a number there, {kind.spelled}: pass the number")
    element, wanted = kind.element, kind.element.dtype
    lane = given.itemsize // 2 if given.kind == "c" else given.itemsize
    same = lane == wanted.itemsize and given.kind in ("fc" if wanted.kind == "f" else "iubmM")
    vector = element.lanes > 1
    packed = lane < wanted.itemsize and (element.whole or vector)  # 4 bytes in an int, 8 halves in a float4
    if given.kind == "V" or same or packed or (element.whole and (vector or wanted.itemsize == 1)):
        return
    raise UsageError(
        f"{label} is an array of {given}, and the kernel takes {kind.spelled}: convert it with "
        f".astype(np.{wanted.name}), write {element.scalar} as its type, or pass its bytes as they are with "
        f".view(np.{wanted.name})"
    )


def _as_type(value: Any, kind: ParameterType, element: ElementType, label: str) -> bytes:
    """A number converted to the parameter's type."""
    if isinstance(value, np.void) or (isinstance(value, np.uint16) and element.scalar == "bf16"):
        return _sized(value.tobytes(), element.bytes, str(value.dtype), label)  # NumPy has no bfloat16: its bits
    if not isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
        _refuse(value, kind, label, "pass a number")
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, np.floating):  # a long double: item() does not convert it
        number = float(number)
    if kind.boolean:
        if number not in (0, 1):
            _refuse(value, kind, label, "write 0 or 1")
        return bytes([int(number)])
    if not element.whole or element.scalar == "bf16":
        return _as_float(number, kind, element, label)
    if not math.isfinite(number) or number != int(number):
        _refuse(value, kind, label, "write a whole number" + _nearest(number))
    bits = 8 * element.bytes
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        _refuse(value, kind, label, f"possible are {-(1 << (bits - 1))} to {(1 << bits) - 1}")
    return (int(number) & ((1 << bits) - 1)).to_bytes(element.bytes, "little")


def _as_float(number: int | float, kind: ParameterType, element: ElementType, label: str) -> bytes:
    largest = LARGEST_BFLOAT16 if element.scalar == "bf16" else float(np.finfo(element.dtype).max)
    if math.isfinite(number) and abs(number) > largest:
        _refuse(number, kind, label, f"its largest number is {largest:.6g}")
    near = element.rounded(np.array([float(number)]))[0].item()
    if isinstance(number, int) and near != number:
        _refuse(number, kind, label, f"it cannot hold that whole number; write {near!r} for the nearest that it can")
    return element.encoded(np.array([float(number)])).tobytes()


def _python_number(value: Any, size: int, label: str) -> bytes:
    """A number for a parameter of unknown type: integers as integers, floats as floats."""
    if isinstance(value, bool | int | float) and size not in (1, 2, 4, 8):
        raise UsageError(
            f"{label} is {_shown(value)}, and the kernel takes a structure of {size} bytes there: pass its bytes, or "
            "write struct(f32 0.5, i32 n, ...)"
        )
    if isinstance(value, bool | int):
        if not -(1 << (8 * size - 1)) <= value < 1 << (8 * size):
            raise UsageError(f"{label} = {value} does not fit into {size} bytes")
        return (int(value) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
    if isinstance(value, float) and size in (2, 4, 8):
        if math.isfinite(value) and abs(value) > float(np.finfo(f"f{size}").max):
            raise UsageError(f"{label} = {value} is too large for a float of {size} bytes")
        return np.array(value, f"f{size}").tobytes()
    if isinstance(value, float):
        raise UsageError(f"{label} is {value!r}, and a parameter of {size} byte holds only whole numbers: write one")
    raise UsageError(f"{label} is a {type(value).__name__}; arrays, numbers, bytes and None are possible")


def _sized(data: bytes, size: int, kind: str, label: str) -> bytes:
    if len(data) != size:
        raise UsageError(f"{label} is {kind} with {len(data)} bytes, but the kernel takes {size} bytes there")
    return data


def _is_zero(value: Any) -> bool:
    return isinstance(value, int | np.integer) and value == 0


def _nearest(number: int | float) -> str:
    return f" such as {round(number)}" if math.isfinite(number) else ""


def _shown(value: Any) -> str:
    if isinstance(value, np.generic):
        return f"{value.item()!r} ({value.dtype})"
    return repr(value) if isinstance(value, bool | int | float | None) else f"a {type(value).__name__}"


def _refuse(value: Any, kind: ParameterType, label: str, mend: str) -> NoReturn:
    raise UsageError(f"{label} is {_shown(value)}, and the kernel takes {kind.spelled} there: {mend}")
