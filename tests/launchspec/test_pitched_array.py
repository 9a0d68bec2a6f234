"""Pitched arrays: where rows begin, copies, launches, and the words of launch blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from warplens.commands.target import targets
from warplens.launchspec.arguments import parse_arguments

SOURCE = """
// /// warplens
// h = 5
// w = 33
// [twice]
// grid = [1, "h"]
// block = 64
// args = ["a = arange f32[h, w] pitched", "b = empty f32[h, w] pitched", "pitch(b)", "w"]
// ///
extern "C" __global__ void twice(const char* a, char* b, int pitch, int w) {
  int x = threadIdx.x, y = blockIdx.y;
  if (x < w) ((float*)(b + y * pitch))[x] = 2 * ((const float*)(a + y * pitch))[x];
}
extern "C" __global__ void beside(const float* a, float* out, int at) { out[threadIdx.x] = a[at]; }
"""


@pytest.fixture(scope="module")
def module() -> wl.Module:
    return wl.compile(source=SOURCE)


def test_rows_begin_aligned_and_the_result_is_in_place(module: wl.Module) -> None:
    host = np.random.default_rng(1).random((5, 33), np.float32)
    a, b = wl.pitched(host), wl.empty_pitched(host.shape, host.dtype)
    assert (a.pitch, a.nbytes, a.shape, a.dtype) == (512, 5 * 512, (5, 33), np.float32)
    run = module["twice"].launch((1, 5), 64, a, b, a.pitch, np.int32(33))
    np.testing.assert_array_equal(b.array, 2 * host)
    assert (b.storage.reshape(5, 512)[:, 33 * 4 :] == 0xFF).all()
    # 33 floats: one line of 128 bytes and one sector of the next, in each row alike
    assert run["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 5 * (4 + 1)


def test_three_dimensions_and_copies() -> None:
    host = np.arange(2 * 3 * 200, dtype=np.float64).reshape(2, 3, 200)
    made = wl.empty_pitched(host.shape, host.dtype)
    assert made.pitch == 2048
    made.copy_from(host)
    at = 1 * 3 * 2048 + 2 * 2048 + 7 * 8  # slice 1, row 2, column 7
    assert made.storage[at : at + 8].view(np.float64)[0] == host[1, 2, 7]
    back = np.zeros_like(host)
    made.copy_to(back)
    np.testing.assert_array_equal(back, host)
    np.testing.assert_array_equal(np.asarray(made), host)
    with pytest.raises(wl.UsageError, match=r"float32 of shape \(2, 3, 200\) cannot be copied into a pitched one"):
        made.copy_from(host.astype(np.float32))
    with pytest.raises(wl.UsageError, match=r"shape \(3, 200\) cannot take"):
        made.copy_to(back[0])


@pytest.mark.parametrize("shape", [(4,), (2, 3, 4, 5), (0, 4)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(wl.UsageError, match="cannot be pitched; possible are"):
        wl.empty_pitched(shape, np.float32)


def test_padding_belongs_to_the_allocation_and_holds_nothing(module: wl.Module) -> None:
    a, out = wl.pitched(np.ones((2, 33), np.float32)), np.zeros(32, np.float32)
    module["beside"].launch(1, 32, a, out, np.int32(33))
    assert np.isnan(out).all()
    with pytest.raises(wl.KernelFault, match="argument 1"):
        module["beside"].launch(1, 32, a, out, np.int32(2 * 512 // 4))


def test_repeated_on_a_gpu_with_the_same_bytes(module: wl.Module) -> None:
    kernel = module["twice"]
    a = wl.pitched(np.ones((5, 33), np.float32))
    launch = kernel.launch((1, 5), 64, a, a, a.pitch, np.int32(33)).launch
    job = kernel.job(launch, a, a, a.pitch, np.int32(33))
    assert [buffer.size for buffer in job.buffers] == [5 * 512]
    assert job.arguments[:2] == (0, 0)
    assert job.arguments[2] == (512).to_bytes(4, "little")


def test_words_of_a_launch_block(tmp_path: Path) -> None:
    file = tmp_path / "twice.cu"
    file.write_text(SOURCE)
    (target,) = targets(str(file))
    assert [argument.pitch for argument in target.arguments] == [512, 512, 0, 0]
    run = target.run()
    assert run["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 5 * (4 + 1)


def test_pitch_in_expressions_and_of_vectors() -> None:
    names = {"h": 3, "w": 40}
    made = parse_arguments(["pitch(v) // 16", "v = ones float4[h, w] pitched", "u=ones:u8[h,w]:pitched"], names)
    assert made[0].make(4) == 1024 // 16
    vectors = made[1].make()
    assert isinstance(vectors, wl.Pitched)
    assert (vectors.shape, vectors.pitch, made[1].bytes) == ((3, 40, 4), 1024, 3 * 1024)
    assert (vectors.array == 1).all()
    assert made[2].pitch == 512


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["zeros f32[n] pitched"], "rows and columns"),
        (["zeros f32[2, 2, 2, 2] pitched"], "rows and columns"),
        (["zeros f32[2, 2]", "pitch(a)"], r"argument 2, 'pitch\(a\)': no pitched array is called 'a'; write 'a = "),
        (["a = zeros f32[2, 2] pitched", "pitch(b)"], "no pitched array is called 'b'; there are a"),
    ],
)
def test_what_cannot_be_meant_is_refused(texts: list[str], told: str) -> None:
    with pytest.raises(wl.UsageError, match=told):
        parse_arguments(texts, {"n": 4})
