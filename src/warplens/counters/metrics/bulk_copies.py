"""Bulk copies and the tensor memory accelerator (TMA): instructions, sectors, bytes.

What counts as what was read on an H200 (measurements/h200/tensor_copy_counters.csv): a copy between the shared memories
of a cluster is a store, the end of a group goes through the TMA pipe and is neither.  Sectors count
again for each block that gets them.
"""

from __future__ import annotations

from warplens.counters.vocabulary import (
    EXECUTED,
    REQUESTS,
    SECTORS,
    Formula,
    exact,
    modelled,
    opcode,
    opcode_beginning,
    since,
)

LOADS = opcode_beginning("UBLKCP.S.G") | opcode("UTMALDG")
PREFETCHES = opcode("UBLKPF", "UTMAPF")
STORES = opcode_beginning("UBLKCP.G.S") | opcode("UTMASTG")
REDUCTIONS = opcode_beginning("UBLKRED.G.S") | opcode("UTMAREDG")
ACROSS, REDUCTIONS_ACROSS = opcode_beginning("UBLKCP.S.S"), opcode_beginning("UBLKRED.S.S")
TO_SHARED = LOADS | PREFETCHES
FROM_SHARED = STORES | REDUCTIONS | ACROSS | REDUCTIONS_ACROSS
GROUPS = opcode("UTMACMDFLUSH")
MAPS = opcode("UTMACCTL.PF")  # prefetch.tensormap
SASS, READ, WRITTEN = (
    "smsp__sass_inst_executed_op", "l1tex__m_xbar2l1tex_read_sectors_mem", "l1tex__m_l1tex2xbar_write_sectors_mem",
)  # fmt: skip
READ_BYTES, WRITTEN_BYTES = READ.replace("sectors", "bytes"), WRITTEN.replace("sectors", "bytes")
hopper = since(90)

METRICS: tuple[Formula, ...] = (
    exact("smsp__inst_executed_pipe_tma.sum", "inst", EXECUTED[TO_SHARED | FROM_SHARED | GROUPS | MAPS], hopper),
    exact("smsp__inst_executed_op_tma_ld.sum", "inst", EXECUTED[TO_SHARED], hopper),
    exact("smsp__inst_executed_op_tma_st.sum", "inst", EXECUTED[FROM_SHARED], hopper),
    exact(f"{SASS}_tma.sum", "inst", REQUESTS[LOADS | FROM_SHARED], hopper),
    exact(f"{SASS}_tma_ld.sum", "inst", REQUESTS[LOADS], hopper),
    exact(f"{SASS}_tma_st.sum", "inst", REQUESTS[STORES], hopper),
    exact(f"{SASS}_tma_red.sum", "inst", REQUESTS[REDUCTIONS], hopper),
    exact(f"{SASS}_dshared_tma_st.sum", "inst", REQUESTS[ACROSS], hopper),
    exact(f"{SASS}_dshared_tma_red.sum", "inst", REQUESTS[REDUCTIONS_ACROSS], hopper),
    exact("l1tex__tmain_requests.sum", "inst", REQUESTS[LOADS | FROM_SHARED] + EXECUTED[GROUPS | MAPS], hopper),
    modelled(f"{READ}_global_op_tma_ld.sum", "sector", SECTORS[LOADS], hopper),
    modelled(f"{WRITTEN}_global_op_tma_st.sum", "sector", SECTORS[STORES], hopper),
    modelled(f"{WRITTEN}_global_op_tma_red.sum", "sector", SECTORS[REDUCTIONS], hopper),
    modelled(f"{WRITTEN}_dshared_op_tma_st.sum", "sector", SECTORS[ACROSS], hopper),
    modelled(f"{WRITTEN}_dshared_op_tma_red.sum", "sector", SECTORS[REDUCTIONS_ACROSS], hopper),
    modelled(f"{READ_BYTES}_global_op_tma_ld.sum", "byte", 32 * SECTORS[LOADS], hopper),
    modelled(f"{WRITTEN_BYTES}_global_op_tma_st.sum", "byte", 32 * SECTORS[STORES], hopper),
    modelled(f"{WRITTEN_BYTES}_global_op_tma_red.sum", "byte", 32 * SECTORS[REDUCTIONS], hopper),
    exact("smsp__inst_executed_op_stas.sum", "inst", EXECUTED[opcode("STAS")], hopper),
    exact("smsp__inst_executed_op_redas.sum", "inst", EXECUTED[opcode("REDAS")], hopper),
)
