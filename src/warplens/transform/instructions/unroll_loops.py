"""Unroll loops: `#pragma unroll` in front of a loop, with another factor, or taken away.

More of a loop's loads are in flight at once, and fewer instructions count and branch; too far unrolled it costs
registers and instruction cache.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

FACTORS = (4, 8)
LEAST = 0.01  # of all executed instructions: a loop for what is left over is not worth a trial
LOOPS = ("for_statement", "while_statement", "do_statement")
PRAGMA = re.compile(r"#\s*pragma\s+(?:unroll(?:\s*\(?\s*(\w+)\s*\)?)?|nounroll)\s*$")


@transform()
def unroll_loops(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    for macro, line in kernel.used_macros:
        if macro.is_loop:
            yield Refusal("", line, f"no change of the loop that the macro {macro.name} hides: write it out")
    for loop in kernel.find(*LOOPS):
        if any(True for child in loop.children for _ in kernel.find(*LOOPS, within=child)):
            continue  # the innermost one
        if launch.lines and _share(kernel, launch, loop) < LEAST:
            continue
        pragma, line = _pragma(kernel, loop), kernel.line(loop)
        if pragma is not None:
            start, end, found = pragma
            for factor in FACTORS:
                if found[1] != str(factor):
                    yield Change(
                        "", f"unroll the loop by {factor}", line, (Edit(start, end, f"#pragma unroll {factor}"),)
                    )
            if found[1] is not None or "nounroll" in found[0]:
                yield Change(
                    "", "let the compiler choose how far the loop is unrolled", line, (_removed(kernel, start, end),)
                )
            continue
        start = loop.start_byte
        for factor in (1, *FACTORS):
            text = f"#pragma unroll {factor}\n{kernel.indent(loop)}"
            # as the only statement of another one, without braces, a pragma is not what tree-sitter's grammar expects
            if kernel.begins_line(loop) and loop.parent is not None and loop.parent.type == "compound_statement":
                title = "keep the loop as it is written" if factor == 1 else f"unroll the loop by {factor}"
                yield Change("", title, line, (Edit(start, start, text),))


def _share(kernel: KernelSource, launch: LaunchFacts, loop: Node) -> float:
    """Of all executed instructions, those of the loop and of the functions that it calls."""
    calls = [kernel.functions.get(kernel.called(call)) for call in kernel.find("call_expression", within=loop)]
    nodes = [loop, *(function for function in calls if function is not None)]
    lines = {line for node in nodes for line in range(node.start_point[0] + 1, node.end_point[0] + 2)}
    return sum(share for line, share in launch.lines.items() if line in lines)


def _pragma(kernel: KernelSource, loop: Node) -> tuple[int, int, re.Match[str]] | None:
    """Bytes and match of the `#pragma unroll` in the line before a loop."""
    end = kernel.data.rfind(b"\n", 0, loop.start_byte)
    start = kernel.data.rfind(b"\n", 0, max(end, 0)) + 1
    text = kernel.data[start:end].decode() if end > 0 else ""
    found = PRAGMA.search(text)
    return (start + len(text[: found.start()].encode()), end, found) if found else None


def _removed(kernel: KernelSource, start: int, end: int) -> Edit:
    return Edit(kernel.data.rfind(b"\n", 0, start) + 1, end + 1, "")
