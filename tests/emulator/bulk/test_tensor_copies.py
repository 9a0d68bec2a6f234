"""Copies of boxes between tensors and shared memory, and bulk copies, against NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import warplens as wl
from helpers.kernel_launches import kernel
from warplens.core.tensor_map import Im2col
from warplens.errors import KernelFault
from warplens.launchspec.mapped_array import MappedArray, mapped

RANDOM = np.random.default_rng(7)
NAN = 0x7FF77FF7


def tiles(array: NDArray[Any], box: tuple[int, int], grid: tuple[int, int], **how: Any) -> NDArray[Any]:
    """The boxes that the blocks of a grid (x, y) load, as they lie in shared memory."""
    steps = how.get("element_strides", (1, 1))
    rows = -(-box[0] // steps[0])
    size = rows * max(box[1] * array.itemsize, how.get("swizzle", 0))
    bytes = rows * box[1] * array.itemsize
    out = np.zeros((grid[0] * grid[1], size), np.uint8)
    given = wl.tensor_map(array, box, **how)
    assert bytes == size, "the kernel looks at what it waits for"
    kernel("boxes.cu", "load2", "sm_90").launch(grid, 64, given, box[1], box[0], size, out, shared=size)
    return out.view(array.dtype).reshape(grid[1], grid[0], rows, box[1])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.float64])
def test_boxes_in_a_grid_cover_the_array(dtype: Any) -> None:
    """What lies outside of it is filled with zeros."""
    array = RANDOM.integers(1, 200, (40, 96)).astype(dtype)
    got = tiles(array, (16, 32), (4, 3))
    whole = np.zeros((48, 128), dtype)
    whole[:40, :96] = array
    assert (got.transpose(0, 2, 1, 3).reshape(48, 128) == whole).all()


def test_fill_with_nan() -> None:
    array = RANDOM.random((4, 20)).astype(np.float32)
    got = tiles(array, (8, 32), (1, 1), fill="nan")[0, 0]
    assert (got[:4, :20] == array).all()
    assert (got.view(np.uint32)[4:] == NAN).all()
    assert (got.view(np.uint32)[:, 20:] == NAN).all()


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_swizzle_exchanges_chunks_of_16_bytes(swizzle: int) -> None:
    array = RANDOM.integers(0, 1 << 30, (16, swizzle // 4), np.int32)
    got = tiles(array, (16, swizzle // 4), (1, 1), swizzle=swizzle)[0, 0].reshape(-1, 4)
    for number, chunk in enumerate(array.reshape(-1, 4)):
        assert (got[number ^ (number >> 3 & swizzle // 16 - 1)] == chunk).all()


def test_element_strides_skip_rows() -> None:
    array = RANDOM.integers(0, 1 << 30, (30, 8), np.int32)
    got = tiles(array, (8, 8), (1, 3), element_strides=(3, 1))
    for block in range(3):
        assert (got[block, 0] == array[8 * block : 8 * block + 8 : 3]).all()


def test_tf32_rounds_and_denormals_stay() -> None:
    words = np.array([[0x3F80_1000, 0x3F80_3000, 0x3F80_1001, 0x0040_0000]], np.uint32)
    rounded = tiles(words.view(np.float32), (1, 4), (1, 1), element_type="tf32_ftz").view(np.uint32)
    assert rounded.ravel().tolist() == [0x3F80_0000, 0x3F80_4000, 0x3F80_2000, 0x0040_0000]


def test_a_column_of_pixels() -> None:
    """Pixels one after the other, row after row of the bounding box, with offsets; zeros beyond the edges."""
    images = RANDOM.integers(1, 1 << 30, (2, 5, 7, 8), np.int32)  # n, h, w, c
    lower, upper, pixels = (-1, -1), (-1, -1), 40
    given = mapped(images, (), im2col=Im2col(lower, upper, 8, pixels))
    out = np.zeros((pixels, 8), np.int32)
    at, offsets = np.array([0, -1, -1, 0], np.int32), np.array([2, 1], np.int32)
    launched = kernel("boxes.cu", "column4", "sm_90")
    launched.launch(1, 64, given, at.tobytes(), offsets.tobytes(), 32 * pixels, out, shared=32 * pixels)
    padded = np.pad(images, ((0, 0), (1, 3), (1, 3), (0, 0)))
    positions = [(n, h, w) for n in range(2) for h in range(-1, 4) for w in range(-1, 6)][:pixels]
    want = [padded[n, h + 1 + 1, w + 1 + 2] for n, h, w in positions]
    assert (out == np.array(want)).all()


def test_stores_of_boxes() -> None:
    """What lies beyond the edges is left out."""
    out = np.zeros((8, 40), np.int32)
    data = RANDOM.integers(1, 1 << 30, (3, 8, 16), np.int32)
    kernel("boxes.cu", "store2", "sm_90").launch(3, 64, wl.tensor_map(out, (8, 16)), 16, 0, 0, 512, data, shared=512)
    assert (out == data.transpose(1, 0, 2).reshape(8, 48)[:, :40]).all()


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float16, np.float32])
def test_sums_of_boxes(dtype: Any) -> None:
    """The blocks add to one box, in their order."""
    out = RANDOM.integers(0, 9, (4, 16)).astype(dtype)
    data = RANDOM.integers(0, 9, (5, 4, 16)).astype(dtype)
    want = out + data.sum(0, dtype=dtype)
    size = data[0].nbytes
    kernel("boxes.cu", "store2", "sm_90").launch(5, 64, wl.tensor_map(out, (4, 16)), 0, 0, 1, size, data, shared=size)
    assert (out == want).all()


def test_a_pipeline_of_bulk_copies() -> None:
    data, out = np.arange(9 * 256, dtype=np.int32), np.zeros(9 * 256, np.int32)
    run = kernel("boxes.cu", "pipeline", "sm_90").launch(1, 256, data, out, 9)
    assert (out == data + 1).all()
    counted = {
        "smsp__inst_executed_op_tma_ld.sum": 16, "smsp__inst_executed_op_tma_st.sum": 9,  # in 7 warps predicated off
        "smsp__inst_executed_pipe_tma.sum": 34, "l1tex__tmain_requests.sum": 27,
        "smsp__sass_inst_executed_op_tma_ld.sum": 9, "smsp__sass_inst_executed_op_tma.sum": 18,
        "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum": 9 * 32,
        "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum": 9 * 32,
    }  # fmt: skip
    assert {name: run[name] for name in counted} == counted


@pytest.mark.long
def test_blocks_of_a_cluster_exchange() -> None:
    data, out = np.arange(64, dtype=np.int32).reshape(4, 16), np.zeros((2, 3, 64), np.int32)
    run = kernel("boxes.cu", "exchange", "sm_90").launch(2, 64, wl.tensor_map(data, (4, 16)), out)
    row = np.arange(64)
    assert (out[:, 0] == row + np.array([[100], [200]])).all()
    assert (out[:, 1] == row + np.array([[200], [100]])).all()
    assert (out[:, 2] == 7 * row + [[1], [0]]).all()
    assert run["l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum"] == 2 * 8
    assert run["smsp__inst_executed_op_stas.sum"] == 4


# What is wrong


def load(given: MappedArray, x: int = 0, y: int = 0, size: int = 512) -> None:
    out = np.zeros(4 * size, np.uint8)
    kernel("boxes.cu", "load2", "sm_90").launch((2, 2), 32, given, x, y, size, out, shared=size)


def test_a_map_that_reaches_beyond_its_tensor() -> None:
    array = np.zeros((8, 16), np.float32)
    given = wl.tensor_map(array, (8, 16))
    larger = replace(given, layout=replace(given.layout, sizes=(16, 16)))
    with pytest.raises(KernelFault, match=r"out-of-bounds global copy of 16 bytes .* past the end of ") as found:
        load(larger, y=8)
    assert str(found.value).endswith(
        "the tensor map describes a tensor of 16, 16 elements of 4 bytes, strides 64 bytes: "
        "from byte 0 of argument 1 to 512 bytes past its end"
    )


def test_a_box_at_no_multiple_of_16_bytes() -> None:
    with pytest.raises(KernelFault, match="misaligned box: its coordinate in dimension 0 is not at a multiple of 16"):
        load(wl.tensor_map(np.zeros((8, 16), np.float32), (8, 16)), x=2)


def test_a_map_of_another_rank() -> None:
    with pytest.raises(KernelFault, match="no tensor map for this: of another rank"):
        load(wl.tensor_map(np.zeros((2, 8, 16), np.float32), (1, 8, 16)))


def test_signed_numbers_of_8_bytes_are_not_added() -> None:
    """On an H200 that is an illegal instruction."""
    array, box = np.zeros((4, 4), np.int64), np.zeros(128, np.uint8)
    with pytest.raises(KernelFault, match="of a type not reduced so"):
        kernel("boxes.cu", "store2", "sm_90").launch(1, 32, wl.tensor_map(array, (4, 4)), 0, 0, 1, 128, box, shared=128)


def test_a_phase_that_is_never_over() -> None:
    with pytest.raises(KernelFault, match="hangs: a phase of an mbarrier is never over: 64 bytes missing"):
        kernel("boxes.cu", "hang", "sm_90").launch(1, 32, np.zeros(32, np.int32), budget=1 << 24)
