"""Local memory: stack arrays and spilled registers."""

from __future__ import annotations

from warplens.counters.vocabulary import (
    EXECUTED,
    LOAD,
    LOCAL,
    REQUESTS,
    SECTORS,
    STORE,
    Formula,
    bits,
    exact,
    opcode,
)

KINDS = {"ld": LOAD, "st": STORE}

METRICS: tuple[Formula, ...] = (
    exact("smsp__inst_executed_op_local_ld.sum", "inst", EXECUTED[opcode("LDL")]),
    exact("smsp__inst_executed_op_local_st.sum", "inst", EXECUTED[opcode("STL")]),
    *(
        # One request for each word of a lane: two for 8 bytes, four for 16 (read on an H200).
        exact(
            f"l1tex__t_requests_pipe_lsu_mem_local_op_{op}.sum",
            "",
            REQUESTS[LOCAL & kind] + REQUESTS[LOCAL & kind & bits(64)] + 3 * REQUESTS[LOCAL & kind & bits(128)],
        )
        for op, kind in KINDS.items()
    ),
    *(
        exact(f"l1tex__t_sectors_pipe_lsu_mem_local_op_{op}.sum", "sector", SECTORS[LOCAL & kind])
        for op, kind in KINDS.items()
    ),
    exact("smsp__sass_sectors_mem_local.sum", "sector", SECTORS[LOCAL]),
    exact("memory_l2_theoretical_sectors_local", "sector", SECTORS[LOCAL]),
)
