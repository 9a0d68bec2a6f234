"""Threaded code: which kernels have it."""

from __future__ import annotations

import pytest

from helpers.kernel_launches import kernel
from warplens.emulator.state.check_set import NO_CHECKS
from warplens.emulator.threaded.threaded_code import threaded_code


@pytest.mark.parametrize("name", ["cluster_push", "cluster_names"])
def test_blocks_of_a_cluster_have_threaded_code_of_their_own(name: str) -> None:
    clustered = kernel("clusters.cu", name, "sm_90")
    code = threaded_code(clustered.kernel, clustered.program, NO_CHECKS)
    assert code.setting.windows.cluster == clustered.kernel.cluster_blocks > 1
