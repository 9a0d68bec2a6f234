"""Advice: what would make a kernel faster, with proof.

In: a run (`advise`), or a kernel source and a way to execute its changed versions (`search`).
Out: findings with the time that removing their cause would save at the most, and changes that were executed: outputs
compared, time predicted before and after.  Knows nothing of files, launch blocks and the command line
(commands/suggest.py), nor of words for people (report/).
"""

from warplens.advice.advise import Advice, advise, advised
from warplens.advice.outputs import OutputComparison, compare_outputs
from warplens.advice.search import Evaluation, Step, Suggestion, Version, search
from warplens.advice.significance import NOISE, RATIO_ERROR

__all__ = [
    "NOISE",
    "RATIO_ERROR",
    "Advice",
    "Evaluation",
    "OutputComparison",
    "Step",
    "Suggestion",
    "Version",
    "advise",
    "advised",
    "compare_outputs",
    "search",
]  # fmt: skip
