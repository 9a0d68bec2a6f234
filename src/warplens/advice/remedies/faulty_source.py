"""Faulty source: the line of a finding in the parsed source, with the arrays, loops and conditions in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from tree_sitter import Node

from warplens.compiler.parameter_type import types_of
from warplens.core.demangle import demangled
from warplens.counters.vocabulary import ALL, EXECUTED, Column
from warplens.errors import UsageError
from warplens.rules import Finding
from warplens.run import Run
from warplens.transform import KernelSource
from warplens.transform.syntax.array_element import ArrayElement, array_elements, struct_bytes
from warplens.transform.syntax.kernel_source import KernelParameter
from warplens.transform.syntax.lane_stride import Stride, loops_around, stride
from warplens.transform.syntax.macro_expansion import with_macros_expanded

LONGEST = 90  # characters of an expression
WARP = 32
FULL = 0.95  # of a warp's threads


class FaultySource:
    """finding: with its evidence;  run: it was found in"""

    def __init__(self, finding: Finding, run: Run) -> None:
        self.finding, self.run = finding, run
        self.evidence: Any = finding.evidence

    @cached_property
    def kernel(self) -> KernelSource | None:
        """The kernel's source, macros written out; None where it is not there or not clear."""
        compiled = demangled(self.run.kernel.kernel.name).partition("(")[0].removeprefix("void ")
        for text in self.run.subject.sources.values():
            for one in dict.fromkeys((self.run.kernel.name, compiled)):
                try:
                    return with_macros_expanded(KernelSource(text, one))
                except UsageError:
                    continue
        return None

    @cached_property
    def numbers(self) -> Mapping[str, int | float]:
        """Arguments that are numbers, by parameter."""
        if self.run.again is None:
            return {}
        kernel, block = self.run.kernel.kernel, self.run.again.parameters
        found: dict[str, int | float] = {}
        for place, known in zip(kernel.parameters, types_of(kernel, self.run.subject.sources), strict=False):
            data = block[place.offset : place.offset + place.size]
            kind = known.element
            if known.name and not known.pointer and kind is not None and kind.bytes == kind.dtype.itemsize == len(data):
                found[known.name] = np.frombuffer(data, kind.dtype)[0].item()
        return found

    @property
    def line(self) -> int:
        return self.finding.line.line if self.finding.line else 0

    @property
    def line_text(self) -> str:
        """The line as it is written."""
        text = self.run.subject.text_of(self.finding.line).strip() if self.finding.line else ""
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."

    def elements(self, space: str) -> list[ArrayElement]:
        """Of the line, in a memory space."""
        return self.elements_of(self.line, space)

    def elements_of(self, line: int, space: str) -> list[ArrayElement]:
        return array_elements(self.kernel, line, space) if self.kernel and line else []

    def text(self, node: Node) -> str:
        assert self.kernel is not None
        found = " ".join(self.kernel[node].split())
        return found if len(found) <= LONGEST else f"{found[: LONGEST - 3]}..."

    def stride(self, element: ArrayElement, along: str = "threadIdx.x", place: int = -1) -> Stride | None:
        """Of one of its indices, in elements."""
        assert self.kernel is not None
        return stride(self.kernel, element.indices[place], along, self.numbers)

    def bytes_of(self, kind: str) -> int | None:
        assert self.kernel is not None
        return self.kernel.element_bytes(kind) or struct_bytes(self.kernel, kind) or _vector_bytes(kind)

    def counted(self, element: ArrayElement) -> list[str]:
        """Variables of the loops around an element, innermost first."""
        return [name for _, name in loops_around(self.kernel, element.node) if name] if self.kernel else []

    def counters(self, element: ArrayElement) -> list[str]:
        """Those along which it moves by one."""
        found = ((name, self.stride(element, name)) for name in self.counted(element))
        return [name for name, step in found if step is not None and step.value == 1]

    def loops_of(self, element: ArrayElement) -> list[str]:
        """Heads of the loops around it, innermost first."""
        return [self.head(loop) for loop, _ in loops_around(self.kernel, element.node)] if self.kernel else []

    @cached_property
    def loop(self) -> Node | None:
        """The innermost loop that the line is in, or begins."""
        if self.kernel is None:
            return None
        loops = self.kernel.find("for_statement", "while_statement", "do_statement")
        around = [node for node in loops if node.start_point[0] < self.line <= node.end_point[0] + 1]
        return min(around, key=lambda node: node.end_byte - node.start_byte, default=None)

    @property
    def loop_counters(self) -> list[str]:
        """Variables that the loop around the line counts, and those of the loops around that."""
        if self.kernel is None or self.loop is None:
            return []
        body = self.loop.child_by_field_name("body")
        return [name for _, name in loops_around(self.kernel, body or self.loop) if name]

    def head(self, loop: Node | None) -> str:
        """ "for (int k = 0; k < n; k++)"."""
        body = loop.child_by_field_name("body") if loop else None
        if self.kernel is None or loop is None or body is None or loop.type == "do_statement":
            return ""
        return " ".join(self.kernel.data[loop.start_byte : body.start_byte].decode().split())

    @property
    def index(self) -> str:
        """A local variable that is the number of the thread, "" where there is none."""
        if self.kernel is None:
            return ""
        for node in self.kernel.find("init_declarator"):
            value, named = node.child_by_field_name("value"), node.child_by_field_name("declarator")
            if value is not None and named is not None and "threadIdx.x" in self.kernel[value]:
                return self.kernel[named]
        return ""

    def parameter(self, name: str) -> KernelParameter | None:
        return next((one for one in self.kernel.parameters if one.name == name), None) if self.kernel else None

    @cached_property
    def lanes(self) -> Mapping[int, float]:
        """Active threads of a warp by line of the kernel's file, on average over its instructions."""
        subject = self.run.subject
        executed, on = EXECUTED[ALL].of(subject.by_line), Column("threads_on")[ALL].of(subject.by_line)
        return {place.line: float(on[n] / executed[n]) for n, place in enumerate(subject.lines) if executed[n]}

    @cached_property
    def condition(self) -> Node | None:
        """The condition, dependent on the thread, behind which the fewest threads of a warp are active; of those around
        the line if there are any."""
        kernel = self.kernel
        if kernel is None:
            return None
        found = []
        for node in kernel.find("if_statement", "while_statement", "for_statement", "conditional_expression"):
            condition = node.child_by_field_name("condition")
            if condition is not None and self.depends_on_thread(condition):
                inside = range(node.start_point[0] + 1, node.end_point[0] + 2)
                lanes = [self.lanes[line] for line in inside if line in self.lanes]
                around = self.line in inside
                found.append((not around, min(lanes, default=WARP), node.start_byte, condition))
        chosen = min(found, key=lambda one: one[:3], default=None)
        return chosen[3] if chosen and chosen[1] < FULL * WARP else None

    def depends_on_thread(self, node: Node) -> bool:
        return self.kernel is not None and "threadIdx" in self.kernel.reached(node)

    def within_line(self, *types: str) -> list[Node]:
        """Nodes of these types that begin in the line."""
        if self.kernel is None:
            return []
        nodes = self.kernel.find(*types, within=self.kernel.root)  # it may be in a function that the kernel calls
        return [node for node in nodes if self.kernel.line(node) == self.line]


def _vector_bytes(kind: str) -> int | None:
    """Of float4, uchar3 ..."""
    sizes = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "half": 2, "int": 4, "uint": 4, "float": 4, "double": 8}
    size = sizes.get(kind.rstrip("234"))
    return size * int(kind[-1]) if size and kind[-1:] in "234" else None
