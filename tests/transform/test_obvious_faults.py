"""Obvious faults: kernels as people write them get the change that a person would make."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.transform import Change, KernelSource, LaunchFacts, Refusal, changes

SOURCE = Path(__file__).with_name("obvious_faults.cu").read_text(encoding="utf-8")
BANKS, LANES, SECTORS = (frozenset({fault}) for fault in ("bank_conflicts", "inactive_lanes", "uncoalesced_access"))


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
}  # fmt: skip


@pytest.mark.parametrize("kernel", EXPECTED)
def test_the_obvious_change_is_proposed(kernel: str) -> None:
    facts, expected = EXPECTED[kernel]
    found = list(changes(KernelSource(SOURCE, kernel), facts))
    assert expected in [one.title for one in found if isinstance(one, Change)], [
        one.reason for one in found if isinstance(one, Refusal)
    ]
