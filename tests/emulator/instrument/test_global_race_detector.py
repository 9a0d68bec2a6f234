"""--check races follows order between blocks and of asynchronous copies: kernels of ordered.cu."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from warplens.cli.main import main
from warplens.core.hazard import Hazard

TIERS = ()  # whatever runs them in production
SOURCE = Path(__file__).with_name("ordered.cu")
HEAD = re.compile(r"// (\w+); (\d+) x (\d+)(; cooperative)?\nKERNEL\((\w+)\)")
KERNELS = HEAD.findall(SOURCE.read_text("utf-8"))
ALWAYS = {
    "sum_without_atomics", "last_block_without_fence", "last_block", "lock", "copy_without_wait", "same_value",
    "atomic_of_a_half",
}  # fmt: skip


@cache
def module(arch: str) -> wl.Module:
    return wl.compile(SOURCE, arch=arch)


def hazards(name: str, arch: str = "sm_90") -> tuple[Hazard, ...]:
    _, grid, block, cooperative, _ = next(kernel for kernel in KERNELS if kernel[-1] == name)
    buffers = [np.arange(4096, dtype=np.int32), *(np.zeros(4096, np.int32) for _ in range(2))]
    kernel = module(arch)[name]
    return kernel.launch(int(grid), int(block), *buffers, check="races", cooperative=bool(cooperative)).hazards


def severity(found: tuple[Hazard, ...]) -> str:
    return next((word for word in ("error", "warning", "note") if word in {h.severity for h in found}), "clean")


@pytest.mark.every(3)
@pytest.mark.parametrize("arch", ["sm_90", pytest.param("sm_80", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("truth", "name"),
    [pytest.param(k[0], k[-1], marks=() if k[-1] in ALWAYS else pytest.mark.long) for k in KERNELS],
)
def test_what_is_ordered_is_silent_and_what_is_not_is_found(truth: str, name: str, arch: str) -> None:
    found = hazards(name, arch)
    assert severity(found) == truth, found


def test_a_race_of_blocks_names_buffer_and_blocks() -> None:
    found = hazards("neighbour_of_other_block")
    (race,) = (hazard for hazard in found if "of blocks" in hazard.message)
    assert race.severity == "error"
    assert re.search(r"byte 0x\w+ of argument 2 by threads of blocks \(\d,0,0\) and \(\d,0,0\)", race.message)
    assert {party.act for party in race.parties} == {"read", "write"}


def test_between_blocks_is_worse_than_within_one() -> None:
    found = hazards("sum_without_atomics")
    assert found
    assert all("of blocks" in hazard.message for hazard in found)


def test_nothing_found_says_what_was_looked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "own.cu"
    block = '// /// warplens\n// [own]\n// grid = 2\n// block = 32\n// args = ["zeros i32[64]"]\n// ///\n'
    path.write_text(f'{block}extern "C" __global__ void own(int *x) {{ x[blockIdx.x * 32 + threadIdx.x]++; }}\n')
    assert main(["explain", str(path), "--check", "races"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "memory, races: nothing found. Looked for: out-of-bounds or misaligned accesses; races in shared and" in told
    assert "Not checked: init, barriers." in told
    assert "code that this launch did not execute" in told


def test_a_pending_copy_names_both_lines() -> None:
    (found,) = hazards("copy_without_wait")
    assert "an asynchronous copy is under way" in found.message
    assert [party.at.base for party in found.parties] == ["LDGSTS", "LDS"]
    assert found.times == 64
