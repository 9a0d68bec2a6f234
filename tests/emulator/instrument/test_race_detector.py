"""Planted faults are found, and what is clean is not complained about."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from planted_faults import ALARMS, ALSO_RACES, CHECK_OF, FAULTS, NOT_FOUND, SOURCE, Planted, planted

import warplens as wl
from helpers.source_files import source_file
from warplens.cli.main import main
from warplens.errors import KernelFault, UsageError
from warplens.report.json.document import schema

pytestmark = pytest.mark.usefixtures("every_thread_works")

TIERS = ()  # whatever runs them in production
ALWAYS = {
    "shared_read_behind_the_end", "constant_behind_the_end", "local_far_behind_the_end", "global_half_behind_the_end",
    "read_after_write", "write_after_write_in_a_warp", "warp_without_syncwarp", "atomic_and_plain_read",
    "barrier_of_other_number", "one_byte", "shared_half_written", "local_never_written", "part_of_a_warp",
    "two_places", "syncwarp_of_others", "waits_for_nobody", "clean_syncwarp_halves", "clean_named_barriers",
    "clean_double_buffer", "clean_bytes_side_by_side", "clean_lock", "shared_into_the_neighbour",
}  # fmt: skip


def chosen() -> list[object]:
    return [pytest.param(p, id=p.name, marks=() if p.name in ALWAYS else pytest.mark.long) for p in planted()]


@cache
def module() -> wl.Module:
    return wl.compile(SOURCE)


def launched(p: Planted, *check: str, threads: int = 1) -> wl.Run:
    numbers, out = np.arange(p.n, dtype=np.int32), np.zeros(p.n, np.int32)
    return module()[p.name].launch(
        p.grid, p.block, numbers, out, np.int32(p.n), shared=p.shared, check=check, threads=threads
    )


@pytest.mark.every(9)
@pytest.mark.parametrize("p", chosen())
def test_planted(p: Planted) -> None:
    if p.name not in NOT_FOUND and (p.truth == "memory" or p.name in FAULTS):
        with pytest.raises(KernelFault):
            launched(p)
        return
    run = launched(p, "all")
    found = {hazard.check for hazard in run.hazards if hazard.severity != "note"}
    if p.name in NOT_FOUND:
        assert not found
    elif p.truth == "clean":
        assert found == ({"races"} if p.name in ALARMS else set()), run.hazards
    else:
        assert CHECK_OF[p.truth] in found
        if p.name in ALSO_RACES:
            found -= {"races"}
        assert found <= {CHECK_OF[p.truth], "init"}  # where threads race, some read before others have written


def by_name(name: str) -> Planted:
    return next(p for p in planted() if p.name == name)


def line_of(part: str) -> int:
    lines = SOURCE.read_text("utf-8").splitlines()
    (found,) = (number for number, line in enumerate(lines, 1) if part in line)
    return found


def test_a_race_names_both_lines_and_threads() -> None:
    run = launched(by_name("write_after_read"), "races")
    (hazard,) = run.hazards
    read, write = sorted(hazard.parties, key=lambda party: party.act)
    assert (read.act, write.act) == ("read", "write")
    assert write.at.source is not None
    assert read.at.source is not None
    lines = SOURCE.read_text("utf-8").splitlines()
    assert lines[read.at.source.line - 1].strip() == "int x = s[63 - T];"
    assert lines[write.at.source.line - 1].strip() == "s[T] = x + 1;"
    assert read.thread[0] + write.thread[0] == 63
    assert hazard.times == 64  # every thread's store meets another one's load


NEIGHBOURS = """
extern "C" __global__ void neighbours(int *out) {
  __shared__ int s[65];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[threadIdx.x + 1];
}
"""


@pytest.mark.parametrize(("threads", "severity"), [(32, "warning"), (64, "error")])
def test_the_worst_occurrence_gives_severity_advice_and_threads(threads: int, severity: str) -> None:
    kernel = wl.compile(source=NEIGHBOURS)["neighbours"]
    (hazard,) = kernel.launch(1, threads, np.zeros(64, np.int32), check="races").hazards
    assert hazard.severity == severity
    assert hazard.times == threads - 1
    warps = {party.thread[0] // 32 for party in hazard.parties}
    if severity == "error":
        assert "no barrier between" in hazard.message
        assert warps == {0, 1}
    else:
        assert "__syncwarp()" in hazard.message
        assert warps == {0}


def test_checks_are_off_unless_asked_for() -> None:
    assert launched(by_name("read_after_write")).hazards == ()
    assert {h.check for h in launched(by_name("read_after_write"), "init").hazards} == {"init"}


@pytest.mark.parametrize("name", ["read_after_write", "clean_reduction", "clean_named_barriers", "in_the_last_block"])
def test_counts_and_results_are_the_same_with_checks(name: str) -> None:
    p = by_name(name)
    plain, checked = launched(p), launched(p, "all")
    for field in ("executed", "threads", "threads_on", "divergent", "requests", "sectors", "wavefronts", "bytes"):
        np.testing.assert_array_equal(getattr(plain.trace, field), getattr(checked.trace, field))
    assert dict(plain.metrics) == dict(checked.metrics)


BLOCKS = """
extern "C" __global__ void blocks(const int *in, int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  if (blockIdx.x % 3 != 2) __syncthreads();
  out[64 * blockIdx.x + threadIdx.x] = s[63 - threadIdx.x];
}
"""


def test_findings_do_not_depend_on_the_number_of_threads() -> None:
    kernel = wl.compile(source=BLOCKS)["blocks"]
    numbers, out = np.arange(64, dtype=np.int32), np.zeros(64 * 60, np.int32)
    one, three = (kernel.launch(60, 64, numbers, out, check="races", threads=n).hazards for n in (1, 3))
    assert one == three
    (hazard,) = one
    assert hazard.block == (2, 0, 0)
    assert hazard.times == 20 * 64


def test_a_hang_tells_where_each_warp_waits() -> None:
    with pytest.raises(KernelFault) as caught:
        launched(by_name("waits_for_nobody"))
    line = line_of("KERNEL(waits_for_nobody)")
    assert f"warp 0, all lanes: at barrier 1, where 32 of 64 threads are, {SOURCE}:{line}" in str(caught.value)


def test_an_unknown_check() -> None:
    with pytest.raises(UsageError, match="no check 'race'; there are races, init, barriers and all"):
        launched(by_name("clean_syncwarp"), "race")


ATOMIC_LOOPS = """
extern "C" __global__ void floats(const int *in, int *out) {
  __shared__ float s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, (float)in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = s;
}
extern "C" __global__ void own_loop(const int *in, int *out) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  int old = s, was;
  do { was = old; old = atomicCAS(&s, was, was * 3 + in[threadIdx.x]); } while (old != was);
  __syncthreads();
  out[threadIdx.x] = s;
}
extern "C" __global__ void reads_sum(const int *in, int *out) {
  __shared__ float s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, (float)in[threadIdx.x]);
  out[threadIdx.x] = s;
}
extern "C" __global__ void writes_sum(const int *in, int *out) {
  __shared__ float s;
  if (threadIdx.x == 40) s = 0;
  atomicAdd(&s, (float)in[threadIdx.x]);
  __syncthreads();
  out[threadIdx.x] = s;
}
"""


@pytest.mark.parametrize(
    ("name", "severity"), [("floats", None), ("own_loop", "note"), ("reads_sum", "warning"), ("writes_sum", "error")]
)
def test_a_read_beside_an_atomic_in_shared_memory_is_no_error(name: str, severity: str | None) -> None:
    numbers, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    found = wl.compile(source=ATOMIC_LOOPS)[name].launch(1, 64, numbers, out, check="races").hazards
    worst = next((word for word in ("error", "warning", "note") if word in {h.severity for h in found}), None)
    assert worst == severity, found


UNROLLED = """
extern "C" __global__ void unrolled(int *out) {
  __shared__ int s[8][64];
#pragma unroll
  for (int k = 0; k < 8; k++) s[k][threadIdx.x] = threadIdx.x;
  int sum = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) sum += s[k][63 - threadIdx.x];
  out[threadIdx.x] = sum;
}
"""


def test_unrolled_copies_of_two_lines_are_one_finding() -> None:
    kernel = wl.compile(source=UNROLLED)["unrolled"]
    (hazard,) = kernel.launch(1, 64, np.zeros(64, np.int32), check="races").hazards
    assert {party.act for party in hazard.parties} == {"read", "write"}
    assert hazard.times == 8 * 64


def test_a_full_table_of_findings_is_said() -> None:
    stores = "\n".join(f"s[{k}] = {k};" for k in range(600))
    loads = "\n".join(f"sum += s[{k}];" for k in range(600))
    code = f"__shared__ volatile int s[600]; int sum = 0;\nif (threadIdx.x == 0) {{ {stores} }} else {{ {loads} }}"
    source = f'extern "C" __global__ void many(int *out) {{ {code} out[threadIdx.x] = sum; }}'
    kernel = wl.compile(source=source)["many"]
    *told, last = kernel.launch(1, 64, np.zeros(64, np.int32), check="races").hazards
    assert len(told) == 512
    assert last.severity == "warning"
    assert f"512 pairs of instructions is full: {last.times:,} occurrences at others are not listed" in last.message
    assert sum(hazard.times for hazard in told) + last.times == 63 * 600


COPIES = """
extern "C" __global__ void copies(const int *in, int *out, int wait) {
  __shared__ int s[64];
  unsigned to = __cvta_generic_to_shared(s + threadIdx.x);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (wait) __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
"""


@pytest.mark.parametrize("wait", [0, 1])
def test_an_asynchronous_copy_is_a_store(wait: int) -> None:
    numbers, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    run = wl.compile(source=COPIES)["copies"].launch(1, 64, numbers, out, np.int32(wait), check="all")
    if wait:
        assert run.hazards == ()
        return
    race = next(hazard for hazard in run.hazards if hazard.check == "races")
    assert {party.act for party in race.parties} == {"read", "write"}
    assert {party.at.base for party in race.parties} == {"LDGSTS", "LDS"}


FILE = """// /// warplens
// [racy]
// grid = 1
// block = 64
// args = ["zeros i32[64]"]
// ///
extern "C" __global__ void racy(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = out[threadIdx.x];
  out[threadIdx.x] = s[63 - threadIdx.x];
}
"""


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from jsonschema import validate

    path = tmp_path / "racy.cu"
    path.write_text(FILE)
    assert main(["explain", str(path)]) == 0
    capsys.readouterr()
    assert main(["explain", str(path), "--check", "races"]) == 1
    told = capsys.readouterr().out
    assert "memory, races: 1 error" in told
    assert re.search("^error: ", told, re.MULTILINE)
    assert "racy.cu:9" in told
    assert "racy.cu:10" in told
    assert "s[threadIdx.x] = out[threadIdx.x];" in told
    assert main(["explain", str(path), "--check", "races,init", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    validate(document, schema())
    assert document["checks"] == ["memory", "races", "init"]
    assert [(h["check"], h["severity"], h["times"]) for h in document["hazards"]] == [
        ("races", "error", 64), ("init", "warning", 32)
    ]  # fmt: skip
    assert {party["source"]["line"] for party in document["hazards"][0]["parties"]} == {9, 10}
    page = tmp_path / "page.html"
    assert main(["explain", str(path), "--check", "all", "--html", str(page)]) == 1
    assert "with no barrier between" in page.read_text()
    assert main(["explain", str(path), "--check", "rases"]) == 2
    assert "no check 'rases'" in capsys.readouterr().err


LABELS = """
extern "C" __global__ void racy(int* x) { __shared__ int s[65]; s[threadIdx.x] = 1; x[0] = s[threadIdx.x + 1]; }
extern "C" __global__ void ticket(int* x) { x[1 + (atomicAdd(x, 1) & 63)] = 1; }
"""


@pytest.mark.parametrize(
    ("kernel", "sample", "label"),
    [("racy", (), "exact"), ("racy", ("--sample", "8"), "sampled"), ("ticket", (), "modelled")],
)
def test_what_was_found_is_labelled_as_the_counts_are(
    kernel: str, sample: tuple[str, ...], label: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A sample has not seen all blocks, and where addresses depend on the order of warps, what they meet does too."""
    path, page = source_file(LABELS), tmp_path / "page.html"
    how = ["--grid", "64", "--block", "64", "--arg", "zeros:i32[65]", "--gpu", "none", "--check", "races"]
    main(["explain", str(path), "-k", kernel, *how, *sample, "--html", str(page)])
    assert f'Findings <span class="badge {label}"' in page.read_text()
    main(["explain", str(path), "-k", kernel, *how, *sample])
    assert f"Checks  {label}" in capsys.readouterr().out


SHARED_INPUT = """
extern "C" __global__ void copy_while_another_block_writes(int *in, int *out) {
  __shared__ int s[32];
  if (blockIdx.x == 1) { in[threadIdx.x] = 1; return; }
  unsigned to = __cvta_generic_to_shared(s + threadIdx.x);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(to), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[threadIdx.x] = s[threadIdx.x];
}
"""


def test_an_asynchronous_copy_reads_global_memory() -> None:
    kernel = wl.compile(source=SHARED_INPUT)["copy_while_another_block_writes"]
    found = kernel.launch(2, 32, np.zeros(32, np.int32), np.zeros(32, np.int32), check="races").hazards
    race = next(hazard for hazard in found if "of blocks" in hazard.message)
    assert {party.at.base for party in race.parties} == {"LDGSTS", "STG"}
