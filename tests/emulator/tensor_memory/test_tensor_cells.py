"""Loads and stores of tensor memory by shape, its allocation, and what is wrong with either: by the PTX ISA."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import warplens as wl
from helpers.kernel_launches import written
from helpers.tensor_memory_sources import COMMON, REGISTERS, load, moved, store

Words = NDArray[np.uint32]


def cells(shape: str, lane: int, number: int, split: int) -> list[tuple[int, int]]:
    """Lane and column of each register of a thread, by the figures of the PTX ISA (tcgen05, data movement shapes)."""
    quad, rank = divmod(lane, 4)
    if shape == "32x32b":
        return [(lane, k) for k in range(number)]
    if shape == "16x32bx2":
        return [(lane % 16, k + split * (lane // 16)) for k in range(number)]
    if shape == "16x64b":
        return [(quad + 8 * (rank % 2), 2 * k + rank // 2) for k in range(number)]
    if shape == "16x128b":
        return [(quad + 8 * half, 4 * k + rank) for k in range(number) for half in range(2)]
    return [(quad + 8 * half, 8 * k + 2 * rank + one) for k in range(number) for half in range(2) for one in range(2)]


@pytest.mark.parametrize(
    ("shape", "number", "packed"),
    [
        ("32x32b", 16, True),
        pytest.param("16x256b", 4, False, marks=pytest.mark.long),
        pytest.param("16x64b", 16, False, marks=pytest.mark.long),
        pytest.param("16x64b", 8, True, marks=pytest.mark.long),
        pytest.param("16x128b", 8, False, marks=pytest.mark.long),
        pytest.param("16x128b", 4, True, marks=pytest.mark.long),
        pytest.param("16x256b", 2, True, marks=pytest.mark.long),
        ("16x32bx2", 8, False),
    ],
)
def test_shapes(shape: str, number: int, packed: bool) -> None:
    split = 9 if shape == "16x32bx2" else None
    given = np.random.default_rng(1).integers(0, 1 << 32, (128, 32), dtype=np.uint64).astype(np.uint32)
    count = REGISTERS[shape] * number
    by_shape, back = np.zeros((128, count), np.uint32), np.zeros((128, 32), np.uint32)
    written(moved(shape, number, packed, split), "moved", "sm_100a").launch(1, 128, given, by_shape, back)
    expected, expected_back = np.zeros_like(by_shape), np.zeros_like(back)
    for thread in range(128):
        first = thread // 32 * 32
        for k, (row, column) in enumerate(cells(shape, thread % 32, number, split or 0)):
            lane = first + row
            if packed:
                low, high = given[lane, 2 * column] & 0xFFFF, given[lane, 2 * column + 1] & 0xFFFF
                expected[thread, k] = low | high << 16
                expected_back[lane, 2 * column : 2 * column + 2] = low, high
            else:
                expected[thread, k] = expected_back[lane, column] = given[lane, column]
    assert (by_shape == expected).all()
    assert (back == expected_back).all()


SOURCE = f"""{COMMON}
{load("load_one", "32x32b", 1)} {store("store_one", "32x32b", 1)}
extern "C" __global__ void used(int ask, int columns, int at, int frees, unsigned* out) {{
  __shared__ unsigned address[2];
  if (threadIdx.x < 32) {{ allocate(&address[0], ask); allocate(&address[1], 64); }}
  __syncthreads();
  unsigned r = threadIdx.x, base = address[0] + at;
  store_one(&r, base);
  r = 0;
  load_one(&r, base);
  out[threadIdx.x] = r;
  if (threadIdx.x == 0) {{ out[128] = address[0]; out[129] = address[1]; }}
  __syncthreads();
  if (threadIdx.x < 32) {{
    release(address[1], 64);
    for (int k = 0; k < frees; k++) release(address[0], columns);
  }}
}}"""


def used(ask: int = 32, columns: int = 32, at: int = 0, frees: int = 1, **how: object) -> Words:
    out = np.zeros(130, np.uint32)
    written(SOURCE, "used", "sm_100a").launch(1, 128, ask, columns, at, frees, out, **how)
    return out


def test_columns_are_found_at_multiples_of_their_number() -> None:
    """And an address without a quarter means that of the warp."""
    out = used()
    assert out[:128].tolist() == list(range(128))
    assert out[128:].tolist() == [0, 64]


def test_the_compilers_own_state_is_no_uninitialized_memory() -> None:
    out = np.zeros(130, np.uint32)
    run = written(SOURCE, "used", "sm_100a").launch(1, 128, 32, 32, 0, 1, out, check=("all",))
    assert run.hazards == ()


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"at": 32}, r"tensor memory that is not allocated is accessed: column 32\n  at .*STTM"),
        ({"at": 512}, r"out-of-bounds tensor memory access: it ends before column 512\n"),
        ({"at": 64 << 16}, r"tensor memory of another warp is accessed.*: lane 64\n"),
        ({"at": 16 << 16}, r"from a lane that does not start a quarter.*: lane 16\n"),
        (
            {"ask": 96},
            r"tcgen05.alloc asks for 96 columns: it must be a power of two.*\n  at .*UTCATOMSWS",
        ),
        ({"frees": 0}, r"used ends without tcgen05.dealloc: block \(0,0,0\) has 32 columns of tensor memory allocated"),
        ({"frees": 2}, r"tcgen05.dealloc of tensor memory that is not allocated\n  at source.cu.*CALL"),
    ],
)
def test_faults(how: dict[str, int], told: str) -> None:
    with pytest.raises(wl.KernelFault, match=told):
        used(**how)
