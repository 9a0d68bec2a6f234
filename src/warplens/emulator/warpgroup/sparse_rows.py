"""Sparse rows: where the elements of a sparse A stand, and the places between them.

A nibble of the metadata names two of four places of a chunk, of TF32 one of two.  Which lanes of four hold it is as in
mma.sp (isa/sparse.py); so it is read on an H200 for all types (measurements/README.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from warplens import llvm
from warplens.emulator.codegen.vector_types import I32, vector
from warplens.isa.dsl.lanes import S32, U32, Pred
from warplens.isa.dsl.operation_records import GroupProduct
from warplens.isa.numerics.float_products import FloatParts

QUAD, ROWS = 4, 8
Element = S32 | FloatParts


class Gap(NamedTuple):
    """Elements of four chunks of each row: lane 8 s + g has that of row g at place places[s] of the whole row."""

    element: Element
    places: tuple[int, ...]


def with_gaps(
    form: GroupProduct, elements: Sequence[Element], chunk: int, half: U32, metadata: U32, absent: Element
) -> Iterator[Gap]:
    """All places that 16 bytes of each row fill: lane 8 s + g has the elements of word s of row g."""
    wide = form.kinds[0] in ("F16", "BF16", "TF32")
    kept = 1 if form.kinds[0] == "TF32" else 2  # of a chunk
    chunks = len(elements) // kept  # of a word
    for number in range(chunks):
        own = elements[kept * number : kept * (number + 1)]
        shifts = [4 * (chunks * s + number) for s in range(QUAD)]
        indices = _held(metadata, [2 * (form.selector or 0) + chunk] if wide else [2 * chunk, 2 * chunk + 1], half)
        by = U32(metadata.e, llvm.IRConstant(vector(I32), [shift for shift in shifts for _ in range(ROWS)]))
        nibble = indices >> (by + (half << 4) if wide else by)
        names = [(nibble >> 1) & 1] if kept == 1 else [nibble & 3, (nibble >> 2) & 3]
        for place in range(2 * kept):
            found = absent
            for name, x in zip(names, own, strict=True):
                found = _either(name.eq(place), x, found)
            first = chunk * QUAD * chunks
            yield Gap(found, tuple(2 * kept * (first + chunks * s + number) + place for s in range(QUAD)))


def _held(metadata: U32, lanes: Sequence[int], half: U32) -> U32:
    """What lane 4 g + `lanes[0]` holds, or of the second half of the rows `lanes[1]`, in lanes g, 8 + g ..."""
    words = [metadata.of_lanes([QUAD * (lane % ROWS) + own for lane in range(32)]) for own in lanes]
    return words[0] if len(words) == 1 else half.ne(0).choose(words[1], words[0])


def _either(here: Pred, x: Element, otherwise: Element) -> Element:
    if isinstance(x, FloatParts) and isinstance(otherwise, FloatParts):
        value = here.choose(x.value, otherwise.value)
        return FloatParts(value, here.choose(x.exponent, otherwise.exponent))
    assert isinstance(x, S32)
    assert isinstance(otherwise, S32)
    return here.choose(x, otherwise)
