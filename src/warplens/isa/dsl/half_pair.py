"""Half pairs: two 16-bit floats in one 32-bit word, as lane values."""

from __future__ import annotations

from warplens.isa.dsl.lanes import U32, Lanes


class H2(Lanes):
    """Two 16-bit floats in one word, the first one in the low half; half.py knows the formats."""

    bits = 32
    __slots__ = ()

    def u32(self) -> U32:
        return self.bitcast(U32)

    def __neg__(self) -> H2:
        """Both sign bits turned."""
        return (self.u32() ^ 0x8000_8000).bitcast(H2)

    def abs(self) -> H2:
        """Both sign bits cleared."""
        return (self.u32() & 0x7FFF_7FFF).bitcast(H2)

    def part(self, name: str) -> H2:
        """The halves as its suffix selects them, the upper one first: H0_H0, H1_H1, H0_NH1 (N turns the sign)."""
        if name in ("", "H1_H0"):
            return self
        upper, lower = name.split("_") if "_" in name else (name, name)
        return (self._half(lower) | (self._half(upper) << 16)).bitcast(H2)

    def _half(self, name: str) -> U32:
        half = self.u32() >> 16 if name.endswith("1") else self.u32() & 0xFFFF
        return half ^ 0x8000 if name.startswith("N") else half
