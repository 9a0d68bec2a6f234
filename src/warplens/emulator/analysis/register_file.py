"""Register file: the representation of each register (uniform, affine, varying) on reads and writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from warplens.core.program import Register
from warplens.emulator.analysis.affine import AffineEmitter, AffineValue, HighWord, signed
from warplens.emulator.analysis.liveness import Liveness
from warplens.emulator.analysis.operands import Operands
from warplens.emulator.analysis.uniformity_lattice import UNIFORM, VARYING, Name, State, Uniformity, uniformity_at
from warplens.isa.dsl.lanes import U32, U64, Lanes, Pred
from warplens.isa.dsl.warp_interface import Data

Form = Literal["uniform", "affine", "pair", "varying"]
PARTS: dict[Form, int] = {"uniform": 1, "affine": 3, "pair": 3, "varying": 1}


class RegisterFile(Operands):
    """Registers of R, UR, P, UP and B: their representation; subclasses hold the values.

    `split`: only a part of the warp may be running; then a result can only be varying.  `shared` are the registers that
    lanes of other splits may still read, `free` the guarded writes, by instruction, that may be made
    in all lanes.
    """

    def __init__(self, emitter: AffineEmitter) -> None:
        self.e = emitter
        self.shapes: dict[Name, Uniformity] = {}
        self.split = False
        self.shared: frozenset[Name] = frozenset()
        self.free: frozenset[tuple[int, Name]] = frozenset()
        self.flow: Liveness[Any] = Liveness()

    # Storage

    def fetch(self, name: Name, form: Form, part: int) -> Any:
        raise NotImplementedError

    def put(self, name: Name, form: Form, part: int, node: Any) -> None:
        raise NotImplementedError

    def blended(self, lanes: Any, new: Any, old: Any) -> Any:
        """`new` in these lanes, `old` in the others; vectors."""
        raise NotImplementedError

    def trust(self, linear: AffineValue) -> None:
        """Called before the parts of this value are used: emits its overflow guards."""

    # Reading

    def begin(self, block: Any, state: State, split: bool) -> None:
        self.shapes, self.split = dict(state), split
        self.flow.begin(block)

    def word(self, file: str, index: int) -> Any:
        if index < 0:
            return self.immediate(U32, 0)
        self.flow.reads((file, index))
        return self._held((file, index))

    def _held(self, name: Name) -> Any:
        shape = uniformity_at(self.shapes, name)
        match shape.kind:
            case "uniform" if shape.known is not None:
                return self.immediate(Pred if name[0] == "P" else U32, shape.known)
            case "uniform":
                return self.fetch(name, "uniform", 0)
            case "affine":
                return AffineValue(32, self._parts(name, "affine", shape))
            case "low":
                whole = self._pair_at(name, shape)
                return self.e.line_truncate(U32, (), [whole])
            case "high":
                low = (name[0], name[1] - 1)
                return HighWord(self._pair_at(low, uniformity_at(self.shapes, low)))
        return self.fetch(name, "varying", 0)

    def _pair_at(self, name: Name, shape: Uniformity) -> AffineValue:
        return AffineValue(64, self._parts(name, "pair", shape), origin=name)

    def _parts(self, name: Name, form: Form, shape: Uniformity) -> tuple[Any, Any, Any]:
        steps = (self.fetch(name, form, k) if s is None else s for k, s in enumerate(shape.steps, 1))
        base = self.fetch(name, form, 0)
        x, y = steps
        return base, x, y

    # Writing

    def write(self, target: Register, value: Any, active: Any, condition: Any) -> None:
        """Stores a result in the active lanes; `condition` is the guard, None if there is none."""
        if target.index < 0:
            return
        if isinstance(value, Data):
            nodes = [w.node for w in value.words]
        elif isinstance(value, Pred):
            nodes = [value.node]
        elif value.bits == 64:
            whole = value.bitcast(U64)
            nodes = [whole.low().node, whole.high().node]
        else:
            nodes = [value.bitcast(U32).node]
        names: list[Name] = [(target.file, target.index + k) for k in range(len(nodes))]
        if condition is not None and all((self.flow.index, name) in self.free for name in names):
            active, condition = None, None
        if len(nodes) == 2 and condition is None and self._write_pair(names, nodes):
            return
        for name, node in zip(names, nodes, strict=True):
            self._write_word(name, node, active, condition)

    def _write_pair(self, names: list[Name], nodes: list[Any]) -> bool:
        low, high = nodes
        if self.split or names[0][0] != "R" or not isinstance(low, AffineValue) or not isinstance(high, HighWord):
            return False
        if not high.whole.is_(low.whole):
            return False
        self.trust(high.whole)
        for name in names:
            self._split_pair(name)
            self.flow.writes(name)
        base, *steps = high.whole.parts
        self.put(names[0], "pair", 0, base)
        known = self._put_steps(names[0], "pair", steps)
        self.shapes[names[0]] = Uniformity("low", None, known)
        self.shapes[names[1]] = Uniformity("high", None, known)
        return True

    def _put_steps(self, name: Name, form: Form, steps: Iterable[Any]) -> tuple[int | None, int | None]:
        known: list[int | None] = []
        for part, step in enumerate(steps, 1):
            if isinstance(step, int):
                known.append(signed(step, 64 if form == "pair" else 32))
            else:
                known.append(None)
                self.put(name, form, part, step)
        x, y = known
        return x, y

    def _write_word(self, name: Name, node: Any, active: Any, condition: Any) -> None:
        e, file = self.e, name[0]
        self._split_pair(name)
        self.flow.writes(name)
        if file in ("UR", "UP"):
            self._write_uniform(name, node, active, condition)
            return
        if self.split or not (condition is None or e.is_scalar(condition)):
            self._write_varying(name, node, active, condition)
            return
        if condition is not None:
            chosen = Pred(e, condition)
            kind = Pred if file == "P" else U32
            node = chosen.choose(kind(e, node), kind(e, self._held(name))).node
        if isinstance(node, AffineValue):
            base, *steps = node.parts
            self.put(name, "affine", 0, base)
            self.shapes[name] = Uniformity("affine", None, self._put_steps(name, "affine", steps))
        elif not isinstance(node, HighWord) and e.is_scalar(node):
            known = e.known(node)
            if known is None:
                self.put(name, "uniform", 0, node)
            self.shapes[name] = Uniformity("uniform", known)
        else:
            self.put(name, "varying", 0, e.vector_of(node))
            self.shapes[name] = VARYING

    def _write_varying(self, name: Name, node: Any, active: Any, condition: Any) -> None:
        """Inactive lanes keep their values: those of other splits as varying, those of this one in the current form."""
        value = self.e.vector_of(node)
        if self.split and name in self.shared:
            old = self.fetch(name, "varying", 0)
            if condition is not None and uniformity_at(self.shapes, name) != VARYING:
                old = self.blended(None, self.e.vector_of(self._held(name)), old)
            value = self.blended(active, value, old)
        elif condition is not None:
            value = self.blended(active, value, self.e.vector_of(self._held(name)))
        self.put(name, "varying", 0, value)
        self.shapes[name] = VARYING

    def _write_uniform(self, name: Name, node: Any, active: Any, condition: Any) -> None:
        self.put(name, "uniform", 0, self.uniform(node, active, condition, lambda: self.fetch(name, "uniform", 0)))

    def uniform(self, node: Any, active: Any, condition: Any, old: Any) -> Any:
        """The value of a register of the uniform datapath; `old()` where no lane is active."""
        raise NotImplementedError

    def take_from(self, barrier: Register, staying: U32) -> None:
        """Lanes leave a convergence barrier, in whichever form its mask is held."""
        name = (barrier.file, barrier.index)
        shape = uniformity_at(self.shapes, name)
        self.put(name, "varying" if shape == VARYING else "uniform", 0, staying.node)
        self.shapes[name] = VARYING if shape == VARYING else UNIFORM

    def _split_pair(self, name: Name) -> None:
        """Half of a 64-bit affine value is about to be written: the other half becomes a value of its own."""
        file, index = name
        shape = uniformity_at(self.shapes, name)
        if shape.kind == "low":
            other = (file, index + 1)
            self._to_varying(other)
        elif shape.kind == "high":
            other = (file, index - 1)
            if self.split:
                self._to_varying(other)
                return
            low = self._held(other)
            self.put(other, "affine", 0, low.parts[0])
            self.shapes[other] = Uniformity("affine", None, self._put_steps(other, "affine", low.parts[1:]))

    def _to_varying(self, name: Name) -> None:
        value = self.e.vector_of(self._held(name))
        if self.split and name in self.shared:
            value = self.blended(None, value, self.fetch(name, "varying", 0))
        self.put(name, "varying", 0, value)
        self.shapes[name] = VARYING

    # Transition to a block with other representations

    def convert(self, to: State, live: Iterable[Name], lanes: Any) -> None:
        """Converts every live register to its form at the target; `lanes` move, or None: the whole warp."""
        for name in sorted(self._with_low_words(live, to)):
            shape, wanted = uniformity_at(self.shapes, name), uniformity_at(to, name)
            if shape == wanted or wanted.kind == "high":
                continue
            value = self._held(name)
            match wanted.kind:
                case "varying":
                    value = self.e.vector_of(value)
                    if lanes is not None:
                        value = self.blended(lanes, value, self.fetch(name, "varying", 0))
                    self.put(name, "varying", 0, value)
                case "uniform":
                    self.put(name, "uniform", 0, value)
                case "affine":
                    self._put_affine(name, "affine", self.e.line(value), wanted)
                case "low":
                    high = self._held((name[0], name[1] + 1))
                    whole = self.e.do("join", U64, self._u32(value), self._u32(high))
                    self._put_affine(name, "pair", self.e.line(whole), wanted)

    def conversions(self, targets: Iterable[tuple[State, Iterable[Name]]]) -> frozenset[tuple[Any, ...]]:
        """The live registers of these targets, with their forms here and there: equal for equal code of convert()."""
        return frozenset(
            (number, name, uniformity_at(self.shapes, name), uniformity_at(to, name))
            for number, (to, live) in enumerate(targets)
            for name in self._with_low_words(live, to)
        )

    def _u32(self, node: Any) -> Lanes:
        return U32(self.e, node)

    def _put_affine(self, name: Name, form: Form, parts: Any, wanted: Uniformity) -> None:
        kind = U64 if form == "pair" else U32
        self.put(name, form, 0, parts[0])
        for part, (step, known) in enumerate(zip(parts[1:], wanted.steps, strict=True), 1):
            if known is None:
                self.put(name, form, part, self.e.scalar(kind, step).node)

    def _with_low_words(self, live: Iterable[Name], to: State) -> set[Name]:
        """A high word is kept with its low word."""
        names = set(live)
        return names | {(f, n - 1) for f, n in names if uniformity_at(to, (f, n)).kind == "high"}


__all__ = ["PARTS", "UNIFORM", "Form", "RegisterFile"]
