"""Shared memory: instructions, wavefronts, bank conflicts.

Found on an H200:  conflicts are wavefronts above the *ideal*, not above the requests: LDS.128 that
broadcasts two words takes 2 wavefronts, is ideal with 2 and has no conflict.  The SASS load wavefronts have
no LDSM in them, the hardware ones have; the hardware total leaves out LDGSTS, the SASS total has it, and wgmma's reads
of its matrices.
LDGSTS conflicts are not emitted: of a copy past the L1 cache (.BYPASS) an H200 reads none, whatever its
wavefronts; the excess over the ideal has them.  Nsight Compute 2025.3.1 takes most LDGSTS that have an offset in
shared memory for one lane's bytes (copies_beside.csv), so its bytes a wavefront are too few there.
"""

from __future__ import annotations

from warplens.counters.metrics.matrix_products import BYTES as OPERAND_BYTES
from warplens.counters.vocabulary import (
    ATOMIC,
    BYTES,
    COPY,
    COPY_IDEAL,
    EXECUTED,
    IDEAL,
    LOAD,
    REQUESTS,
    SHARED,
    STORE,
    WAVEFRONTS,
    Formula,
    Quantity,
    Selection,
    exact,
    modelled,
    only,
    opcode,
    since,
)

LDS, LDSM = SHARED & LOAD & ~opcode("LDSM"), opcode("LDSM")
STS, STSM = SHARED & STORE & ~opcode("STSM"), opcode("STSM")
ATOMS, LDGSTS = SHARED & ATOMIC, opcode("LDGSTS")
WITH_MATRICES = WAVEFRONTS[SHARED] + OPERAND_BYTES // 128  # 17 kernels of the third blind list, on an H200


def ideal(kind: Selection) -> Quantity:
    """Wavefronts had no two words of a pass met in one bank."""
    return IDEAL[SHARED & kind & ~COPY] + COPY_IDEAL[SHARED & kind & COPY]


def conflicts(kind: Selection) -> Quantity:
    return WAVEFRONTS[SHARED & kind] - ideal(kind)


WAVES = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
BANKS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
SASS_WAVES = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared"
SASS_BANKS = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared"
ANY = SHARED & ~LDGSTS

turing, ampere, hopper = only(75), since(80), since(90)
ga102 = only(86)


def between(chip: int) -> bool:
    """Chips whose `_op_st` is plain stores: neither GA102, which adds LDGSTS, nor Hopper, which adds STSM."""
    return chip < 90 and not ga102(chip)


METRICS: tuple[Formula, ...] = (
    exact("smsp__sass_inst_executed_op_shared_ld.sum", "inst", REQUESTS[LDS]),
    exact("smsp__sass_inst_executed_op_shared_st.sum", "inst", REQUESTS[STS]),
    exact("smsp__inst_executed_op_ldsm.sum", "inst", EXECUTED[LDSM]),
    exact("smsp__inst_executed_op_ldgsts.sum", "inst", EXECUTED[LDGSTS], ampere),
    modelled(f"{WAVES}.sum", "", WITH_MATRICES - WAVEFRONTS[LDGSTS]),
    modelled(f"{WAVES}_op_ld.sum", "", WAVEFRONTS[LDS], turing),
    modelled(f"{WAVES}_op_ld.sum", "", WAVEFRONTS[LDS | LDSM], ampere),
    modelled(f"{WAVES}_op_st.sum", "", WAVEFRONTS[STS], between),
    modelled(f"{WAVES}_op_st.sum", "", WAVEFRONTS[STS | LDGSTS], ga102),
    modelled(f"{WAVES}_op_st.sum", "", WAVEFRONTS[STS | STSM], hopper),
    modelled(f"{WAVES}_op_atom.sum", "", WAVEFRONTS[ATOMS]),
    exact(f"{SASS_WAVES}_op_ld.sum", "", WAVEFRONTS[LDS]),
    exact(f"{SASS_WAVES}_op_st.sum", "", WAVEFRONTS[STS]),
    exact(f"{SASS_WAVES}_op_ldsm.sum", "", WAVEFRONTS[LDSM]),
    exact(f"{SASS_WAVES}_op_atom.sum", "", WAVEFRONTS[ATOMS]),
    exact(f"{SASS_WAVES}_op_ldgsts.sum", "", WAVEFRONTS[LDGSTS], ampere),
    exact(f"{SASS_WAVES}_op_stsm.sum", "", WAVEFRONTS[STSM], hopper),
    exact("smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum", "", WITH_MATRICES),
    modelled(f"{BANKS}.sum", "", conflicts(ANY)),
    modelled(f"{BANKS}_op_ld.sum", "", conflicts(LDS), turing),
    modelled(f"{BANKS}_op_ld.sum", "", conflicts(LDS | LDSM), ampere),
    modelled(f"{BANKS}_op_st.sum", "", conflicts(STS), between),
    modelled(f"{BANKS}_op_st.sum", "", conflicts(STS | LDGSTS), ga102),
    modelled(f"{BANKS}_op_st.sum", "", conflicts(STS | STSM), hopper),
    modelled(f"{BANKS}_op_atom.sum", "", conflicts(ATOMS)),
    exact(f"{SASS_BANKS}_op_ldsm.sum", "", conflicts(LDSM)),
    exact(f"{SASS_BANKS}_op_st.sum", "", conflicts(STS), only(80, 86, 89)),
    exact(f"{SASS_BANKS}_op_stsm.sum", "", conflicts(STSM), hopper),
    exact("memory_l1_wavefronts_shared", "", WAVEFRONTS[SHARED]),
    exact("memory_l1_wavefronts_shared_ideal", "", ideal(SHARED)),
    exact("derived__memory_l1_wavefronts_shared_excessive", "", conflicts(SHARED)),
    exact("derived__memory_l1_conflicts_shared_nway", "", WAVEFRONTS[SHARED] / EXECUTED[SHARED]),
    *(
        exact(
            f"smsp__sass_average_data_bytes_per_wavefront_mem_shared{op}.pct",
            "%",
            100 * BYTES[kind] / (128 * waves),
        )
        for op, kind, waves in (
            ("", SHARED, WITH_MATRICES),
            ("_op_ld", LDS, WAVEFRONTS[LDS]),
            ("_op_st", STS, WAVEFRONTS[STS]),
        )
    ),
)
