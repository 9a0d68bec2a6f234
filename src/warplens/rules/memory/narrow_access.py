"""Narrow access: lanes load or store one or two bytes, so that most instructions compute addresses.

Vectors of 4 to 16 bytes (uchar4, half2, float4): the same sectors with a fraction of the instructions.  Nsight
Compute: no rule.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.vocabulary import GLOBAL, LOAD, REQUESTS, STORE, bits
from warplens.rules._counted_launch import CountedLaunch, heaviest_line
from warplens.rules._rule import Finding, rule

NARROW_SHARE = 1 / 2  # of the global loads and stores
ACCESSES = GLOBAL & (LOAD | STORE)
ONE_BYTE, TWO_BYTES = REQUESTS[ACCESSES & bits(8)], REQUESTS[ACCESSES & bits(16)]


class NarrowAccessEvidence(NamedTuple):
    """Bytes per thread of most narrow accesses, 1 or 2; their share of the global loads and stores."""

    bytes: int
    share: float


@rule(
    threshold=0.08,
    reads=(
        "smsp__sass_inst_executed_op_memory_8b.sum",
        "smsp__sass_inst_executed_op_memory_16b.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    ),
    fires="wide/1_scalar_char",
    silent="wide/3_wide4_char",
)
def narrow_access(launch: CountedLaunch) -> Finding | None:
    share = launch.total(ONE_BYTE + TWO_BYTES) / max(launch.total(REQUESTS[ACCESSES]), 1)
    if share < NARROW_SHARE:
        return None
    size = 1 if launch.total(ONE_BYTE) > launch.total(TWO_BYTES) else 2
    # an eighth: it moves what it must, with more instructions than it needs
    return Finding(
        "narrow_access", share / 8, NarrowAccessEvidence(size, share), heaviest_line(launch, ONE_BYTE + TWO_BYTES)
    )
