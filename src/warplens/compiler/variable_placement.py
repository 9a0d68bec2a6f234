"""Variable placement: where the driver puts the `__device__` variables of a module.

Each variable begins at a multiple of 256 bytes, in the order of the symbol table, wherever it is in its section: so ten
modules of 42 variables, initialised and not, were loaded on an H200 (driver 580.159.04, 2026-11-27).  Managed variables
are apart there, at multiples of 512 bytes; here they are among the others.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warplens.core.cubin import Variable
from warplens.errors import CubinError

ALIGNMENT = 256  # bytes


@dataclass(frozen=True)
class VariableSymbol:
    """Variable symbol of a cubin: its section, and its place there in bytes."""

    name: str
    section: str
    value: int
    size: int


class VariablePlacement:
    """Variable placement of one module.

    image      all variables as they are at first;  variables: their places in it, by name
    """

    def __init__(self, symbols: Sequence[VariableSymbol], contents: Mapping[str, bytes]) -> None:
        """contents: bytes of each section of variables.  CubinError if a variable is not in them."""
        self._starts: dict[str, list[int]] = {}  # of pieces, by section
        self._pieces: dict[tuple[str, int], _Piece] = {}
        image = bytearray()
        for piece in _pieces(symbols):
            if piece.end > len(contents[piece.section]):
                raise CubinError(f"the cubin is damaged: a variable behind the end of {piece.section}")
            piece.place = -(-len(image) // ALIGNMENT) * ALIGNMENT
            image.extend(bytes(piece.place - len(image)))
            image.extend(contents[piece.section][piece.start : piece.end])
            self._starts.setdefault(piece.section, []).append(piece.start)
            self._pieces[piece.section, piece.start] = piece
        for starts in self._starts.values():
            starts.sort()
        self.image = bytes(image)
        self.variables: dict[str, Variable] = {}
        for symbol in symbols:
            place = self.moved(symbol.section, symbol.value)
            assert place is not None  # of a piece
            self.variables[symbol.name] = Variable(place, symbol.size)

    def moved(self, section: str, offset: int) -> int | None:
        """The place in the image of a byte of a section; None if it is of no variable."""
        starts = self._starts.get(section, [])
        at = bisect_right(starts, offset)
        if not at:
            return None
        piece = self._pieces[section, starts[at - 1]]
        return piece.place + offset - piece.start if offset <= piece.end else None


@dataclass
class _Piece:
    """A range of a section that several variables may share: other names for it, or parts of it."""

    section: str
    start: int
    end: int
    first: int  # of its symbols, in the symbol table
    place: int = 0


def _pieces(symbols: Sequence[VariableSymbol]) -> list[_Piece]:
    """In the order of the symbol table."""
    found: list[_Piece] = []
    for number, symbol in sorted(enumerate(symbols), key=lambda one: (one[1].section, one[1].value, -one[1].size)):
        end = symbol.value + symbol.size
        last = found[-1] if found else None
        if last and last.section == symbol.section and symbol.value < last.end:
            last.end, last.first = max(last.end, end), min(last.first, number)
        else:
            found.append(_Piece(symbol.section, symbol.value, end, number))
    return sorted(found, key=lambda piece: piece.first)
