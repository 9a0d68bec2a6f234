"""Transforms: mechanical changes of a kernel's source, one file a change, named after it; the folders are the list.

In: the parsed source of one kernel (`KernelSource`) and how it is launched (`LaunchFacts`).
Out: `Change`s, each a set of edits and what becomes of the launch; or `Refusal`s, with the line and the reason.

A change keeps what the kernel computes, or says which rounding or order it alters.  Transforms do not know whether a
change is faster: commands/suggest.py executes and times it, and compares the outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from warplens.transform._change import Change, Edit, LaunchChange, Refusal, Transform
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

__all__ = [
    "Change",
    "Edit",
    "KernelSource",
    "LaunchChange",
    "LaunchFacts",
    "Refusal",
    "Transform",
    "changes",
    "transforms",
]
SYNTAX = "syntax"  # the folder of what transforms know of a kernel


@cache
def transforms() -> tuple[Transform, ...]:
    """Of every file in the folders but syntax/, in order of their names."""
    return tuple(getattr(import_module(f"{__name__}.{folder}.{name}"), name) for name, folder in sorted(_files()))


def _files() -> Iterator[tuple[str, str]]:
    """(name, folder) of each transform."""
    for folder in iter_modules(__path__):
        if folder.ispkg and folder.name != SYNTAX:
            package = import_module(f"{__name__}.{folder.name}")
            yield from ((module.name, folder.name) for module in iter_modules(package.__path__))


def changes(kernel: KernelSource, launch: LaunchFacts) -> Iterator[Change | Refusal]:
    """What all transforms propose for a kernel."""
    for transform in transforms():
        yield from transform(kernel, launch)
