"""Function extraction: helper functions of a module as modules of their own.

Modules of many kernels have the same helpers, those of the SIMT runtime for instance: a quarter of the code of a small
kernel.  A module of helpers has the same text whichever kernel they are from, so that it is compiled once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from warplens.llvm.module import Function, IRModule

REFERENCE = re.compile(r'@"([^"]+)"')
METADATA = re.compile(r"!(\d+)\b")


def extract(module: IRModule) -> tuple[str, list[str]]:
    """The text of the module without its helpers, and those of modules with the helpers that call one another.

    A helper that uses a global variable, or into which a function that is no helper is inlined, stays where it is.
    """
    return _Extraction(module).texts()


class _Extraction:
    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.variables = [variable.text for variable in module.variables]
        self.used = {
            f: REFERENCE.findall("\n".join(line for b in f.blocks for line in b.lines)) for f in module.functions
        }

    def texts(self) -> tuple[str, list[str]]:
        defined = [f for f in self.module.functions if not f.is_declaration and not _inlined(f)]
        helpers = [f for f in defined if self._may_leave(f)]
        for function in (*helpers, *self._referenced(self._with_inlined(helpers))):
            function.linkage = function.linkage if _inlined(function) else "external"
        groups = [sorted((f for f in group if f in helpers), key=_name) for group in self._connected()]
        rest = self._text([f for f in defined if f not in helpers], list(map(str, self.module.variables)))
        return rest, [self._text(group, []) for group in groups if group]

    def _may_leave(self, function: Function) -> bool:
        parts = self._with_inlined([function])
        return all(f.helper and not any(f'@"{name}"' in self.variables for name in self.used[f]) for f in parts)

    def _connected(self) -> list[list[Function]]:
        """The helpers in groups of which no two refer to the same helper: a module for each function would cost the
        process one or two mappings of memory for each."""
        groups: list[tuple[list[Function], set[Function]]] = []
        for function in (f for f in self.module.functions if f.helper):
            members, near = [function], {function, *(f for f in self._referenced([function]) if f.helper)}
            joined = [group for group in groups if not near.isdisjoint(group[1])]
            groups = [group for group in groups if group not in joined]
            groups.append(([f for group in joined for f in group[0]] + members, near.union(*(g[1] for g in joined))))
        return [members for members, _ in groups]

    def _referenced(self, functions: Iterable[Function]) -> list[Function]:
        names = dict.fromkeys(name for f in functions for name in self.used[f])
        return [self.module.globals[name] for name in names if name in self.module.globals]

    def _with_inlined(self, functions: Sequence[Function]) -> list[Function]:
        """These functions and those that are inlined into them."""
        found = dict.fromkeys(functions)
        left = list(functions)
        while left:
            new = [f for f in self._referenced([left.pop()]) if _inlined(f) and f not in found]
            found.update(dict.fromkeys(new))
            left += new
        return list(found)

    def _text(self, functions: Sequence[Function], variables: Sequence[str]) -> str:
        """The text of a module that defines these functions and declares what they use."""
        defined = self._with_inlined(functions)
        declared = [f.declaration for f in self._referenced(defined) if f not in defined]
        numbers: dict[str, int] = {}
        text = "\n".join([*variables, *declared, *map(str, defined)])
        text = METADATA.sub(lambda found: f"!{numbers.setdefault(found[1], len(numbers))}", text)
        nodes = self.module.metadata_nodes
        return "\n".join([text, *(f"!{n} = !{{{nodes[int(old)]}}}" for old, n in numbers.items()), ""])


def _inlined(function: Function) -> bool:
    return "alwaysinline" in function.attributes


def _name(function: Function) -> str:
    return function.name
