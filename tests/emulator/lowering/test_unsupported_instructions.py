"""What is not emulated stops before anything runs, and says which instruction of which line it is.

The lines of textures are those of the compiler's own header, whose functions do it."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import written
from warplens.errors import UnsupportedInstruction

TEXTURE = "__global__ void k(cudaTextureObject_t t, float *o) {\n o[0] = tex1Dfetch<float>(t, 3); }"
GRADIENTS = "__global__ void k(cudaTextureObject_t t, float4 *o) { o[0] = tex3DGrad<float4>(t, 1, 2, 3, o[1], o[2]); }"
FORMATTED = """__global__ void k(cudaSurfaceObject_t t, float *o) {
 asm volatile("sust.p.2d.b32.trap [%0, {%1,%1}], {%2};" :: "l"(t), "r"(1), "f"(o[0])); }"""
VOLTA = """__global__ void k(unsigned *a, float *o) { float d[8] = {};
 asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7},{%8,%8},{%8,%8},"
  "{%0,%1,%2,%3,%4,%5,%6,%7};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
  "+f"(d[7]) : "r"(a[0])); for (int i = 0; i < 8; ++i) o[i] = d[i]; }"""
SPARSE_BYTES = """__global__ void k(unsigned *a, float *o) { float d[4] = {};
 asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3},{%4,%4,%4,%4},"
  "{%4,%4,%4,%4},{%0,%1,%2,%3}, %4, 0;"
  : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0])); for (int i = 0; i < 4; ++i) o[i] = d[i]; }"""
NO_COMPLETE = """__global__ void k(char *g, float *o) { __shared__ unsigned long long b;
 unsigned a = __cvta_generic_to_shared(&b); unsigned long long s;
 asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" : "=l"(s) : "r"(a)); o[0] = s; }"""


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (GRADIENTS, r"k calls __cuda_syscall_tex_grad_3d_v4_f32_f32, with which .* by gradients: that is not emulated"),
        (FORMATTED, r"SUST\.P.*:2\): surface instructions of this form are not emulated"),
    ],
)
def test_told(source: str, told: str) -> None:
    out = np.zeros(1, np.float32)
    with pytest.raises(UnsupportedInstruction, match=told):
        written('extern "C" ' + source, "k").launch(1, 32, np.zeros(16, np.int8), out)
    assert out[0] == 0


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        (TEXTURE, "sm_86", r"TLD\.SCR\.LZ .*\(sm_86, .*:\d+\): texture instructions of this form are not emulated"),
        (VOLTA, "sm_75", r"HMMA\.884\..*\(sm_75, .*:\d+\): matrix products of Volta's shape .* are not emulated"),
        (SPARSE_BYTES, "sm_89", r"QMMA\.SP.*\(sm_89, .*:\d+\): products of sparse or scaled .* are not emulated"),
        (NO_COMPLETE, "sm_90", r"SYNCS\.ARRIVE.*:3\): arrivals that may not end a phase .* are not emulated"),
    ],
)
def test_told_of_an_architecture(source: str, target: str, told: str) -> None:
    out = np.zeros(8, np.float32)
    with pytest.raises(UnsupportedInstruction, match=told):
        written('extern "C" ' + source, "k", target).launch(2, 32, np.zeros(32, np.uint32), out)
    assert not out.any()
