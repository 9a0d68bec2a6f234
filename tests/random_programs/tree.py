"""What a random program is made of.  Every node is frozen; statements stand in tuples, so that a tree can be cut.

Types are "bool", "i32", "u32", "i64", "u64", "f32", "f64".
"""

from __future__ import annotations

from dataclasses import dataclass

Dim3 = tuple[int, int, int]


@dataclass(frozen=True)
class Const:
    """`bits` as the number is stored."""

    type: str
    bits: int


@dataclass(frozen=True)
class Var:
    type: str
    name: str


@dataclass(frozen=True)
class Apply:
    """A word of words.py."""

    type: str
    word: str
    args: tuple[Expr, ...]


@dataclass(frozen=True)
class Select:
    """condition ? yes : no, of which only one is evaluated."""

    type: str
    condition: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True)
class Both:
    """a && b, or a || b: b is evaluated only if it decides."""

    word: str
    a: Expr
    b: Expr
    type: str = "bool"


@dataclass(frozen=True)
class Load:
    """An element of an array (memory.py); the index is taken modulo its size.  `type` is that of the promoted value."""

    type: str
    array: str
    index: Expr


@dataclass(frozen=True)
class Call:
    type: str
    function: str
    args: tuple[Expr, ...]


Expr = Const | Var | Apply | Select | Both | Load | Call


@dataclass(frozen=True)
class Declare:
    name: str
    value: Expr


@dataclass(frozen=True)
class Assign:
    name: str
    value: Expr


@dataclass(frozen=True)
class Store:
    array: str
    index: Expr
    value: Expr


@dataclass(frozen=True)
class LoadVector:
    """So many words of `in`, aligned to their number: one variable (u32) each."""

    names: tuple[str, ...]
    index: Expr


@dataclass(frozen=True)
class StoreVector:
    """Words into the thread's own part of global memory."""

    index: Expr
    values: tuple[Expr, ...]


@dataclass(frozen=True)
class Emit:
    """Hashes a number into the thread's result number `slot`."""

    slot: int
    value: Expr


@dataclass(frozen=True)
class If:
    """`masks`: names of the lanes here and of those that take `then`, where collective operations may stand inside."""

    condition: Expr
    then: Block
    otherwise: Block
    masks: tuple[str, str, str] | None = None  # here, then, otherwise


@dataclass(frozen=True)
class Loop:
    """At most `count` turns, while `condition` holds; `counter` is 1 in the first.

    form    "for", "while" or "do";  masks: names of the lanes here and in the loop, for collective operations inside
    """

    form: str
    counter: str
    count: Expr
    condition: Expr
    body: Block
    masks: tuple[str, str] | None = None


@dataclass(frozen=True)
class Leave:
    """if (condition) break, continue, or return (a value, in a function).

    `masks`: names of the lanes here and of those that stay, where collective operations follow.
    """

    how: str
    condition: Expr
    value: Expr | None = None
    masks: tuple[str, str] | None = None


@dataclass(frozen=True)
class Switch:
    """Case i is `cases[i]`, the last is the default; a case in `falls` runs on into the next."""

    value: Expr
    cases: tuple[Block, ...]
    falls: tuple[bool, ...]


@dataclass(frozen=True)
class Collective:
    """A warp-wide operation of collectives.py by the lanes in `mask`."""

    name: str
    type: str
    word: str
    mask: str
    args: tuple[Expr, ...]


@dataclass(frozen=True)
class Exchange:
    """Every thread of the block puts a u32 into shared memory and takes that of another, with barriers around."""

    name: str
    value: Expr
    index: Expr


@dataclass(frozen=True)
class Count:
    """__syncthreads_count, _and, _or."""

    name: str
    word: str
    condition: Expr


@dataclass(frozen=True)
class Atomic:
    """An operation without result on a cell that knows only this operation, so that order cannot matter."""

    array: str
    word: str
    index: Expr
    value: Expr


@dataclass(frozen=True)
class Fetch:
    """An atomic operation on an element of the thread's own; the variable is the old value."""

    name: str
    array: str
    word: str
    index: Expr
    args: tuple[Expr, ...]


Stmt = (
    Declare | Assign | Store | LoadVector | StoreVector | Emit | If | Loop | Leave | Switch | Collective | Exchange
    | Count | Atomic | Fetch
)  # fmt: skip
Block = tuple[Stmt, ...]


@dataclass(frozen=True)
class Function:
    """`recursive`: its first parameter (u32) says how often it may call itself."""

    name: str
    type: str
    parameters: tuple[Var, ...]
    local: tuple[str, int] | None  # C type and number of elements of its array
    body: Block
    result: Expr
    recursive: bool


@dataclass(frozen=True)
class Program:
    """elements: of the arrays "own" (global), "mine" (shared) and "local": C type and number of elements a thread."""

    seed: int
    grid: Dim3
    block: Dim3
    elements: dict[str, tuple[str, int]]
    functions: tuple[Function, ...]
    body: Block
    slots: int

    @property
    def name(self) -> str:
        return f"k{self.seed}"

    def uses(self, word: str) -> bool:
        """Whether an array or operation of this name stands in the kernel's body."""
        return f"{word!r}" in repr(self.body)

    @property
    def threads(self) -> int:
        x, y, z = self.block
        return x * y * z

    @property
    def blocks(self) -> int:
        x, y, z = self.grid
        return x * y * z
