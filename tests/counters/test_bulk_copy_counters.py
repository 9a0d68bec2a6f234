"""Counters of bulk copies: what goes through the TMA pipe, as an H200 counted it."""

from __future__ import annotations

from helpers.hand_made_traces import program, trace
from warplens.core.launch import Launch
from warplens.counters.metrics import bulk_copies
from warplens.counters.vocabulary import Counts


def test_fetching_a_tensor_map_is_an_instruction_of_the_pipe_and_no_load() -> None:
    """As an H200 counts it in four products and attention of CUTLASS: 528 more than copies, of 132 blocks with 4."""
    listing = program("UTMACCTL.PF [UR4]\nUTMALDG.3D [UR8], [UR4]\nUTMACCTL.IV [UR4]")
    columns = [{"executed": 4}, {"executed": 6, "requests": 6}, {"executed": 1}]
    counts = Counts(listing, trace(Launch((1, 1, 1), (128, 1, 1)), columns), [0] * 3)
    found = {f.name: metric.value for f in bulk_copies.METRICS for metric in f.metrics(counts)}
    assert found["smsp__inst_executed_pipe_tma.sum"] == found["l1tex__tmain_requests.sum"] == 10
    assert found["smsp__inst_executed_op_tma_ld.sum"] == found["smsp__sass_inst_executed_op_tma.sum"] == 6
