"""Opcode claims: checks a lab's expectations of machine code: opcode counts, unrolled loops."""

from __future__ import annotations

from collections import Counter

from warplens.core.program import Program
from warplens.counters.idioms import idioms
from warplens.labs.rung import Rung, RungResult
from warplens.launchspec.expression import Names, evaluate_ratio

LOOPS = "loops"


def counts(program: Program) -> Counter[str]:
    """Number of each opcode (in full), each idiom, and "loops" in the code."""
    found = Counter(instruction.opcode for instruction in program.body)
    found.update(idiom.name for idiom in idioms(program))
    found[LOOPS] = len(program.loops)
    return found


def code_mismatches(rung: Rung, names: Names, outcome: RungResult) -> tuple[str, ...]:
    """Expectations of `code` in the rung's table that the compiled code does not meet."""
    if not rung.entry.code or outcome.run is None:
        return ()
    found = counts(outcome.run.kernel.program)
    wanted = {word: evaluate_ratio(text, names) for word, text in rung.entry.code.items()}
    return tuple(
        f"machine code: {word} should stand there {count} times, and does {found[word]} times"
        for word, count in wanted.items()
        if found[word] != count
    )
