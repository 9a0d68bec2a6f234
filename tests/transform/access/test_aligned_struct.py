"""Aligned struct: the fields of a struct are accessed 16 bytes at once."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from transform.proposals import changes_of, diffs, facts
from warplens.transform._change import edited
from warplens.transform.access.aligned_struct import aligned_struct

PARTICLES = """\
struct Particle {
    float x, y, z;
    float vx, vy, vz;
    float mass, charge;
};
__global__ void f(Particle* p, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Particle one = p[i];
    one.x += one.vx * dt;
    one.y += one.vy * dt;
    one.z += one.vz * dt;
    p[i] = one;
}
"""


def test_the_struct_gets_its_alignment() -> None:
    (change,) = changes_of(aligned_struct, PARTICLES, facts())
    assert (change.effect, change.promise) == ("exact", "p begins at a multiple of 16 bytes")
    assert diffs(aligned_struct, PARTICLES, facts()) == ["-struct Particle {\n+struct alignas(16) Particle {"]
    named = PARTICLES.replace("struct Particle {", "typedef struct {").replace("\n};", "\n} Particle;")
    assert diffs(aligned_struct, named, facts()) == ["-typedef struct {\n+typedef struct alignas(16) {"]


def test_it_loads_with_a_quarter_of_the_requests_and_the_same_result() -> None:
    (change,) = changes_of(aligned_struct, PARTICLES, facts())
    requests, results = [], []
    for source in (PARTICLES, edited(PARTICLES, change.edits)):
        data = np.arange(8 * 512, dtype=np.float32)
        run = wl.compile(source=source)["f"].launch(4, 128, data, np.float32(0.5))
        requests.append(int(run["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"]))
        results.append(data)
    assert requests[1] * 4 <= requests[0] + 4 * 16
    assert np.array_equal(*results)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("float mass, charge;", "float mass;"),
        ("struct Particle {", "struct __align__(16) Particle {"),
        ("float mass, charge;", "float4 rest;"),
        ("Particle* p", "float* p"),
    ],
)
def test_structs_that_stay(old: str, new: str) -> None:
    assert changes_of(aligned_struct, PARTICLES.replace(old, new), facts()) == []
