"""What a lab says of a rung's machine code: how often an opcode stands there, which loops were unrolled."""

from __future__ import annotations

from collections import Counter

from warplens.core.program import Program
from warplens.counters.idioms import idioms
from warplens.labs.rung import Rung, RungResult
from warplens.launchspec.expression import Names, evaluate_ratio

LOOPS = "loops"


def standing(program: Program) -> Counter[str]:
    """How often each opcode, spelled in full, each idiom, and "loops" stand in the code."""
    found = Counter(instruction.opcode for instruction in program.body)
    found.update(idiom.name for idiom in idioms(program))
    found[LOOPS] = len(program.loops)
    return found


def miscoded(rung: Rung, names: Names, outcome: RungResult) -> tuple[str, ...]:
    """What `code` of the rung's table expects and the compiler did not make."""
    if not rung.entry.code or outcome.run is None:
        return ()
    found = standing(outcome.run.kernel.program)
    wanted = {word: evaluate_ratio(text, names) for word, text in rung.entry.code.items()}
    return tuple(
        f"machine code: {word} should stand there {count} times, and does {found[word]} times"
        for word, count in wanted.items()
        if found[word] != count
    )
