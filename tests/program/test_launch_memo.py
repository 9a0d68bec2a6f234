"""Launch memo: what is found again, and what is not."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.whole_program import PROGRAMS
from warplens.commands.run_program import ProgramOutput, run_program
from warplens.program import arena, launch_memo
from warplens.program.launch_memo import PATIENCE, LaunchMemo, Touched

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
X, Y = arena.BASE, arena.BASE + (1 << 20)
ADDS = Touched(read=frozenset({X, Y}), written=frozenset({Y}))


@pytest.fixture
def memory() -> Iterator[arena.Arena]:
    made = arena.Arena()
    for place in (X, Y):
        made.add(place, 4096, arena.ALLOCATED)
    yield made
    made.close()


def launched(memo: LaunchMemo, memory: arena.Arena, number: int) -> str:
    """y += x, unless it was seen before."""
    before = memo.before(("add",))
    if memo.repeat(("add",), before):
        return "repeated"
    memory.blocks[Y].data[:] += memory.blocks[X].data
    memo.learn(("add",), before, ADDS, number)
    return "executed"


def set_to(memo: LaunchMemo, memory: arena.Arena, block: int, value: int) -> None:
    memory.blocks[block].data[:] = value
    memo.changed(block)


def test_the_third_launch_from_the_same_content_repeats_the_second(memory: arena.Arena) -> None:
    memo = LaunchMemo(memory)
    set_to(memo, memory, X, 3)
    seen = []
    for number in range(4):
        set_to(memo, memory, Y, 1)
        seen.append(launched(memo, memory, number))
        assert (memory.blocks[Y].data == 4).all()
    assert seen == ["executed", "executed", "repeated", "repeated"]
    set_to(memo, memory, X, 4)
    set_to(memo, memory, Y, 1)
    assert launched(memo, memory, 5) == "executed"
    assert (memory.blocks[Y].data == 5).all()


def test_state_that_moves_on_is_given_up(memory: arena.Arena) -> None:
    memo = LaunchMemo(memory)
    set_to(memo, memory, X, 1)
    assert {launched(memo, memory, n) for n in range(PATIENCE + 3)} == {"executed"}
    assert (memory.blocks[Y].data == PATIENCE + 3).all()
    assert memo.before(("add",)) is None


def test_launches_whose_parameters_never_repeat_are_forgotten(
    memory: arena.Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_memo, "MOST_KEYS", 3)
    memo = LaunchMemo(memory)
    for number in range(10):
        memo.learn((number,), None, ADDS, number)
        assert memo.before((number,)) is not None
    assert memo.before((5,)) is None


def test_memory_that_the_host_writes_is_left_out(memory: arena.Arena) -> None:
    memo = LaunchMemo(memory)
    assert memo.may_remember(ADDS)
    memory.add(Y, 4096, arena.MANAGED)
    assert not memo.may_remember(ADDS)
    assert not ADDS.idempotent
    assert Touched(frozenset({X}), frozenset({Y})).idempotent


def test_a_rerun_leaves_the_arena_as_it_is(memory: arena.Arena) -> None:
    launch = memory.memory()
    launch.fill(lent=False)
    launch.take(0)
    launch.view(0)[:] = 7
    assert not memory.blocks[X].data.any()
    assert np.all(launch.view(0) == 7)
    launch.release()


def test_a_fill_is_known_without_hashing_but_for_a_partly_filled_block(memory: arena.Arena) -> None:
    memo = LaunchMemo(memory)
    memo._touched["key",] = Touched(frozenset({X}), frozenset())
    memo.filled(X, 4096, 7, 4)
    filled = memo.before(("key",))
    memo.changed(X)
    assert memo.before(("key",)) != filled
    memo.filled(X, 4096, 7, 4)
    assert memo.before(("key",)) == filled
    memo.filled(X, 4096, 8, 4)
    assert memo.before(("key",)) != filled
    memo.changed(X)
    hashed = memo.before(("key",))
    memo.changed(X)
    memo.filled(X, 4000, 7, 4)
    assert memo.before(("key",)) == hashed


def outcome(capfd: pytest.CaptureFixture[str], folder: Path, **wishes: Any) -> tuple[str, list[dict[str, Any]]]:
    """What the program printed, and its kernels."""
    capfd.readouterr()
    place = folder / "run.json"
    command = [sys.executable, str(PROGRAMS / "repeats.py")]
    assert run_program(command, "h200", ProgramOutput(json=str(place)), **wishes) == 0
    return capfd.readouterr().out, json.loads(place.read_text())["kernels"]


def test_results_and_counts_are_those_of_executing_each_launch(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    printed, kernels = outcome(capfd, tmp_path, memo=False)
    again, repeated = outcome(capfd, tmp_path, memo=True)
    assert again == printed
    assert len(printed.splitlines()) == 24
    executed = [kernel.pop("executed") for kernel in kernels]
    assert executed == [kernel["launches"] for kernel in kernels]
    assert sum(kernel.pop("executed") for kernel in repeated) < sum(executed)
    for one, other in zip(kernels, repeated, strict=True):
        assert one["time_us"] == pytest.approx(other["time_us"])
        assert all(one[key] == other[key] for key in ("kernel", "launch", "launches", "metrics"))


def test_much_memory_is_hashed_only_where_a_sample_was_seen_before(
    memory: arena.Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_memo, "LARGE", 4096)
    monkeypatch.setattr(launch_memo, "SAMPLES", 4)
    memo = LaunchMemo(memory)
    hashed: list[int] = []
    real = memo._digest
    monkeypatch.setattr(memo, "_digest", lambda block: (hashed.append(block), real(block))[1])

    def round_of(x: int, number: int) -> str:
        set_to(memo, memory, X, x)
        set_to(memo, memory, Y, 1)
        return launched(memo, memory, number)

    assert {round_of(n, n) for n in range(10, 20)} == {"executed"}
    assert not hashed
    assert [round_of(15, n) for n in range(20, 23)] == ["executed", "repeated", "repeated"]
    assert (memory.blocks[Y].data == 16).all()
    memory.blocks[X].data[70] = 9  # outside of the sample
    memory.blocks[Y].data[:] = 1
    memo.changed(X), memo.changed(Y)
    assert launched(memo, memory, 24) == "executed"
    assert memory.blocks[Y].data[70] == 10


def test_what_would_not_be_kept_is_not_hashed(memory: arena.Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_memo, "MOST_KEPT", 4096)
    memo = LaunchMemo(memory)
    monkeypatch.setattr(memo, "_digest", lambda block: pytest.fail("hashed"))
    for number in range(3):
        memory.blocks[Y].data[:] = 1
        memo.changed(Y)
        assert launched(memo, memory, number) == "executed"


def test_what_lies_behind_the_end_of_a_filled_block_counts(memory: arena.Arena) -> None:
    memo = LaunchMemo(memory)
    memo._touched["key",] = Touched(frozenset({X}), frozenset())
    memo.filled(X, 4096, 7, 4)
    filled = memo.before(("key",))
    memory.blocks[X].data[4097] = 5  # by a kernel that runs over the end
    memo.changed(X)
    memo.filled(X, 4096, 7, 4)
    assert memo.before(("key",)) != filled
