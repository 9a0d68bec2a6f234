"""Launch memo: what is found again, and what is not."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.whole_program import PROGRAMS
from warplens.commands.run_program import ProgramOutput, run_program
from warplens.program import arena
from warplens.program.memo import deferred_work, launch_memo
from warplens.program.memo.deferred_work import Deferred, live_work
from warplens.program.memo.launch_memo import PATIENCE, LaunchMemo, Touched

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
X, Y, Z = (arena.BASE + (n << 20) for n in range(3))
KEY = "add", b""
ADDS = Touched(read=frozenset({X, Y}), written=frozenset({Y}))
COPIES = Touched(read=frozenset({X}), written=frozenset({Y}))


@pytest.fixture
def memory() -> Iterator[arena.Arena]:
    made = arena.Arena()
    for place in (X, Y, Z):
        made.add(place, 4096, arena.ALLOCATED)
    yield made
    made.close()


class Launches:
    """Launches: of kernels that are functions, on an arena; `executed` says how often each was executed."""

    def __init__(self, memory: arena.Arena) -> None:
        self.memory, self.memo = memory, LaunchMemo(memory)
        self.executed: list[str] = []

    def launch(self, name: str, touched: Touched, kernel: Callable[[], None], parameters: bytes = b"") -> str:
        """Whether it was executed at once."""
        key = name, parameters

        def execute() -> None:
            self.executed.append(name)
            kernel()

        found, began = self.memo.find(key)
        if found is not None:
            self.memo.repeat(found, execute)
            return "repeated"
        self.memo.deferred.finish()
        execute()
        self.memo.learn(key, began, touched, len(self.executed), pure=True)
        return "executed"

    def add(self, parameters: bytes = b"") -> str:
        """y += x"""

        def kernel() -> None:
            self.block(Y)[:] += self.block(X)

        return self.launch("add", ADDS, kernel, parameters)

    def copy(self) -> str:
        """The first half of y = x."""

        def kernel() -> None:
            self.block(Y)[:2048] = self.block(X)[:2048]

        return self.launch("copy", COPIES, kernel)

    def block(self, block: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return self.memory.blocks[block].data[:4096]

    def read(self, block: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """What the program sees."""
        self.memo.deferred.before_read(block)
        return self.block(block).copy()

    def set(self, block: int, value: int, places: slice = slice(None)) -> None:
        self.memo.deferred.before_write(block, whole=places == slice(None))
        self.block(block)[places] = value
        self.memo.names.changed(block)


@pytest.fixture
def launches(memory: arena.Arena) -> Launches:
    return Launches(memory)


def test_a_launch_from_the_same_content_repeats_an_earlier_one(launches: Launches) -> None:
    launches.set(X, 3)
    seen = []
    for _ in range(4):
        launches.set(Y, 1)
        seen.append(launches.add())
        assert (launches.read(Y) == 4).all()
    assert seen == ["executed", "executed", "repeated", "repeated"]  # what the first would touch was not known before
    launches.set(X, 4)
    launches.set(Y, 1)
    assert launches.add() == "executed"
    assert (launches.read(Y) == 5).all()


def test_what_the_parameters_point_to_is_named_before_the_first_launch(launches: Launches) -> None:
    launches.set(X, 3)
    seen = []
    for _ in range(2):
        launches.set(Y, 1)
        seen.append(launches.add(np.array([X, Y], np.uint64).tobytes()))
    assert seen == ["executed", "repeated"]


def test_state_that_moves_on_is_no_longer_hashed(launches: Launches, monkeypatch: pytest.MonkeyPatch) -> None:
    launches.set(X, 1)
    assert {launches.add() for _ in range(PATIENCE + 3)} == {"executed"}
    assert (launches.read(Y) == PATIENCE + 3).all()
    monkeypatch.setattr(launches.memo.names, "hash", lambda block: pytest.fail("hashed"))
    assert launches.add() == "executed"


def test_a_chain_of_launches_is_found_from_its_start_on(launches: Launches) -> None:
    launches.set(X, 1)
    for _ in range(4):
        launches.set(Y, 5)
        for _ in range(PATIENCE + 5):
            launches.add()
        assert (launches.read(Y) == PATIENCE + 10).all()
    assert len(launches.executed) == 3 * (PATIENCE + 5)  # the third time since its results were looked at


def test_results_that_nobody_sees_are_not_made(launches: Launches) -> None:
    launches.set(X, 1)
    launches.set(Z, 7)
    for _ in range(9):
        launches.set(Y, 5)
        launches.add()
        launches.add()
        launches.read(Z)
    assert launches.executed == ["add"] * 3
    assert (launches.read(Y) == 7).all()
    assert launches.executed == ["add"] * 5


def test_a_part_that_is_overwritten_meets_what_was_deferred(launches: Launches) -> None:
    launches.set(X, 1)
    for value in (9, 9, 9, 9):
        launches.set(Y, 5)
        launches.add()
        launches.set(Y, value, slice(0, 4))
        assert (launches.read(Y) == [9] * 4 + [6] * 4092).all()


def test_an_input_is_not_overwritten_before_deferred_work_has_read_it(launches: Launches) -> None:
    for _ in range(4):
        launches.set(X, 1)
        launches.set(Y, 5)
        launches.add()
        launches.set(X, 100)
        assert (launches.read(Y) == 6).all()


def test_a_launch_over_its_own_results_changes_nothing(launches: Launches) -> None:
    launches.set(X, 3)
    launches.set(Y, 1)
    assert [launches.copy() for _ in range(3)] == ["executed", "repeated", "repeated"]
    launches.set(Y, 2)
    assert launches.copy() == "executed"  # half of it stays
    assert (launches.read(Y) == [3] * 2048 + [2] * 2048).all()


def test_results_are_hashed_where_only_what_lay_below_them_differs(launches: Launches) -> None:
    launches.set(X, 3)
    for _ in range(8):
        launches.launch("set", COPIES, lambda: launches.block(Y).__setitem__(slice(None), launches.block(X)))
        launches.add()
    assert launches.executed.count("set") == 2
    assert launches.executed.count("add") == 2
    assert (launches.read(Y) == 6).all()


def test_fills_and_copies_within_the_gpu_are_deferred_too(launches: Launches) -> None:
    deferred = launches.memo.deferred
    launches.set(X, 1)
    launches.set(Z, 4)
    for _ in range(5):
        deferred.fill((Y, Y), 4096, 4096, 1, 0x05050505, 4)
        launches.add()
        deferred.copy((Y, Y + 8), (Z, Z + 16), 4)
        launches.add()
    deferred.copy((Z, Z), (Y, Y), 4096)
    assert (launches.read(Z) == [7] * 8 + [5] * 4 + [7] * 4084).all()
    assert len(launches.executed) == 2
    deferred.fill((Z, Z + 1), 8, 2, 3, 3, 1)
    assert launches.read(Z)[:20].tolist() == [7, 3, 3, 7, 7, 7, 7, 7, 5, 3, 3, 5, 7, 7, 7, 7, 7, 3, 3, 7]


@pytest.mark.parametrize(("most_kept", "executed"), [(4096 + 512, 3), (4095, 9)])
def test_results_that_are_wanted_again_are_copied_but_for_large_ones(
    launches: Launches, monkeypatch: pytest.MonkeyPatch, most_kept: int, executed: int
) -> None:
    monkeypatch.setattr(deferred_work, "MOST_KEPT", most_kept)
    launches.set(X, 1)
    for _ in range(9):
        launches.set(Y, 5)
        launches.add()
        assert (launches.read(Y) == 6).all()
    assert len(launches.executed) == executed


def test_launches_whose_parameters_never_repeat_are_forgotten(
    memory: arena.Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_memo, "MOST_KEYS", 3)
    monkeypatch.setattr(launch_memo, "MOST_LAUNCHES", 5)
    memo = LaunchMemo(memory)
    for number in range(10):
        memo.learn(("add", bytes([number] * 8)), {}, ADDS, number, pure=True)
        assert memo.find(("add", bytes([number] * 8)))[1]
    assert not memo.find(("add", bytes([5] * 8)))[1]
    assert len(memo._kept) == 5


def test_memory_that_the_host_writes_is_left_out(memory: arena.Arena) -> None:
    memo = LaunchMemo(memory)
    assert memo.may_remember(ADDS)
    memory.add(Y, 4096, arena.MANAGED)
    assert not memo.may_remember(ADDS)
    assert not ADDS.idempotent
    assert COPIES.idempotent


def test_a_launch_that_writes_behind_the_end_of_a_block_is_not_remembered(launches: Launches) -> None:
    launches.set(X, 3)
    launches.memory.blocks[Y].data[4097] = 5
    assert {launches.copy() for _ in range(4)} == {"executed"}


def test_a_rerun_leaves_the_arena_as_it_is(memory: arena.Arena) -> None:
    launch = memory.memory()
    launch.fill(lent=False)
    launch.take(0)
    launch.view(0)[:] = 7
    assert not memory.blocks[X].data.any()
    assert np.all(launch.view(0) == 7)
    launch.release()


def test_a_large_fill_is_known_without_hashing(launches: Launches, monkeypatch: pytest.MonkeyPatch) -> None:
    names = launches.memo.names
    launches.set(Z, 7)
    assert names.of_fill(Z, 0x07070707, 4) == names.of_fill(Z, 7, 1) == names.hash(Z)
    monkeypatch.setattr("warplens.program.memo.content_names.LARGE_FILL", 4096)
    monkeypatch.setattr(names, "hash", lambda block: pytest.fail("hashed"))
    names.put(X, names.of_fill(X, 7, 4))
    filled = names.of(X)
    assert names.by_bytes(X)
    names.changed(X)
    assert names.of(X) is None
    names.put(X, names.of_fill(X, 8, 4))
    assert names.of(X) != filled
    launches.memory.blocks[X].data[4097] = 5  # by a kernel that runs over the end
    names.put(X, names.of_fill(X, 7, 4))
    assert names.of(X) != filled


def test_a_block_that_was_copied_has_the_name_of_the_other(launches: Launches) -> None:
    names = launches.memo.names
    names.hash(X)
    names.duplicate(Y, X)
    assert names.of(Y) == names.of(X) is not None
    names.changed(Y)
    launches.memory.blocks[Y].data[4097] = 5  # by a kernel that runs over the end
    names.duplicate(Y, X)
    assert names.of(Y) is None
    launches.memo.deferred.copy((Y, Y), (X, X), 4096)
    assert names.of(Y) != names.of(X)


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
    assert len(printed.splitlines()) > 60
    executed = [kernel.pop("executed") for kernel in kernels]
    assert executed == [kernel["launches"] for kernel in kernels]
    assert sum(kernel.pop("executed") for kernel in repeated) < sum(executed) * 0.7
    for one, other in zip(kernels, repeated, strict=True):
        assert one["time_us"] == pytest.approx(other["time_us"])
        assert all(one[key] == other[key] for key in ("kernel", "launch", "launches", "metrics"))


def test_much_memory_is_hashed_only_where_a_sample_was_seen_before(
    launches: Launches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_memo, "LARGE", 4096)
    names = launches.memo.names
    hashed: list[int] = []
    real = names.hash
    monkeypatch.setattr(names, "hash", lambda block: (hashed.append(block), real(block))[1])

    def round_of(x: int) -> str:
        launches.set(X, x)
        launches.set(Y, 1)
        return launches.add()

    assert {round_of(n) for n in range(10, 15)} == {"executed"}
    assert not hashed
    assert [round_of(13) for n in range(3)] == ["executed", "repeated", "repeated"]
    assert (launches.read(Y) == 14).all()
    launches.set(X, 13)
    launches.set(Y, 1)
    launches.set(X, 9, slice(70, 71))  # outside of the sample
    monkeypatch.setattr("warplens.program.memo.content_names.SAMPLES", 4)
    assert launches.add() == "executed"
    assert launches.read(Y)[70] == 10


def test_bytes_that_were_hashed_last_are_compared(memory: arena.Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    names = LaunchMemo(memory).names
    memory.blocks[X].data[:] = 5
    first = names.hash(X)
    names.changed(X)
    monkeypatch.setattr("warplens.program.memo.content_names.blake2b", lambda *_, **__: pytest.fail("hashed"))
    assert names.hash(X) == first
    monkeypatch.undo()
    memory.blocks[X].data[4000] = 6
    names.changed(X)
    assert names.hash(X) != first


def test_work_whose_results_nothing_needs_is_dropped() -> None:
    done: list[str] = []

    def work(name: str, read: set[int], written: set[int], whole: bool = False) -> Deferred:
        return Deferred(lambda: done.append(name), frozenset(read), frozenset(written), whole)

    chain = [work("fill", set(), {Y}, True), work("add", {X, Y}, {Y}), work("copy", {Y}, {Z}, True)]
    assert live_work({Y}, chain * 3) == chain[:2]
    assert live_work({Z}, chain * 3) == chain
    both = [work("both", {X}, {Y, Z}), work("restore", set(), {Z}, True)]
    assert live_work({Y}, both) == both  # what it writes besides has to be put right
    assert live_work({X}, both) == []


def test_a_loop_with_a_fill_and_an_unused_result_stays_short(launches: Launches) -> None:
    launches.set(X, 1)
    for number in range(2000):
        launches.memo.deferred.fill((Y, Y), 4096, 4096, 1, number % 2, 1)
        launches.add()
    assert (launches.read(Y) == 2).all()
    assert len(launches.executed) <= 8


def test_work_that_is_all_needed_is_done_after_a_while(
    launches: Launches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deferred_work, "MOST_PENDING", 4)
    launches.set(X, 1)
    for _ in range(3):
        launches.set(Y, 5)
        for _ in range(10):
            launches.add()
    assert (launches.read(Y) == 15).all()
