"""A seed -> a program.  Only Random.random() is used, whose numbers are the same in every version of Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from random_programs.collectives import COLLECTIVES
from random_programs.memory import CELL_ARRAYS, FETCHES, WITH_RESULT, WITHOUT_RESULT, promoted
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
    Function,
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
from random_programs.words import BY_TYPE, CHEAP, WORDS

T = TypeVar("T")
TYPES = ("u32",) * 8 + ("i32",) * 6 + ("f32",) * 5 + ("u64", "i64") * 2 + ("f64",) * 2
ELEMENTS = ("u32", "i32", "u8", "i8", "u16", "i16", "u64")
BLOCKS = (
    (32, 1, 1), (64, 1, 1), (96, 1, 1), (31, 1, 1), (33, 1, 1), (40, 1, 1), (5, 1, 1), (7, 5, 2), (3, 11, 1),
    (8, 4, 2), (16, 4, 1), (1, 1, 5), (2, 2, 2), (17, 3, 1), (4, 4, 4),
)  # fmt: skip
GRIDS = ((1, 1, 1), (1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2))
CORNERS = {
    "i32": (0, 1, 2, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 31, 255),
    "u32": (0, 1, 2, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 31, 0x55555555),
    "i64": (0, 1, (1 << 64) - 1, 1 << 63, (1 << 63) - 1, 1 << 32, 0xFFFFFFFF),
    "u64": (0, 1, (1 << 64) - 1, 1 << 63, (1 << 63) - 1, 1 << 32, 0xFFFFFFFF),
    "f32": (0, 0x80000000, 0x3F800000, 0xBF800000, 0x3F000000, 0x40490FDB, 0x4F000000, 1, 0x7F7FFFFF, 0x7F800000),
    "f64": (0, 1 << 63, 0x3FF0000000000000, 0xBFE0000000000000, 0x400921FB54442D18, 0x41DFFFFFFFC00000),
}  # fmt: skip
PARAMETERS = (Var("u32", "pu"), Var("i64", "pl"), Var("f32", "pf"), Var("u32", "bx"))
THREAD = (Var("u32", "linear"), Var("u32", "tx"), Var("u32", "ty"))


@dataclass(frozen=True)
class Scope:
    """What may be said here.

    readable, assignable   variables; lockstep: those alike in the whole block
    arrays     that can be read and written: name -> C type of an element
    uniform    all threads of the block that are left come here together
    mask       the name of the lanes that are here together, if that is known
    loop       ways to leave the loop around: "break", "continue"; updates: way -> names of masks that it changes
    function   what is being written, if not the kernel itself
    """

    readable: tuple[Var, ...]
    assignable: tuple[Var, ...]
    lockstep: tuple[Var, ...]
    arrays: dict[str, str]
    uniform: bool = True
    mask: str | None = "m0"
    loop: frozenset[str] = frozenset()
    updates: tuple[tuple[str, tuple[str, ...]], ...] = ()
    function: Function | None = None
    depth: int = 0

    def inside(self, **changes: object) -> Scope:
        return replace(self, depth=self.depth + 1, **changes)  # type: ignore[arg-type]

    def apart(self) -> Scope:
        """Where only some lanes come, and nobody knows which."""
        return self.inside(uniform=False, mask=None, lockstep=())


class Generator:
    def __init__(self, seed: int) -> None:
        self.seed, self.random = seed, Random(seed)
        self.names = self.slots = 0
        self.functions: list[Function] = []

    # --- choices ---

    def below(self, n: int) -> int:
        return int(self.random.random() * n)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def choose(self, things: Sequence[T]) -> T:
        return things[self.below(len(things))]

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    # --- expressions ---

    def const(self, type: str) -> Const:
        if type == "bool":
            return Const(type, self.below(2))
        width = int(type[1:])
        if self.chance(0.4):
            return Const(type, self.choose(CORNERS[type]))
        if type in ("f32", "f64"):
            sign, spread = self.below(2) << (width - 1), (127 - 20 + self.below(40), 1023 - 20 + self.below(40))
            mantissa = self.below(1 << 23)
            return Const(type, sign | (spread[0] << 23 | mantissa if width == 32 else spread[1] << 52 | mantissa << 29))
        return Const(type, self.below(64) if self.chance(0.5) else self.below(1 << width))

    def leaf(self, type: str, scope: Scope, lockstep: bool) -> Expr:
        known = [v for v in (scope.lockstep if lockstep else scope.readable) if v.type == type]
        if known and self.chance(0.75):
            return self.choose(known)
        if type == "bool":
            return self.comparison(scope, lockstep)
        if lockstep or self.chance(0.2):
            return self.const(type)
        arrays = [(f"in.{e}", promoted(e)) for e in (*ELEMENTS, "i64", "f32", "f64")]
        arrays.append(("table", "u32"))
        arrays += [(name, promoted(e)) for name, e in scope.arrays.items()] * 3
        fitting = [name for name, t in arrays if t == type]
        return Load(type, self.choose(fitting), self.index(scope)) if fitting else self.const(type)

    def comparison(self, scope: Scope, lockstep: bool) -> Expr:
        known = scope.lockstep if lockstep else scope.readable
        variable = self.choose(known) if known else Var("u32", "bx")
        word = self.choose(("eq", "ne", "lt", "le", "gt", "ge"))
        return Apply("bool", f"{word}.{variable.type}", (variable, self.const(variable.type)))

    def index(self, scope: Scope) -> Expr:
        """Short: a variable, with a little arithmetic."""
        known = [v for v in scope.readable if v.type == "u32"]
        place: Expr = self.choose(known) if known else self.const("u32")
        if self.chance(0.4):
            return place
        word = self.choose(("add.u32", "mul.u32", "xor.u32", "shr.u32", "field"))
        rest = (Const("u32", self.below(32)) for _ in WORDS[word].args[1:])
        return Apply("u32", word, (place, *rest))

    def expr(self, type: str, scope: Scope, depth: int = 2, lockstep: bool = False) -> Expr:
        if depth == 0 or self.chance(0.15):
            return self.leaf(type, scope, lockstep)
        roll = self.random.random()
        if type == "bool" and roll < 0.25:
            word = self.choose(("&&", "||"))
            return Both(
                word, self.expr("bool", scope, depth - 1, lockstep), self.expr("bool", scope, depth - 1, lockstep)
            )
        if roll < 0.09:
            return self.select(type, scope, depth, lockstep)
        if roll < 0.14 and not lockstep and depth > 1:
            call = self.call(type, scope)
            if call is not None:
                return call
        name = self.choose(BY_TYPE[type] if self.chance(0.05) else CHEAP[type])
        return Apply(type, name, tuple(self.expr(t, scope, depth - 1, lockstep) for t in WORDS[name].args))

    def select(self, type: str, scope: Scope, depth: int, lockstep: bool) -> Expr:
        condition = self.expr("bool", scope, depth - 1, lockstep)
        yes, no = (self.expr(type, scope, depth - 1, lockstep) for _ in range(2))
        return Select(type, condition, yes, no)

    def call(self, type: str, scope: Scope) -> Expr | None:
        """A function written before; in a recursive one, itself with one call less to go."""
        own = scope.function
        if own and own.recursive and own.type == type and self.chance(0.5):
            left = own.parameters[0]
            rest = tuple(self.leaf(p.type, scope, False) for p in own.parameters[1:])
            again = Call(type, own.name, (Apply("u32", "sub.u32", (left, Const("u32", 1))), *rest))
            return Select(type, Apply("bool", "ne.u32", (left, Const("u32", 0))), again, self.leaf(type, scope, False))
        fitting = [f for f in self.functions if f.type == type]
        return self.called(self.choose(fitting), scope) if fitting else None

    def called(self, function: Function, scope: Scope) -> Call:
        args = [self.expr(p.type, scope, 1) for p in function.parameters]
        if function.recursive:
            args[0] = self.few(args[0], 3)
        return Call(function.type, function.name, tuple(args))

    def few(self, value: Expr, mask: int) -> Expr:
        return Apply("u32", "and.u32", (value, Const("u32", mask)))

    # --- statements ---

    def block(self, scope: Scope, count: int) -> Block:
        """So many statements, each of which sees the variables of those before."""
        made: list[Stmt] = []
        for _ in range(count):
            statement, scope = self.statement(scope)
            made.append(statement)
        return tuple(made)

    def statement(self, scope: Scope) -> tuple[Stmt, Scope]:
        nested = (
            [self.branch, self.branch, self.loop, self.loop, self.switch]
            if scope.depth < 3 and self.chance(0.7)
            else []
        )
        plain = [self.declare, self.assign, self.assign, self.assign, self.store]
        if not scope.function:
            plain += [self.emit, self.emit, self.vector, self.atomic, self.fetch]
        if scope.loop or (scope.depth and self.chance(0.4)):
            plain += [self.leave, self.leave]
        if scope.mask:
            plain += [self.collective] * 3
        if scope.uniform:
            plain += [self.exchange]
        return self.choose([*nested, *plain])(scope)

    def known(self, scope: Scope, *variables: Var) -> Scope:
        return replace(
            scope, readable=(*scope.readable, *variables, *variables), assignable=(*scope.assignable, *variables)
        )

    def declare(self, scope: Scope) -> tuple[Stmt, Scope]:
        variable = Var(self.choose(TYPES), self.fresh("v"))
        return Declare(variable.name, self.expr(variable.type, scope)), self.known(scope, variable)

    def assign(self, scope: Scope) -> tuple[Stmt, Scope]:
        if not scope.assignable:
            return self.declare(scope)
        variable = self.choose(scope.assignable)
        return Assign(variable.name, self.expr(variable.type, scope)), scope

    def store(self, scope: Scope) -> tuple[Stmt, Scope]:
        if not scope.arrays:
            return self.assign(scope)
        array = self.choose(tuple(scope.arrays))
        return Store(array, self.index(scope), self.expr(promoted(scope.arrays[array]), scope, 2)), scope

    def emit(self, scope: Scope) -> tuple[Stmt, Scope]:
        self.slots += 1
        return Emit(self.slots - 1, self.expr(self.choose(TYPES), scope, 2)), scope

    def vector(self, scope: Scope) -> tuple[Stmt, Scope]:
        width = self.choose((2, 4))
        if self.chance(0.5):
            return StoreVector(self.index(scope), tuple(self.expr("u32", scope, 1) for _ in range(width))), scope
        names = tuple(self.fresh("v") for _ in range(width))
        return LoadVector(names, self.index(scope)), self.known(scope, *(Var("u32", n) for n in names))

    def atomic(self, scope: Scope) -> tuple[Stmt, Scope]:
        array, word = self.choose(tuple(CELL_ARRAYS)), self.choose(tuple(WITHOUT_RESULT))
        type = CELL_ARRAYS[array]
        if WITHOUT_RESULT[word].signed:
            type = type.replace("u", "i")
        return Atomic(array, word, self.index(scope), self.expr(type, scope, 2)), scope

    def fetch(self, scope: Scope) -> tuple[Stmt, Scope]:
        able = [(name, e) for name, e in scope.arrays.items() if name != "local" and e in FETCHES]
        if not able:
            return self.atomic(scope)
        array, element = self.choose(able)
        word = self.choose(FETCHES[element])
        args = tuple(self.expr(element, scope, 1) for _ in range(WITH_RESULT[word].args))
        variable = Var(element, self.fresh("v"))
        return Fetch(variable.name, array, word, self.index(scope), args), self.known(scope, variable)

    def collective(self, scope: Scope) -> tuple[Stmt, Scope]:
        assert scope.mask
        name = self.choose(tuple(COLLECTIVES))
        known = COLLECTIVES[name]
        type = self.choose(known.types)
        args = tuple(self.expr(type if t == "type" else t, scope, 2) for t in known.args)
        variable = Var(type if known.result == "type" else known.result, self.fresh("v"))
        return Collective(variable.name, variable.type, name, scope.mask, args), self.known(scope, variable)

    def exchange(self, scope: Scope) -> tuple[Stmt, Scope]:
        variable = Var("u32", self.fresh("v"))
        if self.chance(0.3):
            word = self.choose(("count", "and", "or"))
            return Count(variable.name, word, self.expr("bool", scope, 2)), self.known(scope, variable)
        return Exchange(variable.name, self.expr("u32", scope, 2), self.index(scope)), self.known(scope, variable)

    # --- control flow ---

    def branch(self, scope: Scope) -> tuple[Stmt, Scope]:
        kind = self.random.random()
        if scope.uniform and kind < 0.25:
            inner, masks = scope.inside(), None
            condition = self.expr("bool", scope, 2, lockstep=True)
            return If(condition, *self.sides(inner, inner)), scope
        condition = self.expr("bool", scope, 2)
        if scope.mask and kind < 0.7:
            masks = scope.mask, self.fresh("m"), self.fresh("m")
            apart = replace(scope.apart(), loop=frozenset())
            return If(
                condition, *self.sides(replace(apart, mask=masks[1]), replace(apart, mask=masks[2])), masks
            ), scope
        inner = scope.apart()
        if scope.mask or scope.uniform:
            inner = replace(inner, loop=frozenset())
        return If(condition, *self.sides(inner, inner)), scope

    def sides(self, then: Scope, otherwise: Scope) -> tuple[Block, Block]:
        first = self.block(then, 1 + self.below(2))
        return first, self.block(otherwise, 1 + self.below(2)) if self.chance(0.5) else ()

    def loop(self, scope: Scope) -> tuple[Stmt, Scope]:
        form, counter = self.choose(("for", "for", "while", "do")), Var("u32", self.fresh("c"))
        both = frozenset(("break", "continue"))
        seen = (*scope.readable, counter, counter)
        lockstep, masks = False, None
        kind = self.random.random()
        if scope.uniform and kind < 0.4:
            lockstep = True
            inner = scope.inside(readable=seen, lockstep=(*scope.lockstep, counter), loop=both, updates=())
        elif scope.mask and kind < 0.7:
            form, masks = "for", (scope.mask, self.fresh("m"), self.fresh("m"))
            updates = (("break", masks[1:]), ("continue", masks[2:]))
            inner = replace(scope.apart(), readable=seen, mask=masks[2], loop=both, updates=updates)
        else:
            inner = replace(scope.apart(), readable=seen, loop=both, updates=())
        count = self.few(self.expr("u32", scope, 2, lockstep), self.choose((1, 3, 3, 7)))
        if self.chance(0.3):
            count = Const("u32", 1 + self.below(4))
        condition = self.expr("bool", scope, 2, lockstep) if self.chance(0.3) else Const("bool", 1)
        return Loop(form, counter.name, count, condition, self.block(inner, 1 + self.below(3)), masks), scope

    def leave(self, scope: Scope) -> tuple[Stmt, Scope]:
        ways = [*sorted(scope.loop), *(["return"] if not scope.uniform or not scope.loop else [])]
        how = self.choose(ways or ["return"])
        if how == "return":
            value = self.expr(scope.function.type, scope, 1) if scope.function else None
            return Leave(how, self.expr("bool", scope, 2), value), scope
        updates = dict(scope.updates).get(how)
        after = replace(scope, loop=scope.loop - {"break"}) if how == "continue" and updates else scope
        return Leave(how, self.expr("bool", scope, 2, lockstep=scope.uniform), None, updates), after

    def switch(self, scope: Scope) -> tuple[Stmt, Scope]:
        inner = scope.apart()
        inner = replace(inner, loop=frozenset() if scope.mask or scope.uniform else scope.loop - {"break"})
        cases = tuple(self.block(inner, 1) for _ in range(2 + self.below(5)))
        return Switch(self.expr("u32", scope, 2), cases, tuple(self.chance(0.2) for _ in cases)), scope

    # --- programs ---

    def function(self) -> Function:
        type, recursive = self.choose(TYPES), self.chance(0.3)
        types = [*(["u32"] if recursive else []), *(self.choose(TYPES) for _ in range(1 + self.below(3)))]
        parameters = tuple(Var(t, self.fresh("p")) for t in types)
        local = (self.choose((*ELEMENTS, "f32")), 4) if self.chance(0.3) else None
        draft = Function(self.fresh(f"f{self.seed}_"), type, parameters, local, (), self.const(type), recursive)
        free = parameters[1:] if recursive else parameters
        scope = Scope(
            readable=parameters, assignable=free, lockstep=(), arrays={"local": local[0]} if local else {},
            uniform=False, mask=None, function=draft, depth=1,
        )  # fmt: skip
        body = self.block(scope, 1 + self.below(2))
        return replace(draft, body=body, result=self.expr(type, scope, 2))

    def program(self) -> Program:
        for _ in range(self.choose((0, 0, 0, 1, 1, 2))):
            self.functions.append(self.function())
        elements = {"own": (self.choose(ELEMENTS), self.choose((2, 4, 8)))}
        for name, p in (("mine", 0.4), ("local", 0.4)):
            if self.chance(p):
                kinds = (*ELEMENTS, "f32", "i64") if name == "local" else ELEMENTS
                elements[name] = (self.choose(kinds), self.choose((2, 4, 8)))
        arrays = {name: element for name, (element, _) in elements.items()}
        scope = Scope((*PARAMETERS, *THREAD * 2), (), PARAMETERS, arrays)
        body: list[Stmt] = []
        for turn in range(5 + self.below(4)):
            statement, scope = self.declare(scope) if turn < 3 else self.statement(scope)
            body.append(statement)
        for function in self.functions:
            body.append(Emit(self.slots, self.called(function, scope)))
            self.slots += 1
        for variable in scope.assignable[-4:]:
            body.append(Emit(self.slots, variable))
            self.slots += 1
        grid, block = self.choose(GRIDS), self.choose(BLOCKS)
        return Program(self.seed, grid, block, elements, tuple(self.functions), tuple(body), self.slots)


def generate(seed: int) -> Program:
    return Generator(seed).program()
