"""What a program does, statement by statement, for all threads at once: slow, obvious, and without machine code.

Every variable is an array over the threads of the grid, warps filled up to 32 with lanes that are never on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from random_programs.arithmetic import bits_of
from random_programs.collectives import COLLECTIVES
from random_programs.memory import (
    CELLS,
    TABLE,
    VECTOR_WORDS,
    WITH_RESULT,
    WITHOUT_RESULT,
    Buffers,
    start_cells,
)  # fmt: skip
from random_programs.tree import (
    Apply,
    Assign,
    Atomic,
    Block,
    Both,
    Call,
    Collective,
    Const,
    Count,
    Declare,
    Emit,
    Exchange,
    Expr,
    Fetch,
    If,
    Leave,
    Load,
    LoadVector,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    StoreVector,
    Switch,
    Var,
)  # fmt: skip
from random_programs.words import DTYPES, WORDS

Array = NDArray[Any]
STEPS = 20_000  # statements and calls: a longer program is not worth its time


class TooLong(Exception):
    pass


@dataclass
class Frame:
    """The variables of one call, and the lanes that have left: the call, the loop around, this turn of it."""

    arrays: dict[str, Array]
    returned: Array
    variables: dict[str, Array] = field(default_factory=dict)
    broken: Array | None = None
    continued: Array | None = None
    result: Array | None = None


class Interpreter:
    def __init__(self, program: Program, buffers: Buffers) -> None:
        self.program, self.buffers = program, buffers
        self.padded = -(-program.threads // 32) * 32
        number = np.arange(program.blocks * self.padded)
        self.lanes, self.blocks = number.size, program.blocks
        self.linear, self.block = (number % self.padded).astype(np.uint32), number // self.padded
        self.exists = self.linear < program.threads
        self.gid = np.where(self.exists, self.block * program.threads + self.linear, 0)
        self.slots = np.zeros((self.blocks, self.padded), np.uint32)
        self.slots[:] = np.arange(self.padded)
        self.shared_cells = np.tile(start_cells(np.uint32), (self.blocks, 1))
        self.functions = {f.name: f for f in program.functions}
        self.steps = 0

    def run(self) -> None:
        """Leaves the results in the buffers.  TooLong if it takes too many steps."""
        p = self.program
        frame = Frame(self.arrays(), np.zeros(self.lanes, bool))
        x, y, _ = p.block
        v = frame.variables
        v["linear"], v["tx"], v["ty"] = (
            self.linear,
            self.linear % np.uint32(x),
            self.linear // np.uint32(x) % np.uint32(y),
        )
        v["bx"] = (self.block % p.grid[0]).astype(np.uint32)
        for name in ("pu", "pl", "pf"):
            v[name] = np.full(self.lanes, getattr(self.buffers, name))
        with np.errstate(all="ignore"):
            on = self.statements(p.body, self.exists, frame)
            if p.uses("shared_cells"):
                self.add_cells(on)
        own = frame.arrays["own"]
        self.buffers.own[: own.shape[1] * p.threads * p.blocks].reshape(-1, own.shape[1])[self.gid[self.exists]] = own[
            self.exists
        ]

    def arrays(self) -> dict[str, Array]:
        """[lane, element]"""
        arrays = {}
        for name, (element, count) in self.program.elements.items():
            arrays[name] = np.zeros((self.lanes, count), DTYPES[element])
            if name == "own":
                arrays[name][:] = self.buffers.own[: self.program.threads * self.blocks * count].reshape(-1, count)[
                    self.gid
                ]
            if name == "mine":
                first = self.linear[:, None] * np.uint32(7) + np.arange(count, dtype=np.uint32)
                arrays[name][:] = first.astype(DTYPES[element])
        return arrays

    def add_cells(self, on: Array) -> None:
        for cell in range(self.shared_cells.shape[1]):
            mine = on & (self.linear % self.program.threads == cell % self.program.threads)
            self.buffers.out[self.gid[mine]] ^= self.shared_cells[self.block[mine], cell] * np.uint32(cell + 1)

    # --- expressions ---

    def expr(self, e: Expr, on: Array, frame: Frame) -> Array:
        """Right where `on`; anything elsewhere."""
        match e:
            case Const():
                return np.full(self.lanes, self.const(e))
            case Var():
                return frame.variables[e.name]
            case Apply():
                return WORDS[e.word].meaning(*(self.expr(a, on, frame) for a in e.args))
            case Select():
                condition = self.expr(e.condition, on, frame)
                return np.where(
                    condition, self.needed(e.yes, on & condition, frame), self.needed(e.no, on & ~condition, frame)
                )
            case Both():
                a = self.expr(e.a, on, frame)
                return a & self.needed(e.b, on & a, frame) if e.word == "&&" else a | self.needed(e.b, on & ~a, frame)
            case Load():
                array, row, index = self.place(e.array, self.expr(e.index, on, frame), frame)
                return array[row, index].astype(DTYPES[e.type])
            case Call():
                return self.call(e, on, frame)

    def needed(self, e: Expr, on: Array, frame: Frame) -> Array:
        return self.expr(e, on, frame) if on.any() else np.zeros(self.lanes, DTYPES[e.type])

    def const(self, e: Const) -> Any:
        if e.type == "bool":
            return np.bool_(e.bits)
        size = int(e.type[1:]) // 8
        return np.frombuffer(e.bits.to_bytes(size, "little"), f"{e.type[0]}{size}")[0]

    def place(self, array: str, index: Array, frame: Frame) -> tuple[Array, Any, Array]:
        if array == "table":
            return np.array([TABLE], np.uint32), 0, index % len(TABLE)
        if array.startswith("in."):
            whole = self.buffers.source.view(DTYPES[array[3:]])[None]
            return whole, 0, index % np.uint32(whole.size)
        own = frame.arrays[array]
        return own, np.arange(self.lanes), index % np.uint32(own.shape[1])

    def call(self, e: Call, on: Array, frame: Frame) -> Array:
        self.step()
        f = self.functions[e.function]
        values = [self.expr(a, on, frame) for a in e.args]
        arrays = {"local": np.zeros((self.lanes, f.local[1]), DTYPES[f.local[0]])} if f.local else {}
        inner = Frame(arrays, np.zeros(self.lanes, bool), result=np.zeros(self.lanes, DTYPES[f.type]))
        inner.variables = {p.name: v.copy() for p, v in zip(f.parameters, values, strict=True)}
        left = self.statements(f.body, on, inner)
        assert inner.result is not None
        if left.any():
            np.copyto(inner.result, self.expr(f.result, left, inner), where=left)
        return inner.result

    # --- statements ---

    def step(self) -> None:
        self.steps += 1
        if self.steps > STEPS:
            raise TooLong

    def statements(self, block: Block, on: Array, frame: Frame) -> Array:
        """The lanes that come out at the end."""
        for s in block:
            if not on.any():
                break
            self.step()
            on = self.statement(s, on, frame)
        return on

    def statement(self, s: Stmt, on: Array, frame: Frame) -> Array:
        match s:
            case If():
                condition = self.expr(s.condition, on, frame)
                then = self.statements(s.then, on & condition, frame)
                return then | self.statements(s.otherwise, on & ~condition, frame)
            case Loop():
                return self.loop(s, on, frame)
            case Leave():
                return self.leave(s, on, frame)
            case Switch():
                return self.switch(s, on, frame)
            case Declare() | Collective() | Exchange() | Count() | Fetch():
                frame.variables[s.name] = np.array(self.value_of(s, on, frame))
            case LoadVector():
                n = len(s.names)
                words = self.buffers.source.view(np.uint32).reshape(-1, n)
                vector = words[self.expr(s.index, on, frame) % np.uint32(len(words))]
                frame.variables.update({name: vector[:, k].copy() for k, name in enumerate(s.names)})
            case _:
                self.effect(s, on, frame)
        return on

    def value_of(self, s: Declare | Collective | Exchange | Count | Fetch, on: Array, frame: Frame) -> Array:
        match s:
            case Declare():
                return self.expr(s.value, on, frame)
            case Collective():
                args = (self.expr(a, on, frame).reshape(-1, 32) for a in s.args)
                return COLLECTIVES[s.word].meaning(on.reshape(-1, 32), *args).reshape(-1)
            case Exchange():
                value, index = self.expr(s.value, on, frame), self.expr(s.index, on, frame)
                self.slots[self.block[on], self.linear[on]] = value[on]
                return self.slots[self.block, index % np.uint32(self.program.threads)]
            case Count():
                condition = (self.expr(s.condition, on, frame) & on).reshape(self.blocks, -1)
                here = on.reshape(self.blocks, -1)
                what = {"count": condition.sum(1), "and": (condition | ~here).all(1), "or": condition.any(1)}[s.word]
                return np.repeat(what, self.padded).astype(np.uint32)
            case Fetch():
                args = [self.expr(a, on, frame) for a in s.args]
                array, row, index = self.place(s.array, self.expr(s.index, on, frame), frame)
                old = array[row, index]
                array[row[on], index[on]] = WITH_RESULT[s.word].meaning(old, *args)[on]
                return old

    def effect(self, s: Stmt, on: Array, frame: Frame) -> None:
        match s:
            case Assign():
                np.copyto(frame.variables[s.name], self.expr(s.value, on, frame), where=on)
            case Store():
                value = self.expr(s.value, on, frame)
                array, row, index = self.place(s.array, self.expr(s.index, on, frame), frame)
                array[row[on], index[on]] = value[on].astype(array.dtype)
            case StoreVector():
                n = len(s.values)
                place = self.gid * (VECTOR_WORDS // n) + self.expr(s.index, on, frame) % (VECTOR_WORDS // n)
                values = np.stack([self.expr(v, on, frame) for v in s.values], 1)
                self.buffers.vectors.reshape(-1, n)[place[on]] = values[on]
            case Emit():
                value = self.expr(s.value, on, frame)
                bits = bits_of(value) if value.dtype.kind == "f" else value.view(f"u{value.itemsize}")
                if bits.itemsize == 8:
                    bits = bits ^ bits >> np.uint64(32)
                place = self.gid[on] + s.slot * self.program.threads * self.blocks
                self.buffers.out[place] = self.buffers.out[place] * np.uint32(33) ^ bits[on].astype(np.uint32)
            case Atomic():
                self.atomic(s, on, frame)

    def atomic(self, s: Atomic, on: Array, frame: Frame) -> None:
        operation = WITHOUT_RESULT[s.word]
        value = self.expr(s.value, on, frame)
        cell = list(WITHOUT_RESULT).index(s.word) * CELLS + self.expr(s.index, on, frame) % CELLS
        cells = self.shared_cells if s.array == "shared_cells" else getattr(self.buffers, s.array)
        place = (self.block[on], cell[on]) if s.array == "shared_cells" else cell[on]
        operation.ufunc.at(cells.view(value.dtype), place, value[on])

    # --- control flow ---

    def loop(self, s: Loop, on: Array, frame: Frame) -> Array:
        outer = frame.broken, frame.continued
        frame.broken = np.zeros(self.lanes, bool)
        count, turn = self.expr(s.count, on, frame), np.zeros(self.lanes, np.uint32)
        frame.variables[s.counter] = turn
        live, first = on, s.form == "do"
        while live.any():
            if not first:
                live = live & (turn < count)
                live = live & self.needed(s.condition, live, frame)
                if not live.any():
                    break
            first = False
            turn[live] += np.uint32(1)
            frame.continued = np.zeros(self.lanes, bool)
            self.step()
            live = self.statements(s.body, live, frame) | frame.continued
        frame.broken, frame.continued = outer
        return on & ~frame.returned

    def leave(self, s: Leave, on: Array, frame: Frame) -> Array:
        gone = on & self.expr(s.condition, on, frame)
        match s.how:
            case "return":
                frame.returned = frame.returned | gone
                if s.value is not None and frame.result is not None and gone.any():
                    np.copyto(frame.result, self.expr(s.value, gone, frame), where=gone)
            case "break":
                assert frame.broken is not None
                frame.broken |= gone
            case "continue":
                assert frame.continued is not None
                frame.continued |= gone
        return on & ~gone

    def switch(self, s: Switch, on: Array, frame: Frame) -> Array:
        most = 3 if len(s.cases) <= 4 else 7
        chosen = np.minimum(self.expr(s.value, on, frame) & np.uint32(most), np.uint32(len(s.cases) - 1))
        running, out = np.zeros(self.lanes, bool), np.zeros(self.lanes, bool)
        for number, (block, falls) in enumerate(zip(s.cases, s.falls, strict=True)):
            running = self.statements(block, running | (on & (chosen == number)), frame)
            if not falls:
                out, running = out | running, np.zeros(self.lanes, bool)
        return out | running


def interpret(program: Program, buffers: Buffers) -> None:
    Interpreter(program, buffers).run()
