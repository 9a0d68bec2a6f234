"""Memory: loads, stores, atomics, constants (sass.md 2.3).  Ordering and caching modifiers have no effect on values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from warplens.core.program import Address, Constant, Register, Special
from warplens.isa.dsl.lanes import TRUE, U32, Pred
from warplens.isa.dsl.op import op
from warplens.isa.dsl.warp_interface import AtomicOperation, Data, Space, Warp
from warplens.isa.tensor import transposed

Size = Literal["U8", "S8", "U16", "S16", "32", "64", "128"]
Number = Literal[
    "32", "S32", "64", "S64", "128", "F32", "F64", "F32x2", "F32x4", "F16x2", "F16x4", "F16x8", "BF16x2", "BF16x4",
    "BF16x8",
]  # fmt: skip
Operation = Literal["ADD", "MIN", "MAX", "AND", "OR", "XOR", "INC", "DEC", "EXCH"]

BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "32": 4, "64": 8, "128": 16}
WORDS = {"64": 2, "S64": 2, "F64": 2, "F32x2": 2, "F16x4": 2, "BF16x4": 2}
WORDS |= {"128": 4, "F32x4": 4, "F16x8": 4, "BF16x8": 4}
NO_OTHERS = Special("{}")
CACHING = "E SYS GPU SM CTA STRONG WEAK CONSTANT EF EL EU LU NA MMIO LTC64B LTC128B LTC256B U"


def load(w: Warp, space: Space, at: Address, size: Size) -> Data:
    return w.load(space, at, BYTES[size], signed=size.startswith("S"))


def store(w: Warp, space: Space, at: Address, value: Register, size: Size) -> None:
    count = BYTES[size]
    w.store(space, at, w.stored(value, max(count // 4, 1)), count)


@op("LDG", pipe="lsu", probe="in[i]", text="{to} = {size} of global memory at {at}", ignores=CACHING)
def ldg(w: Warp, at: Address, *, size: Size = "32") -> Data:
    return load(w, "global", at, size)


@op("LDG.ENL2.256", pipe="lsu", text="{to} = 32 bytes of global memory at {at}", ignores=CACHING)
def ldg_256(w: Warp, at: Address, wanted: int = 0xFF) -> tuple[Data, Data]:
    """The first destination takes the upper half; of each half the words whose bit is set, one after the other."""
    words = w.load("global", at, 32).words
    low, high = ([words[k] for k in range(start, start + 4) if wanted >> k & 1] for start in (0, 4))
    return Data(high), Data(low)


@op("STG", pipe="lsu", probe="out[i] = a", text="global memory at {at} = {value}, {size}", ignores=CACHING)
def stg(w: Warp, at: Address, value: Register, *, size: Size = "32") -> None:
    store(w, "global", at, value, size)


@op("STG.ENL2.256", pipe="lsu", text="global memory at {at} = {low} and {high}, 32 bytes", ignores=CACHING)
def stg_256(w: Warp, at: Address, low: Register, high: Register) -> None:
    """The lower half comes first here, unlike in LDG."""
    words = [*w.stored(low, 4).words, *w.stored(high, 4).words]
    w.store("global", at, Data(words), 32)


@op("LD", pipe="lsu", text="{to} = {size} at generic address {at}", ignores=CACHING)
def ld(w: Warp, at: Address, *, size: Size = "32") -> Data:
    return load(w, "generic", at, size)


@op("ST", pipe="lsu", text="generic address {at} = {value}, {size}", ignores=CACHING)
def st(w: Warp, at: Address, value: Register, *, size: Size = "32") -> None:
    store(w, "generic", at, value, size)


@op("LDS", pipe="lsu", text="{to} = {size} of shared memory at {at}", ignores="U")
def lds(w: Warp, at: Address, *, size: Size = "32") -> Data:
    return load(w, "shared", at, size)


@op("STS", pipe="lsu", text="shared memory at {at} = {value}, {size}")
def sts(w: Warp, at: Address, value: Register, *, size: Size = "32") -> None:
    store(w, "shared", at, value, size)


# Matrices of 8 rows of 16 bytes; each of the first 8 * matrices lanes names a row


@op("LDSM.16", pipe="lsu", text="{to} = {count} 8 x 8 matrices of 16 bits, rows in shared memory at {at}")
def ldsm(w: Warp, at: Address, *, order: Literal["M88", "MT88"], count: Literal["1", "2", "4"] = "1") -> Data:
    """Lane 4 r + c gets word c of row r (of a transposed matrix: of what was column r)."""
    rows = w.load_rows(at, int(count)).words
    return Data([matrix(w, rows, number, order) for number in range(int(count))])


def matrix(w: Warp, rows: Sequence[U32], number: int, order: str) -> U32:
    words = [word.of_lanes([8 * number + lane // 4 for lane in range(32)]) for word in rows]
    low, high = (w.lane.bit(0).choose(words[k + 1], words[k]) for k in (0, 2))
    straight = w.lane.bit(1).choose(high, low)
    return transposed(straight, w.lane) if order == "MT88" else straight


@op("STSM.16", pipe="lsu", text="rows in shared memory at {at} = {count} 8 x 8 matrices of 16 bits in {value}")
def stsm(
    w: Warp, at: Address, value: Register, *, order: Literal["M88", "MT88"], count: Literal["1", "2", "4"] = "1"
) -> None:
    matrices = [transposed(word, w.lane) if order == "MT88" else word for word in w.stored(value, int(count)).words]
    w.store_rows(at, Data([row_word(w, matrices, k) for k in range(4)]), int(count))


def row_word(w: Warp, matrices: Sequence[U32], k: int) -> U32:
    """For lane 8 m + r word k of row r of matrix m."""
    word, *others = (m.of_lanes([lane % 8 * 4 + k for lane in range(32)]) for m in matrices)
    for number, other in enumerate(others, 1):
        word = (w.lane >= 8 * number).choose(other, word)
    return word


# Asynchronous copies.  Here they are done at once, so that there is nothing to wait for.


@op("LDGSTS", pipe="lsu", ignores=CACHING,
    text="shared memory at {to} = global memory at {at}, {size}{ZFILL:, filled with zeros|}, later")  # fmt: skip
def ldgsts(
    w: Warp, to: Address, at: Address, reads: Pred = TRUE, *, size: Literal["32", "64", "128"] = "32",
    BYPASS: bool, ZFILL: bool,
) -> None:  # fmt: skip
    w.copy(to, at, BYTES[size], reads=reads, fills=ZFILL, bypasses=BYPASS)


@op("LDGDEPBAR", pipe="lsu", text="the copies so far are one group")
def ldgdepbar(w: Warp) -> None:
    w.commit_copies()


@op("DEPBAR.LE", pipe="lsu", text="wait until at most {groups} groups of copies are pending")
def depbar(w: Warp, scoreboard: Register, groups: int = 0, others: Special = NO_OTHERS) -> None:
    """Nothing is pending at the other scoreboards ({2,1})."""
    w.wait_for_copies(groups)


@op("DEPBAR", pipe="lsu", text="wait for the scoreboards {scoreboards}")
def depbar_all(w: Warp, scoreboards: Special) -> None:
    """Nothing is pending: what a scoreboard tells of is done at once."""


@op("LDL", pipe="lsu", text="{to} = {size} of local memory at {at}", ignores=CACHING)
def ldl(w: Warp, at: Address, *, size: Size = "32") -> Data:
    return load(w, "local", at, size)


@op("STL", pipe="lsu", text="local memory at {at} = {value}, {size}", ignores=CACHING)
def stl(w: Warp, at: Address, value: Register, *, size: Size = "32") -> None:
    store(w, "local", at, value, size)


# Constants


@op("LDC", "ULDC", "LDCU", pipe="adu", text="{to} = {at}")
def ldc(w: Warp, at: Constant, *, size: Size = "32") -> Data:
    data = w.constant(at, BYTES[size])
    if not size.startswith("S"):
        return data
    unused = 32 - 8 * BYTES[size]
    return Data([((data.words[0] << unused).s32() >> unused).u32()])


# Atomics


def atomic(
    w: Warp, space: Space, at: Address, value: Register, operation: str, number: Number, returns: bool,
    only: Space | None = None,
) -> Data:  # fmt: skip
    kind = number.lower() if number[0] in "SFB" else f"u{number}"
    words = w.stored(value, WORDS.get(number, 1))
    done = AtomicOperation(operation.lower(), kind, returns, only)  # type: ignore[arg-type]
    return w.atomic(space, at, words, done)


@op("ATOMG", pipe="lsu", text="{to} = atomic {operation} of {value} to global memory at {at}",
    ignores=CACHING + " FTZ RN")  # fmt: skip
def atomg(w: Warp, at: Address, value: Register, *, operation: Operation, number: Number = "32") -> tuple[Data, Pred]:
    old = atomic(w, "global", at, value, operation, number, returns=True)
    return old, w.active


@op("ATOM", pipe="lsu", text="{to} = atomic {operation} of {value} to generic address {at}",
    ignores=CACHING + " FTZ RN")  # fmt: skip
def atom(w: Warp, at: Address, value: Register, *, operation: Operation, number: Number = "32") -> tuple[Data, Pred]:
    """Sums of floats are done in global memory only; the code after it handles lanes without the predicate."""
    only: Space | None = "global" if "F" in number and operation == "ADD" else None
    old = atomic(w, "generic", at, value, operation, number, returns=True, only=only)
    return old, w.is_in("global", at) & w.active if only else w.active


@op("RED", "REDG", pipe="lsu", text="reduction {operation} of {value} to global memory at {at}",
    ignores=CACHING + " FTZ RN")  # fmt: skip
def red(w: Warp, at: Address, value: Register, *, operation: Operation, number: Number = "32") -> None:
    atomic(w, "global", at, value, operation, number, returns=False)


Swapped = Literal["32", "64", "128"]


def compare_and_swap(w: Warp, space: Space, at: Address, compare: Register, value: Register, size: Swapped) -> Data:
    words, kind = int(size) // 32, f"u{size}"
    swap = AtomicOperation("cas", kind)  # type: ignore[arg-type]
    return w.atomic(space, at, w.stored(value, words), swap, w.stored(compare, words))


@op("ATOMG.CAS", pipe="lsu", ignores=CACHING,
    text="{to} = global memory at {at}, which becomes {value} if it was {compare}")  # fmt: skip
def atomg_cas(w: Warp, at: Address, compare: Register, value: Register, *, size: Swapped = "32") -> tuple[Data, Pred]:
    return compare_and_swap(w, "global", at, compare, value, size), w.active


@op("ATOM.CAS", pipe="lsu", ignores=CACHING,
    text="{to} = generic address {at}, which becomes {value} if it was {compare}")  # fmt: skip
def atom_cas(w: Warp, at: Address, compare: Register, value: Register, *, size: Swapped = "32") -> tuple[Data, Pred]:
    return compare_and_swap(w, "generic", at, compare, value, size), w.active


@op("ATOM.CAST.SPIN", pipe="lsu", ignores=CACHING,
    text="{to} = whether generic address {at} was {compare}, and then is {value}")  # fmt: skip
def atom_cast_spin(
    w: Warp, at: Address, compare: Register, value: Register, *, size: Literal["32", "64"] = "32"
) -> tuple[Data, Pred]:
    """How the compiler adds floats in another block's shared memory, where a cluster has more than one block."""
    old = compare_and_swap(w, "generic", at, compare, value, size)
    wanted = w.stored(compare, len(old.words)).words
    stored = old.words[0].eq(wanted[0])
    for word, want in zip(old.words[1:], wanted[1:], strict=True):
        stored = stored & word.eq(want)
    flag = stored.u32()
    return Data([flag, flag.like(0)][: len(old.words)]), w.active


