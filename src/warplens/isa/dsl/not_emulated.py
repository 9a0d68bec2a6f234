"""Unsupported opcodes: families that are not emulated, and their names for messages."""

from __future__ import annotations

TMA = "bulk copies by the tensor memory accelerator (TMA) of this form"
BARRIERS = "mbarrier operations of this form"
TCGEN05 = "instructions of tensor memory (tcgen05) of this form"
TEXTURES = "texture instructions of this form"
SURFACES = "surface instructions of this form"
SCALED_FLOATS = "products of sparse or scaled matrices of 8-bit floats, and of floats of 6 and 4 bits (QMMA, OMMA)"
VOLTA = "matrix products of Volta's shape (mma.m8n8k4) on sm_75"
BLOCKED_ARRIVALS = "arrivals that may not end a phase (mbarrier.arrive.noComplete) from sm_90 on"

_FAMILIES = {
    TMA: "UBLKCP UBLKRED UBLKPF UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL UTMACMDFLUSH UTMALST",
    BARRIERS: "SYNCS SYNCSU ARRIVES",
    BLOCKED_ARRIVALS: "SYNCS.ARRIVE.TRANS64.TMASK",
    TCGEN05: "UTCHMMA UTCIMMA UTCQMMA UTCOMMA UTCMXQMMA UTCBAR UTCCP UTCSHIFT UTCATOMSWS LDTM STTM LDT STT",
    TEXTURES: "TEX TLD TLD4 TXD TXQ TMML TEXS TLDS TLD4S UTEX FOOTPRINT",
    SURFACES: "SULD SUST SURED SUATOM SUQ",
    SCALED_FLOATS: "QMMA OMMA",
    VOLTA: "HMMA.884",
}
_FAMILY = {name: family for family, names in _FAMILIES.items() for name in names.split()}


def absent(opcode: str) -> str | None:
    """What an opcode would need that is not emulated, by the longest of its beginnings that is listed; None for
    opcodes that are in reach."""
    parts = opcode.split(".")
    beginnings = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((_FAMILY[name] for name in beginnings if name in _FAMILY), None)
