"""Times that follow by hand from the compiler's own numbers, and what must hold for any kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.sampled_footprints import sampled_footprint
from helpers.snapshots import Snapshot
from warplens.emulator import RECORD
from warplens.errors import Unpredictable, UsageError
from warplens.machine import Machine, machine
from warplens.model import WHAT_IF, Prediction
from warplens.model.grid.simulated_blocks import choose_blocks, random_blocks
from warplens.model.predict import predict
from warplens.model.trace.warp_streams import WarpStreams, order_by_warp

LESSONS = Path(__file__).parents[1] / "kernels" / "lessons.cu"
CHAIN = """extern "C" __global__ void chain(float* y, float k, int n) {
  float a = threadIdx.x;
  #pragma unroll 1
  for (int i = 0; i < n; ++i) {
    #pragma unroll
    for (int j = 0; j < 256; ++j) a = fmaf(a, k, 1.0f);
  }
  y[threadIdx.x] = a;
}"""


@cache
def run_of(name: str, n: int = 1 << 16) -> wl.Run:
    kernel = wl.compile(LESSONS)[name]
    x = np.random.default_rng(1).random(n, np.float32)
    if name.startswith("matmul"):
        size = int(n**0.5)
        return kernel.launch((size // 16, size // 16), (16, 16), x, x.copy(), np.zeros(n, np.float32), np.int32(size))
    if name.startswith("reduce"):
        whole = (x * 1000).astype(np.int32)
        return kernel.launch(n // 256, 256, whole, np.zeros(n // 256, np.int32), np.int32(n))
    return kernel.launch(n // 128, 128, x, np.zeros_like(x), np.int32(n))


def chain(n: int) -> wl.Run:
    kernel = wl.compile(source=CHAIN)["chain"]
    return kernel.launch(1, 32, np.zeros(32, np.float32), np.float32(0.5), np.int32(n))


def test_a_dependent_multiply_add_takes_four_cycles(snapshot: Snapshot) -> None:
    """Two lengths, so that what is not the chain falls out."""
    short, long = (chain(n).predict("h200") for n in (20, 40))
    cycles = (long.time_us - short.time_us) * machine("h200").boost_megahertz
    assert snapshot(cycles / (20 * 256)) == pytest.approx(4, rel=0.03)


@pytest.mark.parametrize("name", ["nccopy", "matmul_tiled", "reduce_modulo"])
def test_a_prediction_changes_only_on_purpose(name: str, snapshot: Snapshot) -> None:
    found = run_of(name).predict("h200")
    for number in (found.time_us, found.low_us, found.high_us):
        snapshot(number)
    for _, metric in sorted(found.metrics.items()):
        snapshot(metric.value)
    for _, share in sorted(found.stalls.items()):
        snapshot(share)


def test_the_same_question_has_the_same_answer_to_the_last_digit() -> None:
    first, second = (run_of.__wrapped__("nccopy").predict("h200") for _ in range(2))
    assert first == second


@pytest.mark.every(3)
@pytest.mark.parametrize("name", ["ccopy", "nccopy", "matmul_tiled", "reduce_modulo", "reduce_sequential"])
def test_what_holds_for_any_kernel(name: str, snapshot: Snapshot) -> None:
    run = run_of(name)
    found = run.predict("h200")
    assert found.low_us < found.time_us < found.high_us
    assert found.time_us > run.floor("h200").microseconds
    assert snapshot(sum(found.stalls.values())) == pytest.approx(
        found.metrics["smsp__average_warp_latency_per_inst_issued.ratio"].value
    )
    assert found.stalls["selected"] == pytest.approx(1)
    assert all(metric.provenance == "modelled" for metric in found.metrics.values())
    assert all(0 < unit.percent < 101 for unit in found.units)
    assert found.calibrated


@pytest.mark.parametrize("name", ["ccopy", "nccopy"])
def test_a_stream_is_read_from_dram_once(name: str, snapshot: Snapshot) -> None:
    n = 1 << 16
    read = run_of(name, n).predict("h200").metrics["dram__bytes_read.sum"].value
    assert snapshot(read) == pytest.approx(4 * n, rel=0.02)


@pytest.mark.every(4)
@pytest.mark.parametrize("cause", WHAT_IF)
@pytest.mark.parametrize("name", ["nccopy", "reduce_modulo"])
def test_without_a_cause_a_kernel_is_not_slower(name: str, cause: str) -> None:
    run = run_of(name)
    assert run.predict("h200", (cause,)).time_us <= run.predict("h200").time_us * 1.01


def test_a_cause_that_is_not_known_is_refused() -> None:
    with pytest.raises(UsageError, match="double_bandwidth"):
        run_of("ccopy").predict("h200", ("half_price",))


def test_double_bandwidth_helps_what_dram_limits() -> None:
    n = 1 << 24
    kernel = wl.compile(LESSONS)["add4"]
    x = np.zeros(n, np.float32)
    run = kernel.launch(1024, 256, x, x.copy(), x.copy(), np.int32(n))
    assert run.predict("h200", ("double_bandwidth",)).time_us < 0.8 * run.predict("h200").time_us


def test_an_array_that_the_kernel_changed_is_as_before_when_blocks_run_again() -> None:
    source = 'extern "C" __global__ void next(int* x) { int i = threadIdx.x; while (x[i] < 100) x[i] += 1; }'
    x = np.zeros(32, np.int32)
    run = wl.compile(source=source)["next"].launch(1, 32, x)
    assert (x == 100).all()
    assert run.predict("h200").simulated.instructions == run["smsp__inst_executed.sum"]


def test_a_constant_that_shares_a_barrier_with_a_load_is_not_in_flight() -> None:
    source = """extern "C" __global__ void scale(float* x, float a, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = x[i] * a + 0.5f; }"""
    x = np.zeros(1 << 20, np.float32)
    run = wl.compile(source=source, arch="sm_90")["scale"].launch(4096, 256, x, np.float32(2), np.int32(x.size))
    assert "one 4-byte load in flight" in run.predict("h200").limit


BANKS = """extern "C" __global__ void banks(float* x, int step) {
  __shared__ float s[1024];
  float sum = 0;
  for (int i = threadIdx.x * step; i < threadIdx.x * step + 200; i++) { s[i & 1023] = sum; sum += s[(i + 3) & 1023]; }
  x[blockIdx.x * 256 + threadIdx.x] = sum; }"""


@pytest.mark.long
def test_the_limit_tells_of_bank_conflicts_and_of_idle_multiprocessors() -> None:
    kernel = wl.compile(source=BANKS, arch="sm_90")["banks"]

    def limit(blocks: int, step: int) -> str:
        return kernel.launch(blocks, 256, np.zeros(256 * blocks, np.float32), np.int32(step)).predict("h200").limit

    assert limit(8 * 132, 32).endswith("of the wavefronts of shared memory are bank conflicts")
    assert "bank conflicts" not in limit(8 * 132, 1)
    assert limit(32, 32).startswith("32 blocks leave 100 of 132 SMs idle; in the others ")
    assert "leave" not in limit(132, 32)


def test_machine_code_for_another_gpu_is_refused() -> None:
    with pytest.raises(UsageError, match="compile with arch=sm_80"):
        run_of("ccopy").predict("a100")


def test_the_number_of_different_sectors_is_estimated_from_some_blocks(snapshot: Snapshot) -> None:
    total, sampled = 4096, random_blocks(4096, 256)
    assert len(set(sampled)) == 256
    apart = [(16 * b + k, b) for b in sampled for k in range(16)]
    rows = [(64 * (b // 64) + k, b) for b in sampled for k in range(64)]
    same = [(k, b) for b in sampled for k in range(64)]
    for pairs, true in ((apart, 16 * total), (rows, 64 * 64), (same, 64)):
        sectors, blocks = (np.array(column) for column in zip(*pairs, strict=True))
        found = sampled_footprint(sectors, blocks, sampled, total)
        assert snapshot(found.of(total)) == pytest.approx(true, rel=0.15)  # an estimate: 13 % here


def test_what_is_used_again_too_late_is_fetched_anew(snapshot: Snapshot) -> None:
    total = 1024
    hot = [(k, b) for b in range(total) for k in range(4)]  # by every block
    cold = [(100 + 7919 * (4 * b + k) % 1024, b) for b in range(total) for k in range(4)]  # by four blocks, far apart
    for pairs, once, anew in ((hot, 4, 4), (cold, 1024, 4 * 1024)):
        sectors, blocks = (np.array(column) for column in zip(*pairs, strict=True))
        sampled = random_blocks(total, 512)
        some = np.isin(blocks, sampled)
        found = sampled_footprint(sectors[some], blocks[some], sampled, total)
        assert snapshot(found.of(total)) == pytest.approx(once, rel=0.1)
        assert snapshot(found.miss_footprint(8, 8).of(total)) == pytest.approx(anew, rel=0.1)


TABLE = """__constant__ unsigned table[64];
extern "C" __global__ void look(unsigned* y, int words, int n) {
  unsigned at = threadIdx.x % words;
  for (int i = 0; i < n; ++i) at += table[at & 63];
  y[threadIdx.x] = at;
}"""


def test_lanes_that_look_up_different_words_of_a_table_wait_for_each(snapshot: Snapshot) -> None:
    kernel, speeds = wl.compile(source=TABLE)["look"], machine("h200").speeds
    args = (np.int32(words) for words in (1, 9))
    times = [kernel.launch(1, 32, np.zeros(32, np.uint32), one, np.int32(1024)).predict("h200").time_us for one in args]
    cycles = (times[1] - times[0]) * machine("h200").boost_megahertz / 1024
    assert snapshot(cycles) == pytest.approx(8 * speeds.table_replay_cycles, rel=0.05)


def test_a_multiprocessor_has_blocks_of_every_kind() -> None:
    """132 is a multiple of 4: of every 132nd block all would be fourth ones."""
    described = machine("h200")
    grid = 40 * described.multiprocessors
    run = wl.compile(source=ADD)["add"].launch(grid, 256, np.zeros(grid * 256, np.float32))
    found = choose_blocks(run.trace, described, run.occupancy).blocks
    assert len(set(found)) == len(found) == 40
    assert max(found) < grid
    assert 5 <= sum(block % 4 == 0 for block in found) <= 15


WALK = """__constant__ unsigned table[4096];
extern "C" __global__ void walk(unsigned* y, int mask, int n) {
  unsigned at = 0;
  for (int i = 0; i < n; ++i) at = (at + table[at] + 16) & mask;
  y[threadIdx.x] = at;
}"""


def test_a_table_that_its_cache_cannot_hold_misses_line_after_line(snapshot: Snapshot) -> None:
    kernel, speeds = wl.compile(source=WALK)["walk"], machine("h200").speeds

    def cycles(words: int) -> float:
        """Of one step, between 1,024 and 2,048 of them: by then each line has been read."""
        out = [kernel.launch(1, 32, np.zeros(32, np.uint32), np.int32(words - 1), np.int32(n)) for n in (1024, 2048)]
        times = [run.predict("h200").time_us for run in out]
        return (times[1] - times[0]) * machine("h200").boost_megahertz / 1024

    assert snapshot(cycles(4096) - cycles(512)) == pytest.approx(speeds.latency_table, rel=0.05)


LDC = """extern "C" __global__ void weights(unsigned* y, const unsigned* x, int n, unsigned zero, unsigned mask) {
  unsigned sum = 0;
  size_t place;
  asm("cvta.to.const.u64 %0, %1;" : "=l"(place) : "l"(held));
  for (unsigned i = 0; i < n; ++i) {
    unsigned at = (threadIdx.x & zero) + (i * 4 & mask);
    for (int k = 0; k < 16; ++k) {
      unsigned v;
      asm volatile("ld.const.u32 %0, [%1];" : "=r"(v) : "l"(place + at + 4 * k));
      sum ^= v;
    }
  }
  y[threadIdx.x] = sum;
}"""


def test_constant_loads_of_all_warps_go_through_one_unit(snapshot: Snapshot) -> None:
    kernel = wl.compile(source="__constant__ unsigned held[64];\n" + LDC)["weights"]
    assert sum(i.base == "LDC" for i in kernel.program.instructions) >= 16
    many = np.zeros(1024, np.uint32)
    runs = [kernel.launch(1, 1024, many, many, np.int32(n), np.uint32(0), np.uint32(127)) for n in (16, 48)]
    times = [run.predict("h200").time_us for run in runs]
    cycles = (times[1] - times[0]) * machine("h200").boost_megahertz / (32 * 16 * 32)
    assert snapshot(cycles) == pytest.approx(machine("h200").speeds.table_word_cycles, rel=0.15)


ADD = """extern "C" __global__ void add(float* y) { y[blockIdx.x * blockDim.x + threadIdx.x] += 1; }"""


BUSY = """extern "C" __global__ void busy(float* y, int n) {
  float a = threadIdx.x, b = 1, c = 2;
  for (int i = 0; i < n; ++i) { a = a * b + 1.5f; b = b * c + 1.5f; }
  y[blockIdx.x * blockDim.x + threadIdx.x] = a + b;
}"""


def test_of_two_blocks_that_share_a_multiprocessor_the_first_ends_at_half_the_time(snapshot: Snapshot) -> None:
    kernel, multiprocessors = wl.compile(source=BUSY)["busy"], machine("h200").multiprocessors

    def active(blocks: float) -> float:
        grid = int(blocks * multiprocessors)
        run = kernel.launch(grid, 1024, np.zeros(grid * 1024, np.float32), 512)
        return run.predict("h200").metrics["sm__warps_active.avg.pct_of_peak_sustained_active"].value

    assert snapshot(active(1)) == pytest.approx(50, abs=3)  # an H200: 48.8
    assert snapshot(active(1.5)) == pytest.approx(66, abs=3)  # 65.5, half of the multiprocessors with one block
    assert snapshot(active(2)) == pytest.approx(75, abs=3)  # 74.0


def on(run: wl.Run, described: Machine, recorded: Callable[[tuple[int, ...]], WarpStreams]) -> Prediction:
    assert run.again
    buffers = [(a.address, a.address + a.size) for a in run.again.memory.allocations]
    return predict(run.kernel.program, run.trace, described, run.occupancy, buffers, recorded)


def test_of_blocks_that_reach_more_than_can_be_recorded_some_are_looked_at() -> None:
    run = run_of("ccopy", 1 << 16)
    far = replace(run.trace, sectors=run.trace.sectors * (50_000_000 // int(run.trace.sectors.sum())))
    few, every = (choose_blocks(trace, machine("h200"), run.occupancy).sample for trace in (far, run.trace))
    assert len(few) < len(every) == run.launch.blocks


def test_a_slower_machine_takes_longer() -> None:
    run, fast = run_of("ccopy", 1 << 18), machine("h200")
    recorded = partial(run._record, run.launch.blocks)
    times = [on(run, m, recorded).time_us for m in (fast, replace(fast, dram_gigabytes_per_second=480))]
    assert times[1] > times[0]


def test_what_could_not_be_recorded_is_not_predicted() -> None:
    run = run_of("ccopy", 1 << 18)

    def cut(blocks: tuple[int, ...]) -> WarpStreams:
        whole = run._run_again(blocks, RECORD)
        half = replace(whole, words=whole.words[: whole.words.size // 2], whole=False)
        return order_by_warp(half, run.launch.warps_per_block)

    with pytest.raises(Unpredictable, match="more than can be recorded"):
        on(run, machine("h200"), cut)


@pytest.mark.every(2)
@pytest.mark.parametrize("what_if", [(), ("double_bandwidth",)])
def test_no_unit_does_more_than_it_can(what_if: tuple[str, ...]) -> None:
    """All multiprocessors read the same 2 MiB again and again, from L2; and a stream, from DRAM."""
    source = """extern "C" __global__ void again(const float4* x, float* y) {
      float s = 0;
      for (int r = 0; r < 2; ++r)
        for (int i = threadIdx.x; i < 131072; i += 1024) { float4 v = x[i]; s += v.x + v.y + v.z + v.w; }
      y[threadIdx.x] = s;
    }"""
    again = wl.compile(source=source)["again"]
    hot = again.launch(132, 1024, np.zeros(1 << 19, np.float32), np.zeros(1024, np.float32))
    for run in (hot, run_of("nccopy", 1 << 20)):
        assert all(unit.percent < 101 for unit in run.predict("h200", what_if).units)


def test_a_chain_of_more_blocks_than_are_looked_at_takes_its_links(snapshot: Snapshot) -> None:
    source = """extern "C" __global__ void wait(volatile int* flag) {
      if (blockIdx.x) while (!flag[blockIdx.x - 1]);
      flag[blockIdx.x] = 1;
    }"""
    run = wl.compile(source=source)["wait"].launch(3000, 32, np.zeros(3000, np.int32))
    links = 3000 * machine("h200").speeds.hand_over_cycles / machine("h200").boost_megahertz
    assert snapshot(run.predict("h200").time_us) == pytest.approx(links, rel=0.02)