@op("ATOMS", pipe="lsu", text="{to} = atomic {operation} of {value} to shared memory at {at}")
def atoms(w: Warp, at: Address, value: Register, *, operation: Operation, number: Number = "32") -> Data:
    return atomic(w, "shared", at, value, operation, number, returns=True)


@op("ATOMS.POPC.INC", pipe="lsu", text="atomic ADD of 1 for each lane to shared memory at {at}", ignores="32")
def atoms_popc_inc(w: Warp, at: Address) -> Data:
    one = U32(w.e, w.e.constant(U32, 1))
    return w.atomic("shared", at, Data([one]), AtomicOperation("add", together=True))


@op("ATOMS.CAS", pipe="lsu", text="{to} = shared memory at {at}, which becomes {value} if it was {compare}")
def atoms_cas(w: Warp, at: Address, compare: Register, value: Register, *, size: Swapped = "32") -> Data:
    return compare_and_swap(w, "shared", at, compare, value, size)


@op("ATOMS.CAST.SPIN", pipe="lsu",
    text="{to} = whether shared memory at {at} was {compare}, and then is {value}")  # fmt: skip
def atoms_cast_spin(
    w: Warp, at: Address, compare: Register, value: Register, *, size: Literal["32", "64"] = "32"
) -> tuple[Data, Pred]:
    words = 2 if size == "64" else 1
    stored = w.compare_and_store(at, w.stored(compare, words), w.stored(value, words), 4 * words)
    flag = stored.u32()
    return Data([flag, flag.like(0)][:words]), stored


