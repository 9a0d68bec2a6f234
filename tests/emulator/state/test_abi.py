"""Constant bank 0: the layout of each architecture, and what a launch writes there."""

from __future__ import annotations

from struct import unpack_from

import pytest

from warplens.core.launch import Launch
from warplens.emulator.state.abi import bank0, launch_block


def test_each_generation_has_a_layout_of_its_own() -> None:
    layouts = {arch: bank0(arch) for arch in ("sm_75", "sm_89", "sm_90", "sm_100", "sm_120")}
    assert layouts["sm_75"] == layouts["sm_89"] != layouts["sm_90"] != layouts["sm_100"] == layouts["sm_120"]
    assert layouts["sm_89"] != layouts["sm_100"]
    assert layouts["sm_89"].clusters is None


@pytest.mark.parametrize("chip", ["sm_90", "sm_100"])
@pytest.mark.parametrize("cluster", [(1, 1, 1), (4, 2, 1)])
def test_clusters_are_described_in_the_bank(chip: str, cluster: tuple[int, int, int]) -> None:
    bank = launch_block(chip, b"", Launch((8, 4, 1), (64, 1, 1), 0), 132, 0, cluster)
    clusters = bank0(chip).clusters
    assert clusters is not None
    assert unpack_from("<I", bank, clusters.given) == (cluster != (1, 1, 1),)
    assert unpack_from("<3I", bank, clusters.size) == cluster
    assert unpack_from("<3f", bank, clusters.reciprocals) == tuple(1 / size for size in cluster)
    assert unpack_from("<3I", bank, clusters.many) == (8 // cluster[0], 4 // cluster[1], 1)
    assert unpack_from("<I", bank, clusters.blocks) == (cluster[0] * cluster[1],)
