"""Serial transfers: large copies over the link while the GPU does nothing else, though the link carries both directions
at once and kernels need neither.

Copy in chunks on several streams, from page-locked memory (`cudaMemcpyAsync`): while one chunk is worked on, the next
comes in and the last goes out. It needs a kernel that can work on a part; and chunks of 1 MB and more, as smaller ones
take longer to ask for than to copy. The weight is the share of the time in which GPU or link are busy that would be
saved if the longest of the three (in, work, out) hid the others but for one chunk in 16.  Nsight Compute: no rule,
since it looks at kernels one by one.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.rules._program_activity import ProgramActivity, Spans, covered_us, program_rule
from warplens.rules._rule import Finding

CHUNKS = 16  # as in labs/transfers/4_overlapped
LEAST_BYTES = 4 << 20  # of a copy: 4 chunks of 1 MiB, each some 19 us on the way; a command takes some 5
MOST_KERNELS = 3  # that are named


class SerialEvidence(NamedTuple):
    into_us: float
    work_us: float
    out_of_us: float
    overlapped_us: float
    busy_us: float
    kernels: tuple[str, ...]


@program_rule(threshold=0.10, fires="transfers/3_one_after_the_other", silent="transfers/4_overlapped")
def serial_transfers(program: ProgramActivity) -> Finding | None:
    into, out_of = (copies.spans[copies.sizes >= LEAST_BYTES] for copies in (program.into, program.out_of))
    if not len(into) + len(out_of) or not program.busy_us:
        return None
    link, times = program.link, [_length_us(spans) for spans in (into, program.work, out_of)]
    if len(into) and len(out_of):  # each direction is slower while the other is busy
        for at, alone in ((0, link.to_device_megabytes_per_second), (2, link.to_host_megabytes_per_second)):
            times[at] *= alone / link.both_ways_megabytes_per_second
    overlapped = max(times) * (1 + 1 / CHUNKS)
    saved = covered_us(into, program.work, out_of) - overlapped
    kernels = sorted(program.kernels_us, key=lambda name: -program.kernels_us[name])[:MOST_KERNELS]
    evidence = SerialEvidence(
        _length_us(into), times[1], _length_us(out_of), overlapped, program.busy_us, tuple(kernels)
    )  # fmt: skip
    return Finding("serial_transfers", min(max(saved, 0.0) / program.busy_us, 1.0), evidence)


def _length_us(spans: Spans) -> float:
    return covered_us(spans)
