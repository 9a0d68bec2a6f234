"""Register file: what a register of other lanes holds after a write by a part of the warp."""

from __future__ import annotations

from typing import Any

import pytest

from warplens.core.program import Register
from warplens.emulator.analysis.abstract_interpreter import VARYING_VALUE, AbstractEmitter, AbstractRegisters
from warplens.emulator.analysis.register_file import Form
from warplens.emulator.analysis.uniformity_lattice import VARYING, Name, Uniformity
from warplens.isa.dsl.lanes import U32

LOW, HIGH = ("R", 2), ("R", 3)


class Blends(AbstractRegisters):
    """Registers that note which of them were blended with what other lanes hold."""

    def __init__(self) -> None:
        super().__init__(AbstractEmitter())
        self.noted: list[Name] = []
        self.fresh: set[int] = set()

    def blended(self, lanes: Any, new: Any, old: Any) -> Any:
        value = object()
        self.fresh.add(id(value))
        return value

    def put(self, name: Name, form: Form, part: int, node: Any) -> None:
        if id(node) in self.fresh:
            self.noted.append(name)


@pytest.mark.parametrize("shared", [[], [LOW], [HIGH], [LOW, HIGH]])
def test_half_of_a_pair_written_by_a_split_keeps_the_other_half_of_other_lanes(shared: list[Name]) -> None:
    """A split overwrites the low word of a 64-bit affine value: both words become varying, and of those that lanes of
    other splits may still read, their words stay."""
    file = Blends()
    pair = {LOW: Uniformity("low"), HIGH: Uniformity("high")}
    file.begin(0, pair, split=True)
    file.shared = frozenset(shared)
    file.write(Register("R", 2), U32(file.e, VARYING_VALUE), None, None)
    assert file.shapes[LOW] == file.shapes[HIGH] == VARYING
    assert sorted(file.noted) == shared


def test_a_whole_warp_blends_nothing() -> None:
    file = Blends()
    file.begin(0, {LOW: Uniformity("low"), HIGH: Uniformity("high")}, split=False)
    file.shared = frozenset([LOW, HIGH])
    file.write(Register("R", 2), U32(file.e, VARYING_VALUE), None, None)
    assert file.noted == []
