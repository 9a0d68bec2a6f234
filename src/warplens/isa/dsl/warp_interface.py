"""Warp interface: what an operation may use of its warp: memory, other lanes, control flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

from warplens.core.program import Address, Constant, Label, Operand, Register, Special
from warplens.isa.dsl.lanes import F32, U32, U64, Emitter, Pred
from warplens.isa.dsl.operation_records import (
    BulkCopy,
    GroupProduct,
    SurfaceAccess,
    TensorAccess,
    TensorCopy,
    TensorMemoryCopy,
    TensorProduct,
    TextureFetch,
)

Space = Literal["global", "shared", "local", "generic"]
Reduction = Literal["add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas", "fadd"]
Number = Literal[
    "u32",
    "s32",
    "u64",
    "s64",
    "u128",
    "f32",
    "f64",
    "f32x2",
    "f32x4",
    "f16x2",
    "f16x4",
    "f16x8",
    "bf16x2",
    "bf16x4",
    "bf16x8",
]
Update = Callable[[U64, U64], U64]
Formula = Callable[..., Sequence[U32]]
QuickFormula = Callable[..., tuple[Sequence[U32], Pred]]


class Data:
    """A run of 32-bit registers, little end first: what loads give and stores take."""

    def __init__(self, words: Sequence[U32]) -> None:
        self.words = tuple(words)


class Floats:
    """Two floats in a register pair, low register first; the operand's suffix may swap them or repeat one."""

    def __init__(self, low: F32, high: F32) -> None:
        self.low = low
        self.high = high


class Addend:
    """An operand of an addition whose carry counts: `-x` contributes (~x) + 1 as a 33-bit value, so -0 carries."""

    def __init__(self, plain: U32, negated: bool = False) -> None:
        self.plain = plain
        self.negated = negated

    @cached_property
    def value(self) -> U32:
        return -self.plain if self.negated else self.plain

    @cached_property
    def wide(self) -> U64:
        return (~self.plain).wide() + 1 if self.negated else self.plain.wide()

    def __lshift__(self, by: int) -> Addend:
        """Shifted before it is negated: all zeros carry too where only the bits that remain are zero."""
        return Addend(self.plain << by, self.negated)


class WideAddend(U64):
    """The same of 64 bits: where it is a negated zero, it carries."""

    __slots__ = ("carries",)

    def __init__(self, e: Emitter, node: Any) -> None:
        super().__init__(e, node)
        self.carries: Pred | None = None

    def __neg__(self) -> WideAddend:
        value = super().__neg__()
        value.carries = self.eq(0)
        return value

    def carry(self, total: U64) -> Pred:
        """Of this and another in their sum `total`, but for the other's own."""
        over = total < self
        return over if self.carries is None else over | self.carries


@dataclass(frozen=True, slots=True)
class AtomicOperation:
    """What an atomic does with each word.

    only      of generic addresses those in this space; the other lanes do nothing
    together  lanes on the same word of shared memory are served at once
    """

    op: Reduction
    number: Number = "u32"
    returns: bool = True
    only: Space | None = None
    together: bool = False


