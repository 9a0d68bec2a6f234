"""Structure literal, passed by value: "struct(f32 0.5, i32 n, f32x3 (0, 0, 1))", with C++ layout."""

from __future__ import annotations

import re

import numpy as np

from warplens.errors import UsageError
from warplens.launchspec.element_type import ElementType, parse_element
from warplens.launchspec.expression import Names, evaluate_list

STRUCTURE = re.compile(r"struct\s*\((?P<fields>.*)\)", re.DOTALL)
_FIELD = re.compile(r"\s*(?P<type>[A-Za-z]\w*)\s+(?P<value>.+)", re.DOTALL)


def structure(text: str, names: Names) -> bytes:
    """The bytes of the fields "TYPE VALUE, TYPE VALUE ...", each with C++ alignment, the whole padded to its widest.

    A vector takes as many values in brackets as it has lanes, or one for all.  UsageError for a malformed field.
    """
    data, widest = bytearray(), 1
    for field in _fields(text):
        found = _FIELD.fullmatch(field)
        if not found:
            raise UsageError(f"'{field.strip()}' is no field; write a type and a value: struct(f32 0.5, i32 n)")
        element = parse_element(found["type"])
        values = evaluate_list(re.sub(r"^\((.*)\)$", r"\1", found["value"].strip(), flags=re.DOTALL), names)
        if len(values) not in (1, element.lanes):
            raise UsageError(f"'{field.strip()}' has {len(values)} values; {element.name} takes 1 or {element.lanes}")
        for value in values:
            element.check(value)
        widest = max(widest, align := _alignment(element))
        data += bytes(-len(data) % align)
        lanes = values * element.lanes if len(values) == 1 else values
        data += element.encoded(np.array(lanes)).tobytes()
    return bytes(data + bytes(-len(data) % widest))


def _alignment(element: ElementType) -> int:
    """Alignment of a field: float2 and float4 as a whole, double4 at 16 bytes, float3 as a float."""
    return min(element.bytes, 16) if element.lanes in (2, 4) else element.dtype.itemsize


def _fields(text: str) -> list[str]:
    """Split at the commas outside of all brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
