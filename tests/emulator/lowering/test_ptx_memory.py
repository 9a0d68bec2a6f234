"""Accesses of memory that PTX can ask for and CUDA C++ seldom does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import warplens as wl
from warplens.compiler import assemble

KERNEL = """.version 9.0
.target {arch}
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b) {{
.reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .f32 %f<12>; .reg .b16 %h<12>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 32; add.u64 %rd4, %rd1, %rd3; mul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd2, %rd5;
{body}
ret; }}
"""


def kernel(body: str, arch: str) -> wl.Kernel:
    return wl.load(assemble(KERNEL.format(arch=arch, body=body), "memory", arch))["k"]


@pytest.mark.parametrize("count", [2, 4, 8])
def test_halves_are_added_side_by_side(count: int) -> None:
    loads = " ".join(f"ld.global.b16 %h{k}, [%rd4+{2 * k}];" for k in range(count))
    halves = ", ".join(f"%h{k}" for k in range(count))
    summed, terms = np.zeros(16, np.float16), (np.arange(32 * 16) % 7 * 0.25).astype(np.float16)
    k = kernel(f"{loads} red.global.add.noftz.v{count}.f16 [%rd2], {{{halves}}};", "sm_90")
    k.launch(1, 32, terms, summed)
    assert (summed[:count] == terms.reshape(32, 16)[:, :count].sum(0)).all()
    assert not summed[count:].any()


@pytest.mark.every(3)
@pytest.mark.parametrize("blackwell", ["sm_100", "sm_120"])
@pytest.mark.parametrize("wanted", [(1, 8), (1, 2, 7), (3,), (1, 2, 3, 4, 5, 6, 7, 8)])
def test_of_32_bytes_only_those_words_come_that_are_used(blackwell: str, wanted: tuple[int, ...]) -> None:
    """Registers hold the words that an instruction's mask names, one behind the other."""
    sums = " ".join(f"add.f32 %f9, %f9, %f{k};" for k in wanted)
    words = ", ".join(f"%f{k}" for k in range(1, 9))
    body = f"mov.f32 %f9, 0f00000000; ld.global.v8.f32 {{{words}}}, [%rd4]; {sums} st.global.f32 [%rd6], %f9;"
    given, found = np.arange(256, dtype=np.float32), np.zeros(32, np.float32)
    kernel(body, blackwell).launch(1, 32, given, found)
    assert (found == given.reshape(32, 8)[:, [k - 1 for k in wanted]].sum(1)).all()


def test_loads_behind_one_with_a_cache_policy_are_read_on_sm_80() -> None:
    """nvdisasm prints `R5desc,[UR4][R2.64]` then."""
    policy = "createpolicy.fractional.L2::evict_last.b64 %rd7, 0.5;"
    load = "ld.global.L2::cache_hint.f32 %f1, [%rd4], %rd7; ld.global.f32 %f2, [%rd4+4];"
    given, found = np.arange(256, dtype=np.float32), np.zeros(32, np.float32)
    k = kernel(f"{policy} {load} add.f32 %f1, %f1, %f2; st.global.f32 [%rd6], %f1;", "sm_80")
    k.launch(1, 32, given, found)
    assert (found == given.reshape(32, 8)[:, :2].sum(1)).all()


def test_what_has_no_meaning_yet_stops_in_words() -> None:
    k = kernel("red.global.max.noftz.v2.f16x2 [%rd2], {%r1, %r1};", "sm_90")
    with pytest.raises(wl.errors.UnsupportedInstruction, match="max"):
        k.launch(1, 32, np.zeros(512, np.float16), np.zeros(16, np.float16))


@pytest.mark.every(2)
@pytest.mark.parametrize("target", ["sm_90", "sm_120"])
@pytest.mark.parametrize("way", ["cas", "exch"])
def test_16_bytes_in_shared_memory_are_swapped(way: str, target: str) -> None:
    """Lane by lane: a lane compares with what was there but for lanes 1 and 2, of which one bit differs."""
    wanted = "%c, %v" if way == "cas" else "%v"
    k = kernel(
        f""".shared .align 16 .b8 s[512]; .reg .b128 %c, %v, %o;
        mov.u32 %r2, s; mul.lo.u32 %r3, %r1, 16; add.u32 %r4, %r2, %r3; cvt.u64.u32 %rd7, %r3;
        add.u64 %rd8, %rd1, %rd7; add.u64 %rd9, %rd2, %rd7;
        ld.global.b128 %v, [%rd8]; st.shared.b128 [%r4], %v; ld.global.b128 %c, [%rd8+512];
        ld.global.b128 %v, [%rd8+1024]; atom.shared.{way}.b128 %o, [%r4], {wanted};
        st.global.b128 [%rd9], %o; ld.shared.b128 %v, [%r4]; st.global.b128 [%rd9+512], %v;""",
        target,
    )
    given = np.random.default_rng(4).integers(0, 1 << 63, (96, 2), dtype=np.uint64)
    given[32:64] = given[:32]
    given[33, 0] ^= np.uint64(1)
    given[34, 1] ^= np.uint64(1 << 62)
    found = np.zeros((64, 2), np.uint64)
    k.launch(1, 32, given, found)
    swapped = (given[:32] == given[32:64]).all(1) | (way == "exch")
    assert (found[:32] == given[:32]).all()
    assert (found[32:] == np.where(swapped[:, None], given[64:], given[:32])).all()


@pytest.mark.parametrize("target", ["sm_90", "sm_100", "sm_120"])
def test_a_fence_between_names_of_one_place(target: str) -> None:
    """It keeps the uniform predicates in a byte of a register (UP2UR.B3) and takes them back from there."""
    k = kernel("ld.global.u32 %r2, [%rd4]; fence.proxy.alias; st.global.u32 [%rd6], %r2;", target)
    assert {"UP2UR.B3", "UR2UP"} <= {i.opcode for i in k.program.instructions}
    given, found = np.arange(256, dtype=np.uint32), np.zeros(32, np.uint32)
    k.launch(1, 32, given, found)
    assert (found == given[::8]).all()


EXTREME = """.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b) {{
.reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3; ld.global.f32 %f1, [%rd4];
redux.sync.{how}.f32 %f2, %f1, -1; st.global.f32 [%rd5], %f2; ret; }}
"""


@pytest.mark.every(5)
@pytest.mark.parametrize("lost", [0, 1, 32])
@pytest.mark.parametrize("way", ["min", "max"])
@pytest.mark.parametrize("absolute", ["", ".abs"])
@pytest.mark.parametrize("nan", ["", ".NaN"])
def test_extremes_of_floats_over_a_warp(way: str, absolute: str, nan: str, lost: int) -> None:
    """Only sm_100a has them: a PTX text that says so is assembled for it where sm_100 is asked for."""
    given = np.concatenate([np.float32([-0.0, 0.0, -3.5, 1e-40]), np.linspace(-9, 8, 28, dtype=np.float32)])
    given[:lost] = np.nan
    found = np.zeros(32, np.float32)
    wl.compile(source=EXTREME.format(how=way + absolute + nan), arch="sm_100")["k"].launch(1, 32, given, found)
    values = np.abs(given) if absolute else given
    plain, losing = (np.min, np.nanmin) if way == "min" else (np.max, np.nanmax)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of nothing but NaN
        expected = (plain if nan else losing)(values)
    assert np.array_equal(found, np.full(32, expected), equal_nan=True)
