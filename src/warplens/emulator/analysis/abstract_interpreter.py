"""Abstract interpreter: runs operations over two abstract values, uniform and varying, for uniformity.py."""

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
from warplens.isa.dsl.operation_records import GroupProduct, SurfaceAccess, TensorAccess, TextureFetch
from warplens.isa.dsl.warp_interface import AtomicOperation, Data

TILE = {"SR_TID.X": (1, 0), "SR_TID.Y": (0, 1), "SR_TID.Z": (0, 0)}


@dataclass(frozen=True)
class UniformValue:
    """Abstract value: the same in all lanes."""

    known: int | None = None


class VaryingValue:
    """Abstract value: may differ between lanes."""


VARYING_VALUE = VaryingValue()


class AbstractEmitter(AffineEmitter):
    """Primitives over abstract values."""

    def do(self, primitive: str, kind: type[Lanes], *args: Any, **how: Any) -> Any:
        for a in args:
            if a.node is not VARYING_VALUE:
                return super().do(primitive, kind, *args, **how)
        return VARYING_VALUE

    def leaf(self, primitive: str, kind: type[Lanes], *args: Any, **how: Any) -> Any:
        return VARYING_VALUE if any(isinstance(a.node, VaryingValue) for a in args) else UniformValue()

    def constant(self, kind: type[Lanes], value: float | int) -> UniformValue:
        return UniformValue(int(value) & ((1 << kind.bits) - 1)) if isinstance(value, int) else UniformValue()

    def known(self, node: Any) -> int | None:
        return node.known if isinstance(node, UniformValue) else None

    def is_scalar(self, node: Any) -> bool:
        return isinstance(node, UniformValue)

    def vector_of(self, node: Any) -> Any:
        return VARYING_VALUE if isinstance(node, AffineValue | HighWord) else node


