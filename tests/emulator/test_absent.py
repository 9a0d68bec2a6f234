"""What is not emulated stops before anything runs, and says which instruction of which line it is.

The lines of textures and surfaces are those of the compiler's own header, whose functions do it."""

from __future__ import annotations

import numpy as np
import pytest
from launches import kernel, written

from warplens.errors import UnsupportedInstruction

TEXTURE = "__global__ void k(cudaTextureObject_t t, float *o) {\n o[0] = tex1Dfetch<float>(t, 3); }"
SURFACE = "__global__ void k(cudaSurfaceObject_t t, float *o) {\n surf2Dwrite(o[0], t, 0, 1); }"
BULK = """__global__ void k(char *g, float *o) { __shared__ alignas(128) char s[16];
 unsigned a = __cvta_generic_to_shared(s);
 asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" :: "l"(g), "r"(a)); o[0] = 1; }"""
TRANSACTIONS = """__global__ void k(char *g, float *o) { __shared__ unsigned long long b;
 unsigned a = __cvta_generic_to_shared(&b);
 asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" :: "r"(a)); o[0] = 1; }"""
CLUSTERS = "__global__ void __cluster_dims__(2) k(char *g, float *o) { o[0] = 1; }"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (TEXTURE, r"TLD\.LZ .*\(sm_90, .* at 0x[0-9a-f]+, .*:\d+\): texture instructions are not emulated"),
        (SURFACE, r"SUST\.D.*:\d+\): surface instructions are not emulated"),
        (BULK, r"UBLKCP.*:3\): bulk copies by the tensor memory accelerator \(TMA\) are not emulated"),
        (TRANSACTIONS, r"SYNCS\.ARRIVE\.TRANS64 .*:3\): mbarriers that count transactions .* are not emulated"),
        (CLUSTERS, r"k \(sm_90\) runs in clusters of 2 blocks .*: clusters of more than one block are not emulated"),
    ],
)
def test_told(source: str, told: str) -> None:
    out = np.zeros(1, np.float32)
    with pytest.raises(UnsupportedInstruction, match=told):
        written('extern "C" ' + source, "k").launch(1, 32, np.zeros(16, np.int8), out)
    assert out[0] == 0


@pytest.mark.parametrize(("name", "told"), [("mb", "transactions"), ("cl", "clusters of more than one block")])
def test_bulk_copies_and_clusters_of_a_whole_file(name: str, told: str) -> None:
    out, size = np.zeros(64, np.int32), np.zeros(1024, np.int8)
    args = (size, out, 32) if name == "mb" else (out,)
    with pytest.raises(UnsupportedInstruction, match=told):
        kernel("k36_tma_wgmma.cu", name, "sm_90").launch(2, 32, *args)
    assert not out.any()
