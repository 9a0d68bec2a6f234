"""Microarchitecture: sizes and policies of hardware units that the model of time reads, and their bounds.

No manual gives them: they were read on an H200, or fitted by hand to what was read there.  Rates and latencies are in
unit_speeds.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from warplens.machine.parameter import parameter


@dataclass(frozen=True, slots=True)
class Microarchitecture:
    """[l1_cache]
      tag_bank_high_bits, tag_bank_low_bits   of a line's number, as masks: an odd number of ones sets that bit of the
                               number of its bank of tags
      tag_lag_cycles           by which one bank may be behind before the next access waits

    [store_queue], from L1 to L2
      hold_cycles              for which a line waits at the least
      draining_lines           at the end of the queue that a store does not join
      packet_bytes             a cycle that one multiprocessor sends while no other does

    [l2_port]
      request_bytes            that a request to load a line takes on the way of the packets
      both_halves              multiprocessors of which some are near either half of L2
    """

    tag_bank_high_bits: float = parameter("l1_cache", 0, 2**16 - 1, "mask")
    tag_bank_low_bits: float = parameter("l1_cache", 0, 2**16 - 1, "mask")
    tag_lag_cycles: float = parameter("l1_cache", 0, 1000)
    hold_cycles: float = parameter("store_queue", 0, 10_000)
    draining_lines: float = parameter("store_queue", 0, 1000, "lines")
    packet_bytes: float = parameter("store_queue", 1, 1024, "bytes/cycle")
    request_bytes: float = parameter("l2_port", 0, 128, "bytes")
    both_halves: float = parameter("l2_port", 1, 1024, "multiprocessors")
