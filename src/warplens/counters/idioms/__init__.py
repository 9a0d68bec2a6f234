"""Idioms: recognises what groups of instructions compute: a remainder, an unrolled loop, a tree reduction.

    idioms(program)            -> every idiom found, in code order
    idioms(program, name_of)   likewise, knowing which constants are blockDim and gridDim

    effect(instruction)        -> the words that it reads and writes
    DefUse(program, name_of)   -> which instruction made a value and which use it
    idioms_in(def_use)         -> its idioms

One function an idiom, with the decorator; a new module in this folder is found by itself.
"""

from warplens.counters.idioms._def_use import DefUse, Word, effect
from warplens.counters.idioms._idiom import Idiom, idioms, idioms_in

__all__ = ["DefUse", "Idiom", "Word", "effect", "idioms", "idioms_in"]