@op("QSPC.S", pipe="lsu", text="{to} = whether {at} is the block's shared memory", ignores="E")
def qspc(w: Warp, at: Address) -> tuple[U32, Pred]:
    there = w.is_in("shared", at, own=True)
    return there.u32(), there


@op("QSPC.D", pipe="lsu", text="{to} = whether {at} is shared memory of the cluster", ignores="E")
def qspc_cluster(w: Warp, at: Address) -> tuple[U32, Pred]:
    """Of any block of the cluster; true of one's own as well (H200, 2026-11-21)."""
    return in_space(w, "shared", at)


@op("QSPC.L", pipe="lsu", text="{to} = whether {at} is local memory", ignores="E")
def qspc_local(w: Warp, at: Address) -> tuple[U32, Pred]:
    return in_space(w, "local", at)


@op("QSPC.G", pipe="lsu", text="{to} = whether {at} is global memory", ignores="E")
def qspc_global(w: Warp, at: Address) -> tuple[U32, Pred]:
    return in_space(w, "global", at)


def in_space(w: Warp, space: Space, at: Address) -> tuple[U32, Pred]:
    there = w.is_in(space, at)
    return there.u32(), there


# Ordering and cache control


@op("MEMBAR", "ERRBAR", "CGAERRBAR", "FENCE", pipe="lsu", text="earlier memory accesses are visible before later ones",
    ignores="ALL SC GPU CTA SYS VIEW VC ASYNC S G T")  # fmt: skip
def membar(w: Warp) -> None:
    w.fence()


@op("CCTL", pipe="lsu", text="cache control", ignores="E IVALL PF2 PF1 IV RS WB U C DML2 PML2 RML2")
def cctl(w: Warp, at: Address | None = None) -> None:
    w.fence()
