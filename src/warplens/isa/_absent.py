"""What is not emulated: the families of opcodes, and what to call each of them in a message."""

from __future__ import annotations

TMA = "bulk copies by the tensor memory accelerator (TMA)"
TRANSACTIONS = "mbarriers that count transactions (cp.async.bulk, TMA)"
WGMMA = "warpgroup matrix products (wgmma)"
TCGEN05 = "the tensor memory and matrix products of sm_100 (tcgen05)"
TEXTURES = "texture instructions"
SURFACES = "surface instructions"

_FAMILIES = {
    TMA: "UBLKCP UBLKRED UBLKPF UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL UTMACMDFLUSH UTMALST",
    TRANSACTIONS: "SYNCS SYNCSU ARRIVES",
    WGMMA: "HGMMA IGMMA QGMMA BGMMA WARPGROUP WARPGROUPSET",
    TCGEN05: "UTCHMMA UTCIMMA UTCQMMA UTCOMMA UTCMXQMMA UTCBAR UTCCP UTCSHIFT UTCATOMSWS "
    "LDTM STTM LDT STT",
    TEXTURES: "TEX TLD TLD4 TXD TXQ TMML TEXS TLDS TLD4S UTEX FOOTPRINT",
    SURFACES: "SULD SUST SURED SUATOM SUQ",
}
_FAMILY = {base: family for family, bases in _FAMILIES.items() for base in bases.split()}


def absent(base: str) -> str | None:
    """What an opcode would need that is not emulated; None for opcodes that are in reach."""
    return _FAMILY.get(base)
