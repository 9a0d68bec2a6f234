"""Random chains of the lines of ptx_forms.py, each with results of others or numbers in it: an assembler makes other
instructions of them than of each by itself, and another one on each architecture.  What they come to is the same.

    python tests/isa/ptx_chains.py 0 2000 sm_90 sm_75 sm_120      these seeds; the first architecture beside each other
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ptx_forms import BYTES, KERNEL, RESULT, STORED, THREADS, accepted, forms, inputs

import warplens as wl

LINES = 8  # of a chain
NUMBERS = 0.18  # of the operands
REGISTER = re.compile(r"%(rd|r|f|d|h|p)(\d+)\b")
WRITES_INPUT = re.compile(r"(?:^|[;{}])\s*(?:@!?%p\d+\s+)?[a-z][\w.:]*\s+%(?:rd|r|f|d|h)[1-4]\s*,")
CORNERS = {
    "r": (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 24, 31, 32, 255, 65535, -1, -2, 0x7FFFFFFF, -(1 << 31), 10, 12345),
    "rd": (0, 1, 2, 3, 8, 10, 255, -1, -2, 0xFFFFFFFF, 1 << 32, (1 << 63) - 1, 1000000007),
    "h": (0, 1, 2, 3, 8, 255, 0x3C00, 0x4000, 0x3800, -1, 100),
    "f": (0x3F800000, 0xBF800000, 0x3F000000, 0x40000000, 0x3E800000, 0, 0x80000000, 0x7F800000, 0x42F60000, 0x800000),
    "d": (0x3FF << 52, 0xBFF << 52, 0x3FE << 52, 1 << 62, 0, 1 << 63, 0x4059 << 48),
}  # fmt: skip
BODY = KERNEL.replace("<12>", "<200>").replace("<14>", "<200>").replace("<4>", "<200>").rpartition("st.global")[0]


@cache
def lines() -> list[tuple[str, str]]:
    """Lines whose inputs stay as they are, and the kind of register of their result."""
    return [(f.line, f.result) for f in forms() if not WRITES_INPUT.search(f.line) and ".oob" not in f.line]


@dataclass
class Chain:
    seed: int
    text: str = ""
    stored: list[tuple[str, int]] = field(default_factory=list)  # kind of register, number

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.known = {kind: [1, 2, 3, 4] for kind in STORED}
        self.next = 20
        for _ in range(LINES):
            self._append(*self.random.choice(lines()))

    @property
    def name(self) -> str:
        return f"chain{self.seed}"

    def _append(self, line: str, result: str) -> None:
        names: dict[str, str] = {}

        def renamed(found: re.Match[str]) -> str:
            kind, number = found[1], int(found[2])
            if found[0] not in names:
                names[found[0]] = f"%{kind}{self._input(kind) if kind != 'p' and number <= 4 else self._new()}"
            return names[found[0]]

        renamed_line = REGISTER.sub(renamed, line)
        self.text += f"{{ {renamed_line} }}\n"
        number = int(names[f"%{result}9"].removeprefix(f"%{result}"))
        self.known[result].append(number)
        self.stored.append((result, number))

    def _new(self) -> int:
        self.next += 1
        return self.next

    def _input(self, kind: str) -> int:
        if self.random.random() < NUMBERS:
            number = self._new()
            bits = STORED[kind].lstrip("bf")
            self.text += f"mov.b{bits} %{kind}{number}, {self.random.choice(CORNERS[kind])};\n"
            return number
        recent = self.random.random() < 0.75
        return self.random.choice(self.known[kind][-4:] if recent else self.known[kind])

    def places(self) -> Iterator[tuple[str, int, int]]:
        at = RESULT
        for kind, number in self.stored:
            size = int(STORED[kind][1:]) // 8
            at = -(-at // size) * size
            yield kind, number, at
            at += size

    def kernel(self) -> str:
        stores = "".join(f"st.global.{STORED[k]} [%rd12+{at}], %{k}{n};\n" for k, n, at in self.places())
        return BODY.format(name=self.name, line=self.text) + stores + "ret; }\n"

    def left(self, module: wl.Module) -> NDArray[np.uint8]:
        memory: Any = inputs().copy().reshape(-1)
        module[self.name].launch(1, THREADS, memory)
        left: NDArray[np.uint8] = memory.reshape(THREADS, BYTES)[:, RESULT:]
        return left


def assembled(chains: Sequence[Chain], arch: str) -> tuple[wl.Module, list[Chain]]:
    """A module of those chains whose lines the architecture has."""
    made, chosen = accepted(chains, Chain.kernel, arch)
    assert made is not None
    return made, chosen


def differing(seeds: Sequence[int], arch: str, other: str) -> list[str]:
    """Chains that two architectures do not agree on, and those that one of them cannot do."""
    one, chosen = assembled([Chain(seed) for seed in seeds], arch)
    two, both = assembled(chosen, other)
    return [told for chain in both if (told := compared(chain, one, two))]


def compared(chain: Chain, one: wl.Module, two: wl.Module) -> str:
    try:
        same = np.array_equal(chain.left(one), chain.left(two))
    except wl.errors.WarplensError as error:
        return f"seed {chain.seed}: {error}"
    return "" if same else f"seed {chain.seed}\n{chain.kernel()}"


if __name__ == "__main__":
    first, last = (int(word) for word in sys.argv[1:3])
    for there in sys.argv[4:]:
        for start in range(first, last, 100):
            print(*differing(range(start, min(start + 100, last)), sys.argv[3], there), sep="\n", end="", flush=True)
        print(f"{sys.argv[3]} and {there}: seeds {first} to {last - 1} done")
