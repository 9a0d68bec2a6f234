"""A recording executes only what decides addresses and branches, and holds the same words as one of everything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.kernel_launches import source
from warplens.core.cubin import Kernel
from warplens.core.launch import Launch
from warplens.core.program import Program
from warplens.emulator import DeviceMemory, LaunchRequest, pass_arguments, record
from warplens.emulator.analysis.liveness import GUARDS
from warplens.emulator.analysis.slicing import (
    CONSTANT_LOADS,
    COPIES,
    ProgramSlice,
    SliceDependences,
    places,
    program_slice,
    spaces_of,
)
from warplens.emulator.state.check_set import NOTHING_MOVES, RECORD, STILL
from warplens.emulator.trace import warp_trace

SOURCE = """
extern "C" __global__ void sums(const float* x, float* y) {  // results decide nothing
  __shared__ float s[128];
  int t = threadIdx.x;
  float a = 0.0f;
  for (int i = 0; i < 3 + t % 5; ++i) a = fmaf(x[t * 3 + i], a, 1.0f);
  s[t] = __sinf(a);
  __syncthreads();
  y[blockIdx.x * 128 + t] = s[127 - t] + __shfl_xor_sync(~0u, a, 1);
}
extern "C" __global__ void looked_up(const int* x, int* y) {  // addresses come from shared memory, from global
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[t] & 127;
  __syncthreads();
  y[s[127 - t] * 2] = t;
  if (s[t] > 50) y[1 + 2 * t] = s[t];
}
extern "C" __global__ void written(int* x, float* y) {  // addresses come from what the kernel itself has stored
  int t = threadIdx.x;
  x[t] = (t * 37) & 127;
  __syncthreads();
  float r = rsqrtf((float)t);
  y[x[127 - t]] = r;
}
extern "C" __global__ void guarded(const float4* x, float4* y, int n) {  // lanes with a guard of their own
  int t = threadIdx.x;
  float4 a = make_float4(0, 0, 0, 0);
  if (t < n) a = x[t];
  int at = t;
  if (t > n / 2) at = t * 2;
  y[at] = a;
}
extern "C" __global__ void queued(int* x, int* y) {  // a place in a queue
  int t = threadIdx.x, at = atomicAdd(x, 1);
  y[at * 3] = t;
}
extern "C" __global__ void counted(int* x, int* y) {  // atomics that tell nobody
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) s[t] = 0;
  __syncthreads();
  atomicAdd(&s[t * 7 & 31], t);
  __syncthreads();
  atomicAdd(&y[t & 7], s[t & 31]);
}
"""
MOVED = {
    "sums": set(), "looked_up": {"still global", "still shared"}, "written": {"still global"}, "guarded": set(),
    "queued": {"still global"}, "counted": set(),
}  # fmt: skip


def words(name: str, arch: str) -> np.ndarray:
    kernel = wl.compile(source=SOURCE, arch=arch)[name]
    numbers = np.random.default_rng(3).integers(0, 1000, 4096).astype(np.int32)
    args: list[object] = [numbers, np.zeros(4096, np.int32)]
    args += [np.int32(77)] if name == "guarded" else []
    memory = DeviceMemory()
    passed = pass_arguments(kernel.kernel, name, args, (), memory)
    launch = Launch((2, 1, 1), (128, 1, 1), 0)
    request = LaunchRequest(kernel.kernel, kernel.program, launch, passed.block, memory, kernel._link(memory)[0])
    return record(request, (0, 1)).words


def everything(kernel: Kernel, program: Program) -> ProgramSlice:
    return ProgramSlice(program, RECORD)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", sorted(MOVED))
def test_the_words_are_those_of_a_recording_of_everything(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slim = words(name, "sm_90")
    monkeypatch.setattr(warp_trace, "program_slice", everything)
    assert np.array_equal(slim, words(name, "sm_90"))


@pytest.mark.parametrize("name", sorted(MOVED))
def test_only_memory_from_which_addresses_come_is_moved(name: str, arch: str) -> None:
    kernel = wl.compile(source=SOURCE, arch=arch)[name]
    assert NOTHING_MOVES - program_slice(kernel.kernel, kernel.program).checks == MOVED[name]


def test_arithmetic_of_results_is_left_out() -> None:
    kernel = wl.compile(source=SOURCE)["sums"]
    left = {i.base for i in program_slice(kernel.kernel, kernel.program).program.instructions}
    assert not left & {"FFMA", "MUFU", "FADD", "SHFL"}


def test_what_calls_the_driver_is_executed_whole() -> None:
    source = '#include <cstdio>\nextern "C" __global__ void say(float* x) { printf("%f", sqrtf(x[threadIdx.x])); }'
    kernel = wl.compile(source=source)["say"]
    assert program_slice(kernel.kernel, kernel.program) == ProgramSlice(kernel.program, RECORD)


def test_what_is_left_out_is_kept_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of 2,000 instructions it takes a second to find."""
    monkeypatch.setenv("WARPLENS_CACHE", str(tmp_path))
    kernel = wl.compile(source=SOURCE)["sums"]
    monkeypatch.setattr("warplens.emulator.analysis.slicing._known", {})
    found = program_slice(kernel.kernel, kernel.program)
    monkeypatch.setattr("warplens.emulator.analysis.slicing._known", {})
    monkeypatch.setattr("warplens.emulator.analysis.slicing.SliceDependences", None)
    assert program_slice(kernel.kernel, kernel.program) == found
    assert found.program != kernel.program


