"""Suggestion: how `warplens suggest` executes versions of a kernel, and of a whole program.

In: a source text that a search proposes (advice/search.py).
Out: whether it compiles, leaves the same outputs and takes less time.  `version_evaluator.py` is what a kernel with a
launch block (commands/suggest.py) and a kernel of a program (`program_kernel.py`) have in common; `program_sources.py`
builds changed copies of a program, `program_trial.py` runs them, `suggest_program.py` puts all together.
"""
