"""Contended atomics: many threads update the same few words, which is done for one after the other.

Add up within the warp (shuffles) or the block (shared memory) first, and let one lane update global memory.  Nsight
Compute: no rule.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.counters.vocabulary import ATOMIC, BYTES, GLOBAL, REDUCTION, Column, bits
from warplens.rules._counted_launch import CountedLaunch, heaviest_line, work
from warplens.rules._rule import Finding, rule

LANES_PER_WORD = 1.5  # of a warp; below it its atomics hardly meet
UPDATES_PER_WORD = 256  # of the launch: more than one for each block that an SM holds
ATOMICS = GLOBAL & (ATOMIC | REDUCTION)
WORD = 4  # bytes that an atomic updates
LANES = Column("threads_on")


class ContendedAtomicsEvidence(NamedTuple):
    """Lanes of a warp on each word of its global atomics; updates of a word of the changed arrays by the launch, at the
    least on average, 0 where they are not known."""

    lanes_per_word: float
    updates_per_word: float


@rule(
    threshold=0.08,
    reads=(
        "smsp__sass_inst_executed_op_global_atom.sum",
        "smsp__sass_inst_executed_op_global_red.sum",
        "smsp__inst_executed.sum",
    ),
    fires="rules.cu/histogram",
    silent="rules.cu/own_bins",
)
def contended_atomics(launch: CountedLaunch) -> Finding | None:
    lanes = launch.total(LANES[ATOMICS])
    words = sum(launch.total(BYTES[ATOMICS & bits(width)]) / (width // 8) for width in (16, 32, 64, 128))
    updates = WORD * lanes / launch.changed_bytes if launch.changed_bytes else 0.0
    if not words or (lanes / words < LANES_PER_WORD and updates < UPDATES_PER_WORD):
        return None
    serialized = lanes if updates >= UPDATES_PER_WORD else lanes - words
    line = heaviest_line(launch, LANES[ATOMICS])
    evidence = ContendedAtomicsEvidence(lanes / words, updates)
    return Finding("contended_atomics", serialized / (work(launch) + serialized), evidence, line)