class BySets(SliceDependences):
    """The same said with sets, from the blocks' ends again and again until nothing changes."""

    def of(self, still):
        needed, moved = set(), set()
        live = {first: set() for first in self.blocks}
        changes = True
        while changes:
            changes = False
            for first, block in self.blocks.items():
                wanted = set().union(*(live[target] for target in self.successors[first]))
                for at in reversed(self.program.instructions[first : block.last + 1]):
                    self.over(at, still, wanted, needed, moved)
                changes |= wanted != live[first]
                live[first] = wanted
        return needed, moved

    def over(self, at, still, wanted, needed, moved):
        events = self.events.get(at.index, [])
        written = [event for event in events if event.writes]
        used = any(name == event.name for name, _ in wanted for event in written)
        if at.index in self.pure and not used:
            return
        needed.add(at.index)
        spaces = spaces_of(at)
        asked = used or (not written and self._has_result_registers(at.index))
        if asked or (at.base in COPIES and "shared" not in still):
            moved |= spaces
        changed = {event.name for event in written if event.name[0] in GUARDS}
        for name, guard in [want for want in wanted if want[1] is not None]:
            if (guard.file, guard.index) in changed:
                wanted -= {(name, guard)}
                wanted |= {(name, None)}
        if at.index in self.pure or at.base in CONSTANT_LOADS or spaces:
            over = {(event.name, event.guard) for event in written if event.name[0] in ("R", "P")}
            wanted -= {want for want in wanted if (want[0], None) in over or want in over}
        moves = asked or not spaces or not spaces <= still
        wanted |= {(e.name, e.guard) for e in events if not e.writes and (moves or places(at, e.name))}


@pytest.mark.every(5)
@pytest.mark.parametrize("file", ["lessons", "k18_divergence", "k16_shuffle_vote", "guest_rows", "copies"])
def test_bits_say_what_sets_say(file):
    module = wl.compile(source(f"{file}.cu"))
    for name in module:
        program = module[name].program
        for still in (frozenset(STILL), frozenset({"local"}), frozenset()):
            assert SliceDependences(program).of(still) == BySets(program).of(still)


def test_a_tensor_map_that_the_kernel_writes_is_stored() -> None:
    """A later copy reads what is behind the fence, though no register has it."""
    kernel = wl.compile(arch="sm_90", source="""
        extern "C" __global__ void maps(const unsigned* from, unsigned* map) {
          __shared__ unsigned s[32];
          s[threadIdx.x] = from[threadIdx.x];
          __syncthreads();
          map[threadIdx.x] = s[31 - threadIdx.x];
          asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(map) : "memory");
        }""")["maps"]  # fmt: skip
    assert any(i.opcode.startswith("UTMACCTL.IV") for i in kernel.program.instructions)
    checks = program_slice(kernel.kernel, kernel.program).checks
    assert not checks & {STILL["global"], STILL["shared"]}
