"""The words of isa/ over tokens that say only "one number" or "many": with them uniformity.py goes through the code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warplens.core.program import Address, Constant, Instruction, Register
from warplens.emulator.analysis.affine import AffineEmitter, AffineValue, HighWord
from warplens.emulator.analysis.liveness import Name
from warplens.emulator.analysis.predicate_file import PredicateFile
from warplens.emulator.analysis.register_file import Form, RegisterFile
from warplens.isa.dsl.lanes import U32, U64, Lanes, Pred
from warplens.isa.dsl.warp_interface import AtomicOperation, Data

TILE = {"SR_TID.X": (1, 0), "SR_TID.Y": (0, 1), "SR_TID.Z": (0, 0)}


@dataclass(frozen=True)
class UniformValue:
    """A number, the same in all lanes."""

    known: int | None = None


class VaryingValue:
    """32 numbers."""


MANY_NUMBERS = VaryingValue()


class AbstractEmitter(AffineEmitter):
    """Primitives over tokens."""

    def do(self, primitive: str, kind: type[Lanes], *args: Any, **how: Any) -> Any:
        for a in args:
            if a.node is not MANY_NUMBERS:
                return super().do(primitive, kind, *args, **how)
        return MANY_NUMBERS

    def leaf(self, primitive: str, kind: type[Lanes], *args: Any, **how: Any) -> Any:
        return MANY_NUMBERS if any(isinstance(a.node, VaryingValue) for a in args) else UniformValue()

    def constant(self, kind: type[Lanes], value: float | int) -> UniformValue:
        return UniformValue(int(value) & ((1 << kind.bits) - 1)) if isinstance(value, int) else UniformValue()

    def known(self, node: Any) -> int | None:
        return node.known if isinstance(node, UniformValue) else None

    def is_scalar(self, node: Any) -> bool:
        return isinstance(node, UniformValue)

    def vector_of(self, node: Any) -> Any:
        return MANY_NUMBERS if isinstance(node, AffineValue | HighWord) else node


class AbstractRegisters(RegisterFile):
    """Registers that hold tokens."""

    def fetch(self, name: Name, form: Form, part: int) -> Any:
        return MANY_NUMBERS if form == "many" else UniformValue()

    def put(self, name: Name, form: Form, part: int, node: Any) -> None:
        """Nothing to hold: the shape says it all."""

    def blended(self, lanes: Any, new: Any, old: Any) -> Any:
        return MANY_NUMBERS

    def uniform(self, node: Any, active: Any, condition: Any, old: Any) -> Any:
        return UniformValue()

    def immediate(self, kind: type[Lanes], bits: int) -> UniformValue:
        return UniformValue(bits & ((1 << kind.bits) - 1))

    def constant(self, at: Constant, size: int) -> list[U32]:
        index = UniformValue() if at.index is None else self.word(at.index.file, at.index.index)
        token = UniformValue() if self.e.is_scalar(index) else MANY_NUMBERS
        return [U32(self.e, token) for _ in range(max(size // 4, 1))]


class AbstractWarp(PredicateFile):
    """Abstract warp: has every operation of isa/dsl/warp_interface.Warp; a missing one is an error, not "varying"."""

    def __init__(
        self, registers: AbstractRegisters, tile: int, meetings: list[Register], at: Instruction, condition: Any
    ) -> None:
        self.registers, self.tile, self.meetings = registers, tile, meetings
        self.e: Any = self.registers.e
        self.at = at
        self.condition = condition
        self._active = None

    def _one(self) -> U32:
        return U32(self.e, UniformValue())

    def _many(self, count: int = 1) -> Data:
        return Data([U32(self.e, MANY_NUMBERS)] * count)

    @property
    def active(self) -> Pred:
        return Pred(self.e, MANY_NUMBERS)

    @property
    def lane(self) -> U32:
        return U32(self.e, MANY_NUMBERS)

    def special(self, name: str) -> U32:
        return U32(
            self.e,
            tile_line(self.tile, name, lambda: UniformValue())
            or (UniformValue() if one_number(name) else MANY_NUMBERS),
        )

    def clock(self) -> Any:
        return U64(self.e, UniformValue())

    def constant(self, at: Constant, bytes: int) -> Data:
        return Data(self.registers.constant(at, bytes))

    @property
    def place(self) -> int:
        return self.at.offset

    def stored(self, register: Register, words: int) -> Data:
        return Data(self.registers.run(register, words))

    def address(self, at: Address) -> Any:
        """Whether all lanes have the same, as a token."""
        words = []
        for register, wide in ((at.base, at.wide), (at.uniform, True)):
            if register is not None:
                words += self.registers.run(register, 2 if wide else 1)
        return UniformValue() if all(self.e.is_scalar(w.node) for w in words) else MANY_NUMBERS

    def load(self, space: str, at: Address, bytes: int, signed: bool = False, volatile: bool = False) -> Data:
        together = self.condition is None or self.e.is_scalar(self.condition)
        same = isinstance(self.address(at), UniformValue) and space in ("global", "shared") and together
        count = max(bytes // 4, 1)
        return Data([self._one()] * count) if same else self._many(count)

    def store(self, space: str, at: Address, data: Data, bytes: int) -> None:
        self.address(at)

    def atomic(
        self, space: str, at: Address, value: Data, operation: AtomicOperation, compare: Data | None = None
    ) -> Data:
        self.address(at)
        return self._many(len(value.words))

    def update(self, at: Address, value: U64, becomes: Any) -> U64:
        self.address(at)
        return U64(self.e, MANY_NUMBERS)

    def compare_and_store(self, at: Address, compare: Data, value: Data, bytes: int) -> Pred:
        self.address(at)
        return Pred(self.e, MANY_NUMBERS)

    def copy(self, to: Address, source: Address, bytes: int, *, reads: Pred, fills: bool, bypasses: bool) -> None:
        self.address(to)
        self.address(source)

    def load_rows(self, at: Address, matrices: int) -> Data:
        self.address(at)
        return self._many(4)

    def store_rows(self, at: Address, data: Data, matrices: int) -> None:
        self.address(at)

    def once(self, key: str, words: int, formula: Any, *runs: Data, quick: Any = None) -> Data:
        return self._many(words)

    def is_in(self, space: str, at: Address, own: bool = False) -> Pred:
        self.address(at)
        return Pred(self.e, MANY_NUMBERS)

    def ballot(self, p: Pred) -> U32:
        return self._one()

    def shuffle(self, value: U32, source: U32) -> U32:
        return self._many().words[0]

    def first(self, value: U32) -> U32:
        return self._one()

    def match_any(self, words: Data) -> U32:
        return self._many().words[0]

    def reduce(self, value: U32, op: str) -> U32:
        return self._one()

    def barrier_result(self) -> tuple[U32, Pred]:
        return self._one(), Pred(self.e, UniformValue())

    def barrier_mask(self, barrier: Register) -> U32:
        return U32(self.e, self.registers.word("B", barrier.index))

    def set_barrier(self, barrier: Register) -> None:
        self.set_barrier_mask(barrier, self._one())

    def set_barrier_mask(self, barrier: Register, mask: U32) -> None:
        self.registers.write(barrier, mask, None, self.condition)

    def leave(self, barrier: Register, when: Pred | None = None) -> None:
        self.registers.take_from(barrier, self.barrier_mask(barrier))

    def yields(self) -> None:
        for barrier in self.meetings:
            self.leave(barrier)

    def meet(self, barrier: Register) -> None:
        self.barrier_mask(barrier)

    def branch_unless_mask(self, mask: U32, target: Any, equal: bool) -> None:
        """Reads no register by itself."""

    def _nothing(self, *args: Any, **how: Any) -> None:
        """Reads no register by itself."""

    branch = branch_any = jump = call = exit = trap = _nothing
    converge = converge_apart = collect = end_collective = block_barrier = fence = waits_until = _nothing
    commit_copies = wait_for_copies = _nothing
    cluster_arrive = cluster_wait = _nothing


def one_number(name: str) -> bool:
    """Whether a special register is the same in all lanes of a warp."""
    return not name.startswith(("SR_TID", "SR_LANEID")) and "MASK" not in name


def tile_line(tile: int, name: str, base: Callable[[], Any]) -> AffineValue | None:
    """threadIdx as a line over the tile; None if it is none, or there is no tile."""
    if not tile or name not in TILE:
        return None
    return AffineValue(32, (base(), *TILE[name]))