class Warp(Protocol):
    """The warp at one instruction."""

    e: Emitter

    @property
    def active(self) -> Pred:
        """The lanes that perform the instruction: those of the running split whose guard is true."""

    @property
    def lane(self) -> U32:
        """0 to 31."""

    def special(self, name: str) -> U32:
        """A special register such as SR_TID.X."""

    def clock(self) -> U64:
        """Instructions executed so far: a stand-in for cycles, labelled modelled wherever it is shown."""

    def constant(self, at: Constant, bytes: int) -> Data:
        """From a constant bank; sub-word reads are zero-extended."""

    def predicate(self, register: Register) -> Pred:
        """A predicate register, inverted if the operand has `!`."""

    def predicates(self, file: Special, mask: int) -> U32:
        """The predicates of PR or UPR as bits, those in mask."""

    def set_predicates(self, file: Special, bits: U32, mask: int) -> None: ...

    def plain(self, operand: Operand) -> U32:
        """The word of a register, constant or number, without its signs; its halves as the suffix selects."""

    @property
    def place(self) -> int:
        """Of this instruction in the code, in bytes."""

    def stored(self, register: Register, words: int) -> Data:
        """A run of registers that starts here; zeros for RZ."""

    # Memory.  `bytes` a lane: 1, 2, 4, 8, 16, 32.  Every access is checked and counted.

    def load(self, space: Space, at: Address, bytes: int, signed: bool = False, volatile: bool = False) -> Data: ...

    def store(self, space: Space, at: Address, data: Data, bytes: int) -> None: ...

    def atomic(
        self, space: Space, at: Address, value: Data, operation: AtomicOperation, compare: Data | None = None
    ) -> Data:
        """Lane after lane in order of lane number; returns the old values."""

    def update(self, at: Address, value: U64, becomes: Update) -> U64:
        """Shared memory, 8 bytes, lane after lane: old becomes `becomes(old, value)`; gives the old values."""

    def end_mbarrier(self, at: Address) -> None:
        """The memory of the mbarrier may be used for something else."""

    def compare_and_store(self, at: Address, compare: Data, value: Data, bytes: int) -> Pred:
        """Shared memory: the lowest lane at each address tries; returns whether its value was stored."""

    def copy(self, to: Address, source: Address, bytes: int, *, reads: Pred, fills: bool, bypasses: bool) -> None:
        """From global to shared memory, at once.  Lanes without `reads` write zeros.  If it `fills`, the low bits of
        the source's address say how many of its last bytes become zero instead.  `bypasses` the L1 cache or not."""

    def load_rows(self, at: Address, matrices: int) -> Data:
        """Four words: 16 bytes of shared memory for each of the first 8 * matrices lanes."""

    def store_rows(self, at: Address, data: Data, matrices: int) -> None: ...

    def is_in(self, space: Space, at: Address, own: bool = False) -> Pred:
        """Whether a generic address lies in the shared or the local window, or in neither (global); own: in the block's
        own shared memory, and in no other's of its cluster."""

    def fetch(self, texture: U32, fetch: TextureFetch, given: Data, level: Data) -> Data:
        """Four words of a texture.  `given`: the layer if any, then the coordinates; `level`: of the mipmap, or the
        gradients (x of dPdx, x of dPdy, y of dPdx, y of dPdy)."""

    def load_surface(self, surface: U32, access: SurfaceAccess, at: Data) -> Data: ...

    def store_surface(self, surface: U32, access: SurfaceAccess, at: Data, data: Data) -> None: ...

    def reduce_surface(
        self, surface: U32, access: SurfaceAccess, at: Data, value: Data, operation: AtomicOperation
    ) -> None: ...

    def texture_size(self, texture: U32, level: U32) -> Data:
        """Width, height, depth or layers, and how many levels."""

    # Bulk copies: once a warp, if a lane is active, with operands that are the same in all lanes; done at once.
    # `barrier`: the mbarrier in shared memory that counts the bytes; `blocks`: ranks in the cluster that all get the
    # data and count it, each at the same place, as a mask.

    def bulk_copy(
        self, copy: BulkCopy, to: Data, source: Data, bytes: U32, barrier: U32 | None = None, blocks: U32 | None = None
    ) -> None:
        """Addresses have one word in shared, two in global memory."""

    def tensor_copy(
        self, copy: TensorCopy, map: Data, at: Data, shared: U32, offsets: U32 | None = None,
        barrier: U32 | None = None, blocks: U32 | None = None,
    ) -> None:  # fmt: skip
        """Between global memory, where the map and the box's coordinates `at` place it, and shared memory; offsets: of
        an im2col load within its bounding box, as the instruction packs them."""

    def once(self, key: str, words: int, formula: Formula, *runs: Data, quick: QuickFormula | None = None) -> Data:
        """`words` words, formula(*lists of words), as one routine for all instructions of this opcode and key: for
        what takes hundreds of operations.  `quick` also returns in which lanes it gives the same: if in all, its
        result is used."""

    def group_product(self, form: GroupProduct, a: Data, b: Data, addends: Data, metadata: U32, scale: Pred) -> Data:
        """This warp's 16 rows of a warpgroup's product, with the addends where `scale` is true.  a: four words of its
        registers, or like b a descriptor of a matrix in shared memory, in two words."""

    def give_registers(self, count: int) -> None:
        """The warp keeps `count` registers a thread; the others of its block may take the rest."""

    def take_registers(self, count: int) -> Pred:
        """True once the warp has `count` registers a thread (uniform); until then as waits_until."""

    # Tensor memory: once a warp, if a lane is active, with operands that are the same in all lanes; done at once.

    def allocate_tensor(self, slots: U32, pair: bool = False) -> tuple[Pred, U32]:
        """Whether there are so many free slots of 32 columns, which are now held, and the first (uniform); of a pair of
        blocks, in both."""

    def keep_tensor(self, mask: U32) -> U32:
        """Of the slots that are held only these remain; what was held (uniform)."""

    def tensor_load(self, access: TensorAccess, at: Address, old: Data) -> Data:
        """`old` in the lanes that the shape leaves out."""

    def tensor_store(self, access: TensorAccess, at: Address, data: Data) -> None: ...

    def tensor_product(
        self, form: TensorProduct, a: Data | Address, b: Data, d: Address, given: Data, adds: Pred
    ) -> None:  # fmt: skip
        """d = a b, plus d if `adds`.  Matrices in shared memory have two words.  given: the instruction descriptor,
        where the metadata of A and the scales of both lie, and four words of lanes that are left, of a pair eight."""

    def copy_to_tensor(self, form: TensorMemoryCopy, to: Address, source: Data) -> None:
        """The rows of the matrix in shared memory that two words describe."""

    def commit_tensor(self, at: Address, blocks: U32 | None = None) -> None:
        """One arrival at an mbarrier, when all that was issued is done: of each of the blocks, if they are given."""

    # Other lanes.

    def ballot(self, p: Pred) -> U32:
        """One bit for each active lane whose p is true; the same in all lanes (uniform)."""

    def shuffle(self, value: U32, source: U32) -> U32:
        """value of lane `source` (0 to 31) for each lane."""

    def first(self, value: U32) -> U32:
        """value in the lowest active lane (uniform)."""

    def match_any(self, words: Data) -> U32:
        """For each lane the mask of active lanes that hold the same value."""

    def reduce(self, value: U32, op: Literal["add", "min", "max", "smin", "smax", "and", "or", "xor"]) -> U32:
        """Over the active lanes (uniform)."""

    # Control flow.  Only lanes in `active` take part.

    def branch(self, target: Label, when: Pred | None = None, uniform: bool = False) -> None:
        """uniform: all lanes go if each of them would, else none."""

    def branch_any(self, target: Label, wanted: Pred | None = None) -> None:
        """All lanes of the split go if the guard, and what is wanted besides, is true in any of them."""

    def branch_unless_mask(self, mask: U32, target: Label, equal: bool) -> None:
        """BRA.DIV (equal False): go if the split lacks a lane of mask; BRA.CONV (True): if it lacks none."""

    def jump(self, low: U32, high: U32, base: int = 0) -> None:
        """To the code address that each lane holds, plus base; lanes with different targets diverge."""

    def call(self, target: Label) -> None: ...

    def exit(self, when: Pred | None = None) -> None:
        """The active lanes, of these only those with `when`, are done."""

    def trap(self) -> None: ...

    def set_barrier(self, barrier: Register) -> None:
        """BSSY: the lanes of this split will reconverge at `barrier`."""

    def reconverge(self, barrier: Register) -> None:
        """BSYNC: wait for the lanes of `barrier`, go on together."""

    def leave(self, barrier: Register, when: Pred | None = None) -> None:
        """BREAK: the active lanes, of these only those with `when`, are no longer waited for."""

    def barrier_mask(self, barrier: Register) -> U32: ...

    def set_barrier_mask(self, barrier: Register, mask: U32) -> None: ...

    def converge(self, mask: U32 | None) -> None:
        """WARPSYNC: wait for all non-exited lanes of mask (None: all lanes), go on together."""

    def converge_by_mask(self, mask: U32) -> None:
        """WARPSYNC.EXCLUSIVE: the same, but lanes with other masks do not continue with those of mask."""

    def collect(self, mask: U32, target: Label) -> None:
        """WARPSYNC.COLLECTIVE: when the lanes of mask have arrived they run the next instructions as one."""

    def end_collective(self) -> None: ...

    def yields(self) -> None:
        """Let other splits and warps run."""

    def waits_until(self, p: Pred) -> None:
        """If p is false in all active lanes other warps run, and the instruction is executed again; it is
        counted once.  It must be a basic block of its own (sass/flow_graph.py)."""

    def block_barrier(
        self,
        index: U32 | int,
        threads: U32 | int | None,
        *,
        waits: bool = True,
        reduces: Literal["popc", "and", "or"] | None = None,
        p: Pred | None = None,
    ) -> None: ...

    def cluster_arrive(self) -> None:
        """The active lanes are at the cluster's barrier; they go on."""

    def cluster_wait(self) -> None:
        """Until all threads of the cluster have arrived."""

    def barrier_result(self) -> tuple[U32, Pred]:
        """Of the last reducing barrier: the count, and the and/or (uniform)."""

    def fence(self) -> None: ...
    def commit_copies(self) -> None: ...
    def wait_for_copies(self, groups: int) -> None: ...
    def wait_for_products(self, groups: int) -> None: ...
