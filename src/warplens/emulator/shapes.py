"""Finds out before translation what form each register has at the start of each block, and where lanes may be apart.

The sentences of isa/ are run once more, over tokens that say only "one number" or "many"; lines are kept as lines by
the same rules as in code (linear.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warplens.emulator.convergence import UNKNOWN, Convergence, left_early, meetings, only_clears, parts
from warplens.emulator.linear import HighWord, Linear, LinearEmitter
from warplens.emulator.liveness import Name
from warplens.emulator.predicate_file import PredicateFile
from warplens.emulator.register_file import Form, RegisterFile
from warplens.emulator.shape import MANY, State, joined
from warplens.isa._decode import Binding
from warplens.isa._lanes import U32, U64, Lanes, Pred
from warplens.isa._warp import Data
from warplens.program import Address, Block, Constant, Instruction, Operand, Program, Register

TILE = {"SR_TID.X": (1, 0), "SR_TID.Y": (0, 1), "SR_TID.Z": (0, 0)}


@dataclass(frozen=True)
class One:
    """A number, the same in all lanes."""

    known: int | None = None


class Many:
    """32 numbers."""


MANY_NUMBERS = Many()


class ShapeEmitter(LinearEmitter):
    """Primitives over tokens."""

    def do(self, primitive: str, kind: type[Lanes], *args: Any, **how: Any) -> Any:
        for a in args:
            if a.node is not MANY_NUMBERS:
                return super().do(primitive, kind, *args, **how)
        return MANY_NUMBERS

    def leaf(self, primitive: str, kind: type[Lanes], *args: Any, **how: Any) -> Any:
        return MANY_NUMBERS if any(isinstance(a.node, Many) for a in args) else One()

    def constant(self, kind: type[Lanes], value: float | int) -> One:
        return One(int(value) & ((1 << kind.bits) - 1)) if isinstance(value, int) else One()

    def known(self, node: Any) -> int | None:
        return node.known if isinstance(node, One) else None

    def is_scalar(self, node: Any) -> bool:
        return isinstance(node, One)

    def vector_of(self, node: Any) -> Any:
        return MANY_NUMBERS if isinstance(node, Linear | HighWord) else node


class ShapeRegisters(RegisterFile):
    """Registers that hold tokens."""

    def fetch(self, name: Name, form: Form, part: int) -> Any:
        return MANY_NUMBERS if form == "many" else One()

    def put(self, name: Name, form: Form, part: int, node: Any) -> None:
        """Nothing to hold: the shape says it all."""

    def blended(self, lanes: Any, new: Any, old: Any) -> Any:
        return MANY_NUMBERS

    def uniform(self, node: Any, active: Any, condition: Any, old: Any) -> Any:
        return One()

    def immediate(self, kind: type[Lanes], bits: int) -> One:
        return One(bits & ((1 << kind.bits) - 1))

    def doubt(self, target: Register, words: int) -> None:
        """Something may be written to the register and those behind it."""
        for k in range(words if target.index >= 0 and target.file == "R" else 1):
            name = (target.file, target.index + k)
            self._part_from_neighbours(name)
            self.shapes[name] = MANY

    def constant(self, at: Constant, size: int) -> list[U32]:
        index = One() if at.index is None else self.word(at.index.file, at.index.index)
        token = One() if self.e.is_scalar(index) else MANY_NUMBERS
        return [U32(self.e, token) for _ in range(max(size // 4, 1))]


class ShapeWarp(PredicateFile):
    """The warp as far as shapes go.  What is not said here gives 32 numbers and may read all that it names."""

    def __init__(self, walk: _Walk, at: Instruction, condition: Any) -> None:
        self.registers, self.tile, self.meetings = walk.registers, walk.tile, walk.meetings
        self.e: Any = self.registers.e
        self.at = at
        self.condition = condition
        self._active = None

    def _one(self) -> U32:
        return U32(self.e, One())

    def _many(self, count: int = 1) -> Data:
        return Data([U32(self.e, MANY_NUMBERS)] * count)

    @property
    def active(self) -> Pred:
        return Pred(self.e, MANY_NUMBERS)

    @property
    def lane(self) -> U32:
        return U32(self.e, MANY_NUMBERS)

    def special(self, name: str) -> U32:
        return U32(self.e, tile_line(self.tile, name, lambda: One()) or (One() if one_number(name) else MANY_NUMBERS))

    def clock(self) -> Any:
        return U64(self.e, One())

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
        return One() if all(self.e.is_scalar(w.node) for w in words) else MANY_NUMBERS

    def load(self, space: str, at: Address, bytes: int, signed: bool = False, volatile: bool = False) -> Data:
        together = self.condition is None or self.e.is_scalar(self.condition)
        same = isinstance(self.address(at), One) and space in ("global", "shared") and together
        count = max(bytes // 4, 1)
        return Data([self._one()] * count) if same else self._many(count)

    def store(self, space: str, at: Address, data: Data, bytes: int) -> None:
        self.address(at)

    def atomic(
        self, space: str, op: str, at: Address, value: Data, *, compare: Data | None = None, kind: str = "u32",
        returns: bool = True, only: str | None = None, together: bool = False,
    ) -> Data:  # fmt: skip
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

    def once(self, key: str, words: int, formula: Any, *runs: Data) -> Data:
        return self._many(words)

    def is_in(self, space: str, at: Address) -> Pred:
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
        return self._one(), Pred(self.e, One())

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
    converge = converge_apart = collect = end_collective = block_barrier = fence = _nothing


def one_number(name: str) -> bool:
    """Whether a special register is the same in all lanes of a warp."""
    return not name.startswith(("SR_TID", "SR_LANEID")) and "MASK" not in name


def tile_line(tile: int, name: str, base: Callable[[], Any]) -> Linear | None:
    """threadIdx as a line over the tile; None if it is none, or there is no tile."""
    if not tile or name not in TILE:
        return None
    return Linear(32, (base(), *TILE[name]))


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """The start of a block, in the copy for a whole warp or in the one for lanes that may be apart.

    A warp begins whole.  When lanes disagree it goes over to the other copy, and stays there.
    """

    first: int
    whole: bool = False


@dataclass(frozen=True)
class Shapes:
    """What is known at each place."""

    states: Mapping[Place, State]
    split: Mapping[Place, bool]  # whether a part of the warp may be there by itself
    leaves_whole: Mapping[Place, bool]  # whether all lanes leave the block at once
    live: Mapping[Place, frozenset[Name]]
    free: Mapping[Place, frozenset[tuple[int, Name]]]  # guarded writes that may be made in all lanes


def shapes(
    program: Program, bindings: Sequence[Binding | None], blocks: Sequence[Block], tile: int,
    successors: Mapping[int, Sequence[int]],
) -> Shapes:  # fmt: skip
    """`tile`: how many lanes stand side by side along x; 0: nothing is assumed of threadIdx."""
    walk = _Walk(program, bindings, tile)
    by_start = {block.first: block for block in blocks}
    if walk.unknown:
        places = [Place(start) for start in sorted(by_start)]
        for place in places:
            walk.through(place, by_start[place.first], {}, Convergence(True))
        states: dict[Place, State] = {place: _all_many(walk.registers) for place in places}
        flow = {place: [Place(t) for t in successors[place.first]] for place in places}
        return walk.result(states, dict.fromkeys(places, True), dict.fromkeys(places, False), flow)
    walk.find_free(blocks, successors)
    start = Place(0, whole=True)
    states, leaves_whole, flow = {start: {}}, {}, {}
    convergence = {start: Convergence(False)}
    edges: dict[Place, dict[Place, tuple[State, bool]]] = {}
    todo = {start}
    while todo:
        # Whole warps first: what is known of them depends on nothing that happens apart.
        place = min(todo, key=lambda p: (not p.whole, p.first))
        todo.remove(place)
        after, apart = walk.through(place, by_start[place.first], states[place], convergence[place])
        state = dict(walk.registers.shapes)
        leaves_whole[place] = place.whole or not (convergence[place].split or after.split)
        ways = [(Place(t, place.whole), after, leaves_whole[place]) for t in successors[place.first]]
        if place.whole and apart:
            ways += [(Place(t), Convergence(True), False) for t in successors[place.first]]
        flow[place] = sorted({target for target, _, _ in ways})
        for target, converged, whole in ways:
            met = converged.join(convergence.get(target, converged))
            here = edges.setdefault(target, {})
            here[place] = (state, whole)
            meeting = joined([*here.values(), (states.get(target, state), True), *([({}, True)] * (target == start))])
            if target not in states or meeting != states[target] or met != convergence[target]:
                states[target], convergence[target] = meeting, met
                todo.add(target)
    split = {place: convergence[place].split for place in states}
    return walk.result(states, split, leaves_whole, flow)


def _all_many(registers: RegisterFile) -> State:
    return dict.fromkeys(registers.flow.names(), MANY)


class _Walk:
    """Blocks, one after the other, over tokens."""

    def __init__(self, program: Program, bindings: Sequence[Binding | None], tile: int) -> None:
        self.program = program
        self.bindings = bindings
        self.tile = tile
        self.registers = ShapeRegisters(ShapeEmitter())
        self.left, self.meetings = left_early(program), meetings(program)
        self.free: dict[int, frozenset[tuple[int, Name]]] = {}
        self.unknown = any(i.base in UNKNOWN and not only_clears(i) for i in program.instructions)

    def find_free(self, blocks: Sequence[Block], successors: Mapping[int, Sequence[int]]) -> None:
        for block in blocks:
            self.through(Place(block.first), block, {}, Convergence(True))
        flow = self.registers.flow
        live = flow.live({Place(b.first): [Place(t) for t in successors[b.first]] for b in blocks})
        for block in blocks:
            after = set().union(*(live[Place(t)] for t in successors[block.first] if Place(t) in live))
            self.free[block.first] = flow.free(Place(block.first), after)
        flow.events.clear()

    def through(self, place: Place, block: Block, state: State, before: Convergence) -> tuple[Convergence, bool]:
        """What holds behind the block, and whether lanes may have parted in it."""
        here = before
        parted = False
        self.registers.begin(place, state, before.split)
        self.registers.free = self.free.get(place.first, frozenset())
        for index in range(block.first, block.last + 1):
            at = self.program.instructions[index]
            apart = self._instruction(at)
            here = here.step(at, self.left, apart)
            parted = parted or parts(at, apart)
        return Convergence(False) if place.whole else here, parted

    def _instruction(self, at: Instruction) -> bool:
        """Whether lanes may disagree about it."""
        binding = self.bindings[at.index]
        if binding is None or at.base == "NOP":
            return True
        registers = self.registers
        registers.flow.at(at.index, None)
        condition = None if at.guard is None else registers.predicate(at.guard)
        registers.flow.at(at.index, at.guard)
        apart = [condition] if condition is not None else []
        apart += [registers.predicate(o) for o in at.operands if isinstance(o, Register) and o.file == "P"]
        try:
            result: tuple[Any, ...] | None = self._result(at, binding, condition)
        except AttributeError:
            # A word of the warp that says nothing of shapes: it may read whatever stands near what it names.
            for operand in at.operands:
                for register in named(operand):
                    registers.run(register, 8 if register.file in ("R", "UR") else 1)
            result = None
        for number, target in enumerate(binding.targets):
            if target is not None and result is not None:
                registers.write(target, result[number], None, condition)
            elif target is not None:
                registers.doubt(target, 8 if binding.op.results[number] is Data else 2)
        return any(not registers.e.is_scalar(p) for p in apart)

    def _result(self, at: Instruction, binding: Binding, condition: Any) -> tuple[Any, ...]:
        registers = self.registers
        arguments = [registers.read(source, operand, at) for source, operand in binding.sources]
        if binding.op.takes_warp:
            for value in arguments:
                if isinstance(value, Lanes):
                    value.node = registers.e.vector_of(value.node)
            arguments.insert(0, ShapeWarp(self, at, condition))
        result = binding.op.body(*arguments, **binding.modifiers)
        return result if isinstance(result, tuple) else (result,)

    def result(
        self, states: Mapping[Place, State], split: Mapping[Place, bool], leaves_whole: Mapping[Place, bool],
        flow: Mapping[Place, Sequence[Place]],
    ) -> Shapes:  # fmt: skip
        live = self.registers.flow.live(flow)
        known = {place: frozenset(names) for place, names in live.items()}
        free = {place: self.free.get(place.first, frozenset()) for place in states}
        return Shapes(states, split, leaves_whole, known, free)


def named(operand: Operand | None) -> list[Register]:
    """The registers in an operand."""
    match operand:
        case Register():
            return [operand]
        case Address():
            return [r for r in (operand.base, operand.uniform) if r is not None]
        case Constant():
            return [operand.index] if operand.index is not None else []
    return []
