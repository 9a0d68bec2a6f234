"""Obvious faults: kernels as people write them get the change that a person would make."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.transform import Change, KernelSource, LaunchFacts, Refusal, changes

SOURCES = [
    Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("obvious_faults.cu", "common_faults.cu")
]
BANKS, LANES, SECTORS, SMALL = (
    frozenset({fault}) for fault in ("bank_conflicts", "inactive_lanes", "uncoalesced_access", "small_grid")
)


def launch(
    grid: tuple[int, int, int], block: tuple[int, int, int], numbers: dict[str, int] | None = None,
    sizes: dict[str, int] | None = None, faults: frozenset[str] = frozenset(),
) -> LaunchFacts:  # fmt: skip
    return LaunchFacts(grid, block, numbers=numbers or {}, sizes=sizes or {}, faults=faults)


EXPECTED = {
    "saxpyStrided": (launch((16384, 1, 1), (256, 1, 1), {"n": 1 << 22}), "load and store 4 elements at once"),
    "transposeTile": (launch((128, 64, 1), (32, 32, 1), faults=BANKS), "pad each row of tile by 1 element"),
    "blockSum": (
        launch((16384, 1, 1), (256, 1, 1), {"n": 1 << 22}, faults=LANES), "reduce by halves: pairs half a block apart"
    ),
    "histogram256": (
        launch((8192, 1, 1), (256, 1, 1), {"size": 1 << 21}, {"hist": 1024}),
        "add to a copy of hist in shared memory first; 1,056 blocks instead of 8,192",
    ),
    "sigmoid": (
        launch((16384, 1, 1), (256, 1, 1), {"n": 1 << 22}, faults=frozenset({"double_literal"})),
        "write 4 double literals as float",
    ),
    "scaleRows": (launch((64, 256, 1), (16, 16, 1), faults=SECTORS), "exchange x and y of threads and blocks"),
    "addBias<float>": (
        launch((6272, 1, 1), (256, 1, 1), {"size": 1605632, "channels": 64, "spatial": 3136}),
        "divide by spatial with its reciprocal, computed once; a grid-stride loop with 1,056 blocks instead of 6,272",
    ),
    "matVec": (
        launch((32, 1, 1), (128, 1, 1), {"rows": 4096, "cols": 1024}, faults=SECTORS),
        "a warp for each i: its lanes share the loop over j",
    ),
    "norms": (launch((8192, 1, 1), (256, 1, 1), {"n": 1 << 21}, faults=SECTORS), "load 4 elements of pts at once"),
    "addGrids": (launch((256, 256, 1), (8, 8, 1)), "blocks of 32 x 8 threads instead of 8 x 8"),
    "fir": (
        launch((8192, 1, 1), (128, 1, 1), {"n": 1 << 20}),
        "make the pointers __restrict__, and const where they are only read",
    ),
    "maxAbs": (
        launch((2048, 1, 1), (512, 1, 1), {"n": 1 << 20}, faults=BANKS), "reduce by halves: pairs half a block apart"
    ),
    "columnSums": (
        launch((8, 1, 1), (256, 1, 1), {"rows": 4096, "cols": 2048}, faults=SMALL),
        "32 threads for each c: they share the loop over r",
    ),
    "addChunks": (
        launch((256, 1, 1), (256, 1, 1), {"n": 1 << 22}, faults=SECTORS),
        "every thread takes neighbours of the other threads' elements, not a contiguous part",
    ),
    "dotByThreadZero": (
        launch((16384, 1, 1), (256, 1, 1), {"n": 1 << 22}, faults=LANES),
        "each thread adds up 8 elements first; reduce in a tree instead of one thread's loop",
    ),
    "dotOfStrides": (
        launch((512, 1, 1), (256, 1, 1), {"n": 1 << 22}),
        "reduce in registers: each warp by shuffles, then the first warp",
    ),
    "countPositive": (
        launch((16384, 1, 1), (256, 1, 1), {"n": 1 << 22}),
        "add up in each warp before the atomic; a grid-stride loop with 1,056 blocks instead of 16,384",
    ),
    "flatTranspose": (
        launch((64, 256, 1), (32, 8, 1), faults=SECTORS), "transpose in a tile of 32 x 32 in shared memory"
    ),
    "scaleVolume": (launch((16, 16, 16), (8, 8, 8), faults=SECTORS), "exchange x and z of threads and blocks"),
    "fewBlocks": (launch((16, 1, 1), (64, 1, 1), {"n": 1 << 20}, faults=SMALL), "1,056 blocks instead of 16"),
    "normalizeRows": (
        launch((32, 1, 1), (128, 1, 1), {"rows": 4096, "width": 512}, faults=SECTORS),
        "a warp for each r: its lanes share the loop over k",
    ),
    "product": (
        launch((32, 32, 1), (16, 16, 1), {"N": 512}, faults=frozenset({"redundant_loads"})),
        "tiles of 16 x 16 in shared memory",
    ),
    "permute": (
        launch((16384, 1, 1), (256, 1, 1), {"total": 1 << 22, "C": 48, "H": 32, "W": 64}),
        "divide by C, H and W with their reciprocals, computed once",
    ),
    "castBound": (launch((16384, 1, 1), (128, 1, 1), {"n": 1 << 21}), "load and store 4 elements at once"),
}  # fmt: skip


@pytest.mark.parametrize("kernel", EXPECTED)
def test_the_obvious_change_is_proposed(kernel: str) -> None:
    facts, expected = EXPECTED[kernel]
    source = next(text for text in SOURCES if f" {kernel.partition('<')[0]}(" in text)
    found = list(changes(KernelSource(source, kernel), facts))
    assert expected in [one.title for one in found if isinstance(one, Change)], [
        one.reason for one in found if isinstance(one, Refusal)
    ]
