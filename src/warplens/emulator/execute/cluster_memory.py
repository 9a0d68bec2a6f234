"""Cluster memory: the distributed shared memory of the blocks of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import addressof

from warplens.core.launch import Dim3
from warplens.emulator.access.site import SHARE
from warplens.emulator.execute.launch_state import WorkerConfiguration
from warplens.emulator.execute.worker_state import BlockContext
from warplens.emulator.memory.buffer_pool import address, aligned
from warplens.emulator.state.structs import CLUSTER_BLOCKS, ClusterState


class ClusterMemory:
    """Cluster memory of a worker.  Its blocks start cluster after cluster, so that few wait at a time."""

    def __init__(self, configuration: WorkerConfiguration) -> None:
        self.configuration = configuration
        x, y, z = configuration.cluster
        self.size = x * y * z
        self.share = -(-configuration.shared_bytes // SHARE) * SHARE

    def enter(self, context: BlockContext, number: int) -> int:
        """Grid number of the block started as `number`-th; `context` becomes its memory."""
        cluster, rank = divmod(number, self.size)
        if rank == 0:
            self.memory = aligned(self.share * self.size + SHARE, SHARE)
            self.record = ClusterState(live=self.size * self.configuration.launch.threads_per_block)
        block = context.block
        block.rank, block.cluster, block.window = rank, addressof(self.record), address(self.memory)
        block.shared = block.window + rank * self.share
        if rank < CLUSTER_BLOCKS:
            self.record.blocks[rank] = addressof(block)
        context.kept = [self.memory, self.record]
        return self._place(cluster, rank)

    def _place(self, cluster: int, rank: int) -> int:
        """The block's number in the grid; ranks and clusters count x first, as on an H200."""
        grid = self.configuration.launch.grid
        number, step = 0, 1
        for size, blocks in zip(self.configuration.cluster, grid, strict=True):
            cluster, place = divmod(cluster, blocks // size)
            rank, within = divmod(rank, size)
            number += step * (place * size + within)
            step *= blocks
        return number


def whole_clusters(blocks: Sequence[int], grid: Dim3, cluster: Dim3) -> list[int]:
    """The clusters of these blocks, as the numbers with which all their blocks start."""
    found: dict[int, None] = {}
    for block in blocks:
        number, step = 0, 1
        for size, along in zip(cluster, grid, strict=True):
            block, place = divmod(block, along)
            number += step * (place // size)
            step *= along // size
        found[number] = None
    size = cluster[0] * cluster[1] * cluster[2]
    return [number * size + rank for number in found for rank in range(size)]
