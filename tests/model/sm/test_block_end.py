"""Ends of blocks: when the GPU records them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from warplens.model.sm.block_dispatch import Next, record_block_end


@pytest.mark.parametrize(("left", "expected"), [(7, 101.0), (4, 101.0), (3, 95.0)])
def test_ends_of_the_first_wave_come_in_a_burst(left: int, expected: float) -> None:
    """Eight blocks, four at a time.  The first four ends are reported from the next cycle on; later ones are placed
    between the reports of other SMs, so that a report may be under way already."""
    settings: Any = SimpleNamespace(
        ends_together=3, block_report_cycles=2.0, block_end_cycles=50.0, settle_cycles=10.0
    )  # fmt: skip
    blocks: Any = SimpleNamespace(
        began=np.zeros(8), resident=4, arrived=np.ones((4, 2)), noted=np.zeros(8), next=np.zeros(len(Next), np.int64)
    )
    servers: Any = SimpleNamespace(dispatch=SimpleNamespace(reports=0.0))
    record_block_end.python(1, 100.0, left, blocks, servers, settings)
    assert servers.dispatch.reports == expected
    assert blocks.noted[0] == max(expected, 101.0) + 50 - 10
    assert not blocks.arrived[1].any()
    assert blocks.next[Next.NOTED] == 1
