"""A fixed set of random programs on every architecture, and the tools that make and cut them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from random_programs import words
from random_programs.compare import ARCHITECTURES, compiled, difference, differences
from random_programs.generate import generate
from random_programs.memory import fresh_buffers
from random_programs.shrink import shrink
from random_programs.tree import Apply, Const, Emit, Program, Switch, Var

A_FEW = 3  # programs an architecture in every test run; a long run is `python -m random_programs`


def unequal(seeds: range, arch: str) -> dict[int, str]:
    return {seed: what for seed, what in differences(seeds, arch) if what}


@pytest.mark.every(3)
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_same_as_interpreted(arch: str) -> None:
    first = 1000 * ARCHITECTURES.index(arch)
    assert unequal(range(first, first + A_FEW), arch) == {}


@pytest.mark.long
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("part", range(40))
def test_more_of_them(arch: str, part: int) -> None:
    first = 1000 * ARCHITECTURES.index(arch) + A_FEW + 2 * part
    assert unequal(range(first, first + 2), arch) == {}


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("seed", "arch"),
    [
        (22827, "sm_89"),  # DEPBAR.LE SB1,0x0,{2}
        (23286, "sm_80"),  # lanes passed one BSSY at different times, and a WARPSYNC made them one split: a hang
        (62723, "sm_75"),  # a YIELD in a loop: a register held by lanes at a WARPSYNC was written by others
        (38926, "sm_75"),  # ISETP.GE.AND.EX against a constant whose low word is 0 names no predicate of the low words
        (35251, "sm_120"),  # UIMNMX.S64
        (91518, "sm_100"),  # lanes wait at a BSYNC for others that wait for them at a WARPSYNC.ALL
        (38885, "sm_120"),  # ... at a WARPSYNC.COLLECTIVE
        (97112, "sm_120"),  # ... at another BSYNC, having left a region behind its BREAK
    ],
)
def test_once_different(seed: int, arch: str) -> None:
    assert unequal(range(seed, seed + 1), arch) == {}


@pytest.mark.long
@pytest.mark.parametrize("seed", [28254, 29928, 30223, 32191, 39721, 63551, 100201])
def test_lanes_that_wait_for_each_other_go_on(seed: int) -> None:
    assert unequal(range(seed, seed + 1), "sm_120") == {}


@pytest.mark.parametrize(
    ("seed", "metric", "measured"),
    [
        (40, "smsp__sass_branch_targets.sum", 8),  # eight WARPSYNC.EXCLUSIVE and no branch
        (80, "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", 4),  # two STL.64
        (186, "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", 8),  # four LDL.64
    ],
)
def test_counts_as_on_an_h200(seed: int, metric: str, measured: int) -> None:
    """Read on 2026-11-21, driver 580.159.04, ncu 2025.3.1; what was counted wrong before."""
    program = generate(seed)
    kernel = compiled([program], "sm_90")[program.name]
    run = kernel.launch(program.grid, program.block, *fresh_buffers(program).args(), threads=1)
    assert run[metric] == measured


def test_a_wrong_meaning_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    number = Apply("u32", "xor.u32", (Var("u32", "linear"), Const("u32", 5)))
    program = Program(0, (1, 1, 1), (40, 1, 1), {"own": ("u32", 2)}, (), (Emit(0, number),), 1)
    module = compiled([program], "sm_90")
    assert difference(program, module) == ""
    wrong = replace(words.WORDS["xor.u32"], meaning=lambda a, b: a + b)
    monkeypatch.setitem(words.WORDS, "xor.u32", wrong)
    assert difference(program, module) == "out[1] is 0x4, not 0x6 (30 of 40 differ)"


def test_a_seed_is_a_program() -> None:
    assert generate(17) == generate(17)
    assert generate(17) != generate(18)


def test_shrinking_keeps_what_fails() -> None:
    def fails(program: Program) -> bool:
        return program.uses("mul.u32") and any(isinstance(s, Switch) for s in program.body)

    program = next(p for p in map(generate, range(1000)) if fails(p))
    smallest = shrink(program, fails)
    assert fails(smallest)
    assert len(smallest.body) <= 2
    assert len(repr(smallest.body)) < len(repr(program.body)) / 3
