"""What is kept of a launch is all that another process needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import warplens as wl
from warplens.core.launch import Launch
from warplens.hardware import Job

SOURCE = """
__device__ int scale = 3;
extern "C" __global__ void k(const int *in, int *out, short add, const int *again) { out[threadIdx.x] = in[0] * scale + add; }
"""  # noqa: E501


def job() -> Job:
    module = wl.compile(source=SOURCE, arch="sm_90")
    module.variables["scale"] = np.int32(7)
    x, y = np.arange(4, dtype=np.int32), np.zeros(4, np.int32)
    return module["k"].job(Launch((2, 1, 1), (4, 1, 1), 16), x, y, np.int16(-2), x)


def test_an_array_passed_twice_is_one_buffer() -> None:
    assert job().arguments == (0, 1, b"\xfe\xff", 0)
    assert [buffer.nbytes for buffer in job().buffers] == [16, 16]


def test_a_changed_variable_goes_along() -> None:
    assert job().variables == {"scale": b"\x07\x00\x00\x00"}


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    kept = job()
    kept.save(tmp_path / "job.npz")
    loaded = Job.load(tmp_path / "job.npz")
    assert (loaded.cubin, loaded.kernel, loaded.arch) == (kept.cubin, "k", "sm_90")
    assert (loaded.launch, loaded.arguments, loaded.variables) == (kept.launch, kept.arguments, kept.variables)
    assert all(np.array_equal(a, b) for a, b in zip(loaded.buffers, kept.buffers, strict=True))
