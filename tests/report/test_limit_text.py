"""The sentence on the limit says what the tables of the same prediction say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args

import numpy as np
import pytest

import warplens as wl
from validation.lists import LISTS, Case
from warplens.counters.opcodes import access
from warplens.machine import machines
from warplens.model.layout import REASONS
from warplens.model.result.bottleneck import BankConflicts, Bottleneck, Cause, MemoryLatency, VariableLatency
from warplens.model.result.prediction import Simulated
from warplens.report.limit_text import REPEATED, WAITS, cause_text, limit_text, simulated_text
from warplens.run import Run

NAMES = [name for name, one in LISTS.items() if one.predicted and name not in ("first", "long")]
TOGETHER = 4  # kernels, which are compiled for the architecture once
SOURCE = """
__global__ void adds(unsigned* sums, int n) {
    for (int i = 0; i < n; i++) atomicAdd(sums + (threadIdx.x & 7), i);
}

__global__ void tickets(unsigned* next, unsigned* out) {
    unsigned sum = 0;
    for (int i = 0; i < 16; i++) sum += atomicAdd(next + (sum & 1), 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void fill(float4* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(1, 2, 3, 4); }
"""
STORES, ATOMICS, LOADS = frozenset({"store"}), frozenset({"atomic", "reduction"}), frozenset({"load"})
MEMORY = ("global", "local", "generic")


def does(run: Run, actions: frozenset[str], spaces: tuple[str, ...] = MEMORY) -> bool:
    """Whether the launch has accesses of these kinds."""
    accesses = ((access(i), run.subject.trace.requests[i.index]) for i in run.subject.program.instructions)
    return any(found and found.action in actions and found.space in spaces and count for found, count in accesses)


def executes(run: Run, *bases: str) -> bool:
    return any(i.base in bases and run.subject.trace.executed[i.index] for i in run.subject.program.instructions)


def agree(run: Run, found: wl.Prediction) -> None:
    """What the sentence names has been executed, and is what the tables put first."""
    says = found.limit.rpartition("in the others ")[2]
    top = found.units[0]
    if says.startswith("launch overhead") or "waits for what one before it says" in says:
        return
    if says.startswith("block launch rate"):
        assert top.name == "block starts"
    elif says.startswith(f"{top.name}:"):
        assert top.percent >= 80
    else:
        assert top.percent < 80
        waits = {name: value for name, value in found.stalls.items() if name not in ("selected", "not_selected")}
        worst = max(waits, key=lambda name: waits[name])
        share = re.search(r"\(([\d.]+) % of the warps' time\)", says)
        if share:
            assert float(share[1]) == pytest.approx(100 * waits[worst] / sum(found.stalls.values()), abs=0.51)
        else:
            assert worst == "long_scoreboard"
    named = {
        "atomic": does(run, ATOMICS, (*MEMORY, "shared")),
        "stores": does(run, STORES),
        "loads": does(run, LOADS | {"copy"}),
        "-byte load": does(run, LOADS),
        "shared memory": bool(run.subject.trace.wavefronts.any()),
        "shuffles": executes(run, "SHFL", "VOTE", "VOTEU", "MATCH", "REDUX", "CREDUX", "R2UR", "ELECT"),
        "special functions": executes(run, "MUFU"),
        "fences": executes(run, "MEMBAR", "FENCE", "ERRBAR", "CCTL"),
        "barriers": executes(run, "BAR", "UCGABAR_WAIT", "WARPSYNC"),
        "latency of DRAM": found.metrics["dram__bytes_read.sum"].value > 0,
    }
    wrong = [word for word, there in named.items() if word in says and not there]
    assert not wrong, (found.limit, found.stalls)


def cases() -> Iterator[object]:
    """The smallest sizes of the validation lists' kernels, four of a file at a time, on one GPU after the other."""
    first = [case for name in NAMES for case in LISTS[name].first_cases().values()]
    groups = [
        of_file[n : n + TOGETHER]
        for file in dict.fromkeys(case.file for case in first)
        for of_file in [[case for case in first if case.file == file]]
        for n in range(0, len(of_file), TOGETHER)
    ]
    gpus = machines()
    for n, group in enumerate(groups):
        gpu = gpus[n % len(gpus)]
        yield pytest.param(group, gpu, id=f"{group[0].flags.kernel}-{gpu}")


@pytest.mark.long
@pytest.mark.parametrize(("group", "gpu"), list(cases()))
def test_the_limit_follows_from_the_tables(group: list[Case], gpu: str) -> None:
    for case in group:
        try:
            run = case.target(gpu).run()
            found = run.predict(gpu)
        except (wl.CompileError, wl.UsageError, wl.Unpredictable):  # the kernel needs another GPU: no sentence
            continue
        agree(run, found)
        assert found.units[0].percent < 100.05, case.name
        assert found.time_us >= run.floor(gpu).microseconds, case.name


def test_every_cause_and_every_stall_reason_has_a_text() -> None:
    assert all(cause_text.dispatch(cause) is not cause_text.dispatch(object) for cause in get_args(Cause))
    queues = {"long_scoreboard", "short_scoreboard", "lg_throttle", "mio_throttle", "drain"}
    assert set(WAITS) | queues == set(REASONS) - {"selected", "not_selected"}


def test_the_sentence_has_the_figures() -> None:
    latency = Bottleneck(MemoryLatency("DRAM", 2, 8), 1, 131, 132)
    assert limit_text(latency) == (
        "1 block leaves 131 of 132 SMs idle; in the others each thread has 2 loads of 8 bytes together in flight: "
        "the latency of DRAM, not its bandwidth"
    )
    waits = VariableLatency(("shared memory", "shuffles"), 41.6, BankConflicts(31.0, 32.0))
    assert limit_text(Bottleneck(waits, 132, 0, 132)) == (
        "the latency of shared memory and shuffles (42 % of the warps' time); "
        "97 % of the wavefronts of shared memory are bank conflicts"
    )


@pytest.mark.every(3)
@pytest.mark.parametrize("gpu", ["h200", "l4", "rtx5090"])
def test_what_a_kernel_does_not_do_is_no_limit(gpu: str) -> None:
    """Atomics were told as the latency of DRAM, as stores on their way and as the queue for shared memory."""
    arch = {"h200": "sm_90", "l4": "sm_89", "rtx5090": "sm_120"}[gpu]
    module = wl.compile(source=SOURCE, arch=arch)
    words = np.zeros(1 << 16, np.uint32)
    launches = {
        "adds": ((264,), (256,), words.copy(), np.int32(20)),
        "tickets": ((64,), (64,), words.copy(), words.copy()),
        "fill": ((16384,), (256,), np.zeros(1 << 24, np.float32)),
    }
    for name, (grid, block, *args) in launches.items():
        run = module[name].launch(grid, block, *args)
        found = run.predict(gpu)
        agree(run, found)
        assert "shared memory" not in found.limit, (name, found.limit)
        assert "atomic" in found.limit or name == "fill", (name, found.limit)


def test_the_simulated_part_is_said_to_repeat_only_if_it_does() -> None:
    assert simulated_text(Simulated(8, 8, 100, 8, REPEATED)) == "all blocks of one SM; the others have the same work"
    assert simulated_text(Simulated(3, 3, 100, 1, 0.8)) == "all blocks of the SM that ends last"
    assert simulated_text(Simulated(8, 8, 100, 8, 2.0)).startswith("the first 50 % of what one SM executes")
    assert simulated_text(Simulated(9, 20, 100, 8)).startswith("9 of the 20 blocks of one SM, 2 waves of 8")
