"""The last rungs of the labs: nothing is found in them that costs more than 3 % of the work.

Where a lab ends with a fault on purpose, or with one that is not its lesson, it is listed here with the reason.
"""

from __future__ import annotations

import pytest

from rules.example_kernels import counted, open_lab
from warplens.labs import lab_catalog
from warplens.labs.kernel_rung import KernelRung
from warplens.rules import findings

LABS = [name for name in lab_catalog.names() if any(isinstance(rung, KernelRung) for rung in open_lab(name).rungs)]
MOST = 0.03
SMALL_SIZE = {"small_grid"}  # rungs run at the size for tests here: too few blocks for an H200
KNOWN: dict[str, set[str]] = {
    # one lane of each warp waits at an mbarrier or asks for copies, which is how TMA is used
    "tensor_gemm": {"inactive_lanes"},
    # two kinds of sum whose rounds a block does together: shuffles are the reduction lab's lesson
    "banks": {"inactive_lanes", "barrier_stalls"},
    "divergence": {"inactive_lanes", "barrier_stalls"},
    # a product without tiles: they are the shared product lab's lesson
    "pitched": {"redundant_loads"},
    # the far end of a sweep over shared memory; its loop waits for each load and is kept as it is
    "resources": {"low_occupancy", "loop_not_unrolled"},
}


@pytest.mark.every(4)
@pytest.mark.parametrize("lab", LABS)
def test_only_known_faults_are_found(lab: str) -> None:
    last = [rung for rung in open_lab(lab).rungs if isinstance(rung, KernelRung)][-1]
    found = {finding.fault for finding in findings(counted(f"{lab}/{last.entry.title}")) if finding.weight > MOST}
    assert found - SMALL_SIZE == KNOWN.get(lab, set())


def test_every_lab_with_kernels_is_here() -> None:
    assert len(LABS) >= 14
    assert set(KNOWN) <= set(LABS)