class AbstractRegisters(RegisterFile):
    """Registers that hold abstract values."""

    def fetch(self, name: Name, form: Form, part: int) -> Any:
        return VARYING_VALUE if form == "varying" else UniformValue()

    def put(self, name: Name, form: Form, part: int, node: Any) -> None:
        """Stores nothing: the uniformity of the register is all there is."""

    def blended(self, lanes: Any, new: Any, old: Any) -> Any:
        return VARYING_VALUE

    def uniform(self, node: Any, active: Any, condition: Any, old: Any) -> Any:
        return UniformValue()

    def immediate(self, kind: type[Lanes], bits: int) -> UniformValue:
        return UniformValue(bits & ((1 << kind.bits) - 1))

    def constant(self, at: Constant, size: int) -> list[U32]:
        index = UniformValue() if at.index is None else self.word(at.index.file, at.index.index)
        value = UniformValue() if self.e.is_scalar(index) else VARYING_VALUE
        return [U32(self.e, value) for _ in range(max(size // 4, 1))]


class AbstractWarp(PredicateFile):
    """Abstract warp: has every operation of isa/dsl/warp_interface.Warp; a missing one is an error, not "varying"."""

    def __init__(
        self, registers: AbstractRegisters, tile: int, barriers: list[Register], at: Instruction, condition: Any
    ) -> None:
        self.registers, self.tile, self.convergence_barriers = registers, tile, barriers
        self.e: Any = self.registers.e
        self.at = at
        self.condition = condition
        self._active = None

    def _uniform(self) -> U32:
        return U32(self.e, UniformValue())

    def _varying(self, count: int = 1) -> Data:
        return Data([U32(self.e, VARYING_VALUE)] * count)

    @property
    def active(self) -> Pred:
        return Pred(self.e, VARYING_VALUE)

    @property
    def lane(self) -> U32:
        return U32(self.e, VARYING_VALUE)

    def special(self, name: str) -> U32:
        return U32(
            self.e,
            affine_thread_index(self.tile, name, lambda: UniformValue())
            or (UniformValue() if is_uniform_register(name) else VARYING_VALUE),
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
        """Whether all lanes have the same address, as an abstract value."""
        words = []
        for register, wide in ((at.base, at.wide), (at.uniform, True)):
            if register is not None:
                words += self.registers.run(register, 2 if wide else 1)
        return UniformValue() if all(self.e.is_scalar(w.node) for w in words) else VARYING_VALUE

    def load(self, space: str, at: Address, bytes: int, signed: bool = False, volatile: bool = False) -> Data:
        together = self.condition is None or self.e.is_scalar(self.condition)
        same = isinstance(self.address(at), UniformValue) and space in ("global", "shared") and together
        count = max(bytes // 4, 1)
        return Data([self._uniform()] * count) if same else self._varying(count)

    def store(self, space: str, at: Address, data: Data, bytes: int) -> None:
        self.address(at)

    def atomic(
        self, space: str, at: Address, value: Data, operation: AtomicOperation, compare: Data | None = None
    ) -> Data:
        self.address(at)
        return self._varying(len(value.words))

    def update(self, at: Address, value: U64, becomes: Any) -> U64:
        self.address(at)
        return U64(self.e, VARYING_VALUE)

    def end_mbarrier(self, at: Address) -> None:
        self.address(at)

    def compare_and_store(self, at: Address, compare: Data, value: Data, bytes: int) -> Pred:
        self.address(at)
        return Pred(self.e, VARYING_VALUE)

    def copy(self, to: Address, source: Address, bytes: int, *, reads: Pred, fills: bool, bypasses: bool) -> None:
        self.address(to)
        self.address(source)

    def load_rows(self, at: Address, matrices: int) -> Data:
        self.address(at)
        return self._varying(4)

    def store_rows(self, at: Address, data: Data, matrices: int) -> None:
        self.address(at)

    def fetch(self, texture: U32, fetch: TextureFetch, given: Data, level: Data) -> Data:
        return self._varying(4)

    def load_surface(self, surface: U32, access: SurfaceAccess, at: Data) -> Data:
        return self._varying(max(access.bytes // 4, 1))

    def texture_size(self, texture: U32, level: U32) -> Data:
        return self._varying(4)

    def once(self, key: str, words: int, formula: Any, *runs: Data, quick: Any = None) -> Data:
        return self._varying(words)

    def take_registers(self, count: int) -> Pred:
        return Pred(self.e, UniformValue())

    def group_product(self, form: GroupProduct, a: Data, b: Data, addends: Data, metadata: U32, scale: Pred) -> Data:
        return self._varying(form.words)

    def allocate_tensor(self, slots: U32, pair: bool = False) -> tuple[Pred, U32]:
        return Pred(self.e, UniformValue()), self._uniform()

    def keep_tensor(self, mask: U32) -> U32:
        return self._uniform()

    def tensor_load(self, access: TensorAccess, at: Address, old: Data) -> Data:
        self.address(at)
        return self._varying(access.words)

    def tensor_store(self, access: TensorAccess, at: Address, data: Data) -> None:
        self.address(at)

    def tensor_product(
        self, form: Any, a: Data | Address, b: Data, d: Address, given: Data, adds: Pred
    ) -> None:  # fmt: skip
        self.address(d)
        if isinstance(a, Address):
            self.address(a)

    def copy_to_tensor(self, form: Any, to: Address, source: Data) -> None:
        self.address(to)

    def commit_tensor(self, at: Address, blocks: U32 | None = None) -> None:
        self.address(at)

    def is_in(self, space: str, at: Address, own: bool = False) -> Pred:
        self.address(at)
        return Pred(self.e, VARYING_VALUE)

    def ballot(self, p: Pred) -> U32:
        return self._uniform()

    def shuffle(self, value: U32, source: U32) -> U32:
        return self._varying().words[0]

    def first(self, value: U32) -> U32:
        return self._uniform()

    def match_any(self, words: Data) -> U32:
        return self._varying().words[0]

    def reduce(self, value: U32, op: str) -> U32:
        return self._uniform()

    def barrier_result(self) -> tuple[U32, Pred]:
        return self._uniform(), Pred(self.e, UniformValue())

    def barrier_mask(self, barrier: Register) -> U32:
        return U32(self.e, self.registers.word("B", barrier.index))

    def set_barrier(self, barrier: Register) -> None:
        self.set_barrier_mask(barrier, self._uniform())

    def set_barrier_mask(self, barrier: Register, mask: U32) -> None:
        self.registers.write(barrier, mask, None, self.condition)

    def leave(self, barrier: Register, when: Pred | None = None) -> None:
        self.registers.take_from(barrier, self.barrier_mask(barrier))

    def yields(self) -> None:
        for barrier in self.convergence_barriers:
            self.leave(barrier)

    def reconverge(self, barrier: Register) -> None:
        self.barrier_mask(barrier)

    def branch_unless_mask(self, mask: U32, target: Any, equal: bool) -> None:
        """Reads no register by itself."""

    def _nothing(self, *args: Any, **how: Any) -> None:
        """Reads no register by itself."""

    branch = branch_any = jump = call = exit = trap = _nothing
    converge = converge_by_mask = collect = end_collective = block_barrier = fence = waits_until = _nothing
    give_registers = _nothing
    commit_copies = wait_for_copies = wait_for_products = _nothing
    store_surface = reduce_surface = bulk_copy = tensor_copy = _nothing
    cluster_arrive = cluster_wait = _nothing


def is_uniform_register(name: str) -> bool:
    """Whether a special register is the same in all lanes of a warp."""
    return not name.startswith(("SR_TID", "SR_LANEID")) and "MASK" not in name


def affine_thread_index(tile: int, name: str, base: Callable[[], Any]) -> AffineValue | None:
    """threadIdx as an affine value over the tile; None if it is not affine, or there is no tile."""
    if not tile or name not in TILE:
        return None
    return AffineValue(32, (base(), *TILE[name]))
