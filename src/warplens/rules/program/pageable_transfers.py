"""Pageable transfers: copies over the link from or to memory that is not page-locked, which the driver copies twice.

Allocate what is copied often or in large pieces by `cudaMallocHost` (or lock what is there by `cudaHostRegister`): the
GPU then fetches it itself. Locking takes time of its own and takes memory from the system, so it pays for buffers that
are used again, not for one that is copied once. The weight is the share of the time in which the GPU or the link is
busy that the copies would save.  Nsight Compute: no rule, since it looks at kernels one by one.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.rules._program_activity import ProgramActivity, program_rule
from warplens.rules._rule import Finding


class PageableEvidence(NamedTuple):
    copies: int
    size: int
    time_us: float
    pinned_us: float
    busy_us: float


@program_rule(threshold=0.05, fires="transfers/1_pageable", silent="transfers/2_pinned")
def pageable_transfers(program: ProgramActivity) -> Finding | None:
    link, into, out_of = program.link, program.into, program.out_of
    copies = into.pageable + out_of.pageable
    if not copies or not program.busy_us:
        return None
    pinned = copies * link.copy_us
    pinned += into.pageable_bytes / link.to_device_megabytes_per_second
    pinned += out_of.pageable_bytes / link.to_host_megabytes_per_second
    time = into.pageable_us + out_of.pageable_us
    size = into.pageable_bytes + out_of.pageable_bytes
    evidence = PageableEvidence(copies, size, time, pinned, program.busy_us)
    return Finding("pageable_transfers", min((time - pinned) / program.busy_us, 1.0), evidence)
