"""Opcode classes: memory access, width, branch, category of the instruction mix.

Classes go by base opcode ("LDG" of "LDG.E.128"); the width of an access is in its modifiers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from warplens.core.memory_opcodes import MEMORY, Action, MemorySpace
from warplens.core.program import Instruction, Register


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """How an instruction uses memory.

    space    "generic" decides between global, local and shared at run time, lane by lane
    action   "copy" is global to shared (LDGSTS); "reduction" is an atomic that returns nothing
    bits     width a lane, as Nsight Compute's `memory_access_size_type`; 128 for LDSM and STSM (read on an H200)
    """

    space: MemorySpace
    action: Action
    bits: int


MATRIX = frozenset({"LDSM", "STSM"})
WIDTH = re.compile(r"[US]?(8|16|64|128|256)")
FLOAT_WIDTH = re.compile(r"B?F(16|32|64)(?:x([248]))?")

TARGETS = frozenset({"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "CALL", "RET"})
"""Instructions with a branch target, unconditional ones included: on an H200
`smsp__sass_branch_targets.sum` was 18 for 10 BRA, 2 CALL and 6 RET, and took no notice of a predicated
EXIT."""

BRANCHES = TARGETS | frozenset(
    {"EXIT", "KILL", "BSYNC", "BREAK", "WARPSYNC", "ENDCOLLECTIVE", "YIELD", "NANOSLEEP", "BPT"}
)
"""The control pipe but for BMOV and BSSY.  BRA, CALL, RET, EXIT, BSYNC, BREAK, WARPSYNC and NANOSLEEP were
confirmed on an H200; KILL, ENDCOLLECTIVE, YIELD and BPT follow from NVIDIA's description alone."""


def access(instruction: Instruction) -> MemoryAccess | None:
    """How the instruction uses memory, or None."""
    if instruction.base not in MEMORY:
        return None
    space, action = MEMORY[instruction.base]
    return MemoryAccess(space, action, width(instruction))


def width(instruction: Instruction) -> int:
    """Bits a lane; 32 where no modifier says otherwise."""
    modifiers = instruction.modifiers
    if instruction.base in MATRIX:  # each lane that names a row counts for its 16 bytes
        return 128
    for modifier in modifiers:
        if found := WIDTH.fullmatch(modifier):
            return int(found[1])
        if found := FLOAT_WIDTH.fullmatch(modifier):
            return max(int(found[1]) * int(found[2] or 1), 32)
    return 32


CATEGORIES: dict[str, frozenset[str]] = {
    name: frozenset(opcodes.split())
    for name, opcodes in {
        "main memory": "LDG STG LD ST ATOM ATOMG RED REDG LDGSTS LDL STL UBLKCP UBLKRED UBLKPF UTMALDG UTMASTG "
        "UTMAREDG UTMAPF UTMACCTL UTMACMDFLUSH CCTL",
        "shared memory": "LDS STS LDSM STSM ATOMS SYNCS LDGDEPBAR STAS REDAS",
        "constant memory": "LDC LDCU ULDC",
        "texture": "TEX TLD TLD4 TXD TXQ TMML SULD SUST SURED SUATOM",
        "integer": "IADD IADD3 IMAD IABS IDP IMNMX ISETP LEA LOP3 SHF SGXT BMSK BREV POPC FLO PRMT VIADD "
        "VIADDMNMX VIMNMX VIMNMX3 VABSDIFF VABSDIFF4 PLOP3",
        "single precision": "FADD FMUL FFMA FADD2 FMUL2 FFMA2 FMNMX FMNMX3 FSETP FSET FCHK",
        "double precision": "DADD DMUL DFMA DSETP",
        "half precision": "HADD2 HMUL2 HFMA2 HMNMX2 HSETP2 HSET2",
        "special function": "MUFU",
        "conversion": "F2F F2FP F2I I2F I2FP FRND I2IP UF2I UI2FP",
        "tensor": "HMMA IMMA DMMA BMMA QMMA OMMA HGMMA IGMMA QGMMA BGMMA UTCHMMA UTCQMMA UTCIMMA UTCOMMA UTCCP "
        "UTCSHIFT LDTM STTM MOVM",
        "move and select": "MOV SEL FSEL S2R CS2R P2R R2P LEPC B2R",
        "across lanes": "SHFL VOTE VOTEU MATCH REDUX CREDUX ELECT R2UR",
        "control": " ".join(sorted(BRANCHES)) + " BSSY BMOV NOP PREEXIT ACQBULK PMTRIG",
        "synchronisation": "UTCBAR UTCATOMSWS UVIRTCOUNT WARPGROUP USETMAXREG BAR MEMBAR FENCE DEPBAR ERRBAR CGAERRBAR "
        "UCGABAR_ARV UCGABAR_WAIT",
    }.items()
}
"""The instruction mix, in the order of the report; an opcode is in one category only."""

CATEGORY_OF = {opcode: name for name, opcodes in CATEGORIES.items() for opcode in opcodes}


def category(instruction: Instruction) -> str:
    """The category of the instruction mix: a key of CATEGORIES, "uniform" (once a warp) or "other"."""
    base = instruction.base
    if base in {"IMAD", "UIMAD"} and "MOV" in instruction.modifiers:
        return "move and select"  # IMAD.MOV is how the compiler moves a register on the multiply pipe
    if base == "HFMA2" and is_zero(instruction, 1) and is_zero(instruction, 2):
        return "move and select"  # HFMA2 R, -RZ, RZ, a, b: so it loads a constant on the half pipe
    if base in CATEGORY_OF:
        return CATEGORY_OF[base]
    return "uniform" if base.startswith("U") or base in {"S2UR", "CS2UR"} else "other"


def is_zero(instruction: Instruction, position: int) -> bool:
    """Whether an operand is RZ."""
    operands = instruction.operands
    operand = operands[position] if position < len(operands) else None
    return isinstance(operand, Register) and operand.file == "R" and operand.index < 0
