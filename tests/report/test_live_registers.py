"""Live registers, counted by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from helpers.hand_made_traces import program
from helpers.report_runs import subject_of
from warplens.report.live_registers import live_registers


def live(*code: tuple[str, str, str]) -> list[int]:
    """Of instructions with the numbers of the registers that they write and read."""
    listing = "\n".join(text for text, _, _ in code)
    words: list[list[Any]] = [[("R", int(n)) for n in column] for row in code for column in row[1:]]
    flow: Any = SimpleNamespace(program=program(listing), writes=words[::2], reads=words[1::2])
    return live_registers(flow)


def test_a_register_is_live_from_its_write_to_its_last_read() -> None:
    code = [("MOV", "0", ""), ("MOV", "1", ""), ("IADD3", "2", "01"), ("MOV", "3", "2"), ("EXIT", "", "")]
    assert live(*code) == [1, 2, 3, 2, 0]


def test_a_guarded_write_leaves_the_old_value_live() -> None:
    rest = [("MOV", "1", "0"), ("EXIT", "", "")]
    assert live(("MOV", "5", ""), ("@P0 MOV", "0", ""), *rest) == [2, 1, 2, 0]
    assert live(("MOV", "5", ""), ("MOV", "0", ""), *rest) == [1, 1, 2, 0]


def test_real_kernels_never_need_more_than_they_have() -> None:
    for name in ("matmul", "transpose", "odd"):
        subject = subject_of(name)
        assert 4 < max(live_registers(subject.flow)) <= subject.kernel.registers
