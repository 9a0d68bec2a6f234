"""Random chains of sums, differences and products of several words in PTX, and what they come to in Python's integers.

A chain adds, subtracts or multiplies and adds (`mad`), each instruction with the carry of the one before; what goes in
has been shifted, widened, multiplied or negated before, so that an assembler makes one instruction of two.

    python tests/isa/carry_chains.py 0 2000 sm_75 sm_90      these seeds on these architectures
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

import warplens as wl
from warplens.compiler import assemble

HEAD = ".version 9.0\n.target {arch}\n.address_size 64\n"
READ = {32: 12, 64: 6}  # numbers of each width that a thread reads
LEFT = 128  # a thread's results stand this many bytes behind what it reads
BYTES = 256  # of a thread
THREADS = 64
PREFIX = {32: "%r", 64: "%rd"}
CORNERS = {
    32: (0, 1, 2, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x10000, 0xFFFFFFFE),
    64: (0, 1, 0xFFFFFFFF, 1 << 32, (1 << 64) - 1, 1 << 63, 0xFFFFFFFF00000000, (1 << 64) - 2, 0x100000001),
}
BEFORE = ("wide.u32", "wide.s32", "shl.b64", "shl.b32", "s64.s32", "u64.u32", "neg.s64", "neg.s32", "not.b32")


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


@dataclass
class Numbers:
    """Registers of one thread and the flag of the last instruction that leaves one."""

    values: dict[int, list[int]]
    flag: int = 0

    def read(self, operand: Operand) -> int:
        return operand.number if operand.literal else self.values[operand.bits][operand.number]

    def append(self, bits: int, value: int) -> None:
        self.values[bits].append(value % (1 << bits))


@dataclass(frozen=True)
class Operand:
    bits: int
    number: int  # of a register, or itself
    literal: bool = False

    def __str__(self) -> str:
        return str(signed(self.number, self.bits)) if self.literal else f"{PREFIX[self.bits]}{self.number}"


@dataclass
class Chains:
    """A kernel of some chains; `steps` do the same to a thread's numbers."""

    seed: int
    lines: list[str] = field(default_factory=list)
    steps: list[Callable[[Numbers], None]] = field(default_factory=list)
    kept: list[Operand] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.count = dict(READ)
        for _ in range(self.random.randint(1, 3)):
            if self.random.random() < 0.7:
                self._something_before()
            self._chain(self.random.choice((32, 32, 64)), self.random.choice(("add", "sub", "mad")))

    @property
    def name(self) -> str:
        return f"chains{self.seed}"

    def text(self) -> str:
        loads = [f"ld.global.b{w} {PREFIX[w]}{n}, [%rd99+{at}];" for w, n, at in numbers_read()]
        stores = [f"st.global.b{o.bits} [%rd99+{at}], {o};" for o, at in self.results()]
        thread = "mov.u32 %r89, %tid.x; mul.wide.u32 %rd98, %r89, 256; add.u64 %rd99, %rd99, %rd98;"
        body = ["ld.param.u64 %rd99, [a];", thread, *loads, *self.lines, *stores, "ret;"]
        head = f".visible .entry {self.name}(.param .u64 a) {{ .reg .b32 %r<90>; .reg .b64 %rd<100>;"
        return "\n".join((head, *body, "}\n"))

    def results(self) -> Iterator[tuple[Operand, int]]:
        at = LEFT
        for operand in self.kept:
            size = operand.bits // 8
            at = -(-at // size) * size
            yield operand, at
            at += size

    def _new(self, bits: int) -> Operand:
        self.count[bits] += 1
        return Operand(bits, self.count[bits] - 1)

    def _register(self, bits: int) -> Operand:
        return Operand(bits, self.random.randrange(self.count[bits]))

    def _operand(self, bits: int) -> Operand:
        if self.random.random() < 0.12:
            return Operand(bits, self.random.choice((0, 1, (1 << bits) - 1, 1 << (bits - 1), 5)), literal=True)
        return self._register(bits)

    def _something_before(self) -> None:
        kind = self.random.choice(BEFORE)
        bits = 64 if kind.startswith(("wide", "s64", "u64")) else int(kind[-2:])
        a, b = self._register(32 if kind.endswith("32") else 64), self._register(32)
        by = self.random.choice((1, 3, 16, 31))
        to = self._new(bits)
        if kind.startswith("wide"):
            text, value = f"mul.{kind} {to}, {a}, {b};", lambda x, y: x * y
        elif kind.startswith("shl"):
            text, value = f"{kind} {to}, {a}, {by};", lambda x, y: x << by
        elif kind.startswith(("neg", "not")):
            text, value = f"{kind} {to}, {a};", (lambda x, y: -x) if kind.startswith("neg") else (lambda x, y: ~x)
        else:
            text, value = f"cvt.{kind} {to}, {a};", lambda x, y: x
        sign = kind.endswith("s32") and not kind.startswith("neg")

        def step(n: Numbers) -> None:
            x, y = n.read(a), n.read(b)
            n.append(bits, value(signed(x, a.bits), signed(y, 32)) if sign else value(x, y))

        self.lines.append(text)
        self.steps.append(step)

    def _chain(self, bits: int, kind: str) -> None:
        length = self.random.randint(2, 4)
        for place in range(length):
            leaves = place < length - 1 or self.random.random() < 0.5
            a, b, c = self._register(bits), self._operand(bits), self._operand(bits)
            if kind == "mad":
                self._mad(a, b, c, takes=place > 0, leaves=leaves)
            else:
                if self.random.random() < 0.5 and not b.literal:
                    a, b = self._operand(bits), a
                self._sum(kind, a, b, takes=place > 0, leaves=leaves)
        if leaves:  # the flag as a number
            zero = Operand(bits, 0, literal=True)
            self._sum("sub" if kind == "sub" else "add", zero, zero, takes=True, leaves=False)

    def _sum(self, kind: str, a: Operand, b: Operand, takes: bool, leaves: bool) -> None:
        to = self._new(a.bits)
        name = f"{kind}{'c' * takes}{'.cc' * leaves}.u{a.bits}"
        sign = -1 if kind == "sub" else 1

        def step(n: Numbers) -> None:
            total = n.read(a) + sign * (n.read(b) + takes * n.flag)
            n.append(a.bits, total)
            if leaves:
                n.flag = int(not 0 <= total < 1 << a.bits)

        self._add(f"{name} {to}, {a}, {b};", step, to)

    def _mad(self, a: Operand, b: Operand, c: Operand, takes: bool, leaves: bool) -> None:
        to, bits = self._new(a.bits), a.bits
        half, sign = self.random.choice(("lo", "hi")), self.random.choice("us")
        name = f"mad{'c' * takes}.{half}{'.cc' * leaves}.{sign}{bits}"

        def step(n: Numbers) -> None:
            x, y = n.read(a), n.read(b)
            product = signed(x, bits) * signed(y, bits) if sign == "s" else x * y
            total = (product >> bits * (half == "hi")) % (1 << bits) + n.read(c) + takes * n.flag
            n.append(bits, total)
            if leaves:
                n.flag = total >> bits

        self._add(f"{name} {to}, {a}, {b}, {c};", step, to)

    def _add(self, line: str, step: Callable[[Numbers], None], to: Operand) -> None:
        self.lines.append(line)
        self.steps.append(step)
        self.kept.append(to)

    def come_to(self, words: list[int], longs: list[int]) -> list[int]:
        """The results in Python's integers."""
        numbers = Numbers({32: list(words), 64: list(longs)})
        for step in self.steps:
            step(numbers)
        return [numbers.values[o.bits][o.number] for o in self.kept]

    def wrong(self, module: wl.Module) -> str:
        """The first thread whose results are other ones, or nothing."""
        random = Random(self.seed)
        memory = np.zeros((THREADS, BYTES), np.uint8)
        rows = [[random_number(random, bits) for bits, _, _ in numbers_read()] for _ in range(THREADS)]
        for line, row in zip(memory, rows, strict=True):
            for (bits, _, at), number in zip(numbers_read(), row, strict=True):
                line[at : at + bits // 8] = np.frombuffer(number.to_bytes(bits // 8, "little"), np.uint8)
        left = memory.reshape(-1)
        module[self.name].launch(1, THREADS, left)
        for thread, row in enumerate(rows):
            line = left.reshape(THREADS, BYTES)[thread].tobytes()
            found = [int.from_bytes(line[at : at + o.bits // 8], "little") for o, at in self.results()]
            meant = self.come_to(row[: READ[32]], row[READ[32] :])
            if found != meant:
                return f"seed {self.seed}, thread {thread}: {found}, not {meant}\n{self.text()}"
        return ""


def numbers_read() -> Iterator[tuple[int, int, int]]:
    """Width, register and place of what a thread reads."""
    for number in range(READ[32]):
        yield 32, number, 4 * number
    for number in range(READ[64]):
        yield 64, number, 4 * READ[32] + 8 * number


def random_number(random: Random, bits: int) -> int:
    return random.choice(CORNERS[bits]) if random.random() < 0.6 else random.getrandbits(bits)


def wrong_ones(seeds: Sequence[int], arch: str) -> list[str]:
    kernels = [Chains(seed) for seed in seeds]
    text = HEAD.format(arch=arch) + "".join(kernel.text() for kernel in kernels)
    module = wl.load(assemble(text, "chains", arch))
    return [told for kernel in kernels if (told := kernel.wrong(module))]


if __name__ == "__main__":
    first, last = (int(word) for word in sys.argv[1:3])
    for there in sys.argv[3:]:
        for start in range(first, last, 200):
            print(*wrong_ones(range(start, min(start + 200, last)), there), sep="\n", end="")
        print(f"{there}: seeds {first} to {last - 1} done")
