"""Threaded code: which kernels only the compiled tier executes."""

from __future__ import annotations

import pytest

from helpers.kernel_launches import kernel
from warplens.emulator.state.check_set import NO_CHECKS
from warplens.emulator.threaded.template import UnfitError
from warplens.emulator.threaded.threaded_code import threaded_code


@pytest.mark.parametrize("name", ["cluster_push", "cluster_names"])
def test_blocks_of_a_cluster_are_compiled(name: str) -> None:
    clustered = kernel("clusters.cu", name, "sm_90")
    assert clustered.kernel.cluster_blocks > 1
    with pytest.raises(UnfitError):
        threaded_code(clustered.kernel, clustered.program, NO_CHECKS)
