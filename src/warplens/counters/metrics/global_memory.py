"""Global memory: instructions, requests, sectors, tags, and how much of the traffic was needed.

Found on an H200:  the SASS instruction counts take only executions that at least one lane performed (our
`requests`), the hardware ones all.  `data_bytes` are *distinct* bytes of a request: a broadcast of one
float counts 4 bytes, so that a matrix product's loads read 56.25 %, and no efficiency exceeds 100 %.  The
percentage is the quotient of the sums.  The ideal is never above what was asked: min(sectors, ceil(lanes x
size / 32)) a request. The sector total has atomics and LDGSTS in it.  l1tex counts LDGSTS as a load,
`smsp__sass_..._op_ld` does not.
"""

from __future__ import annotations

from warplens.counters.vocabulary import (
    ATOMIC,
    BYTES,
    COPY,
    COPY_SECTORS,
    EXECUTED,
    GLOBAL,
    IDEAL,
    LOAD,
    REDUCTION,
    REQUESTS,
    SECTORS,
    STORE,
    TAGS,
    Formula,
    exact,
    modelled,
    opcode,
)

PLAIN = {"ld": LOAD, "st": STORE}
LSU = {"ld": LOAD | COPY, "st": STORE}
IN_L1 = {"ld": SECTORS[GLOBAL & LOAD] + COPY_SECTORS[GLOBAL & COPY], "st": SECTORS[GLOBAL & STORE]}
READ_MODIFY_WRITE = {"atom": ATOMIC, "red": REDUCTION}
EXCESSIVE = SECTORS[GLOBAL] - IDEAL[GLOBAL]

METRICS: tuple[Formula, ...] = (
    *(
        exact(f"smsp__sass_inst_executed_op_global_{op}.sum", "inst", REQUESTS[GLOBAL & kind])
        for op, kind in (PLAIN | READ_MODIFY_WRITE).items()
    ),
    exact("smsp__inst_executed_op_global_ld.sum", "inst", EXECUTED[opcode("LDG")]),
    exact("smsp__inst_executed_op_global_st.sum", "inst", EXECUTED[opcode("STG")]),
    *(
        exact(f"l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum", "", REQUESTS[GLOBAL & kind])
        for op, kind in (LSU | READ_MODIFY_WRITE).items()
    ),
    *(exact(f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum", "sector", sectors) for op, sectors in IN_L1.items()),
    # A reduction of lanes onto the same words passes several times: an H200 read 4 sectors for 1 (4 lanes a
    # word).
    *(
        modelled(f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum", "sector", SECTORS[GLOBAL & kind])
        for op, kind in READ_MODIFY_WRITE.items()
    ),
    *(
        exact(f"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_{op}.sum", "sector", SECTORS[GLOBAL & kind])
        for op, kind in (PLAIN | READ_MODIFY_WRITE).items()
    ),
    exact("smsp__sass_sectors_mem_global.sum", "sector", SECTORS[GLOBAL]),
    *(
        exact(
            f"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{op}.ratio",
            "sector/request",
            IN_L1[op] / REQUESTS[GLOBAL & kind],
        )
        for op, kind in LSU.items()
    ),
    exact("smsp__sass_l1tex_tags_mem_global.sum", "", TAGS[GLOBAL]),
    exact("memory_l1_tag_requests_global", "", TAGS[GLOBAL]),
    *(
        exact(f"smsp__sass_data_bytes_mem_global_op_{op}.sum", "byte", BYTES[GLOBAL & kind])
        for op, kind in PLAIN.items()
    ),
    *(
        exact(
            f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{op}.pct",
            "%",
            100 * BYTES[GLOBAL & kind] / (32 * SECTORS[GLOBAL & kind]),
        )
        for op, kind in PLAIN.items()
    ),
    *(
        exact(
            f"smsp__sass_average_data_bytes_per_sector_mem_global_op_{op}.ratio",
            "byte/sector",
            BYTES[GLOBAL & kind] / SECTORS[GLOBAL & kind],
        )
        for op, kind in PLAIN.items()
    ),
    *(
        exact(f"l1tex__t_bytes_pipe_lsu_mem_global_op_{op}.sum", "byte", 32 * SECTORS[GLOBAL & kind])
        for op, kind in LSU.items()
    ),
    exact("memory_l2_theoretical_sectors_global", "sector", SECTORS[GLOBAL]),
    exact("memory_l2_theoretical_sectors_global_ideal", "sector", IDEAL[GLOBAL]),
    exact("derived__memory_l2_theoretical_sectors_global_excessive", "sector", EXCESSIVE),
)
