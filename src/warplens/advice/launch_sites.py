"""Launch sites: the kernel<<<grid, block>>> of host code, and what a changed launch makes of them.

Grid and block are expressions of the program's own sizes, and stay so: `<<<(n + 255) / 256, 256>>>` with four elements
a thread becomes `<<<((n + 255) / 256 + 3) / 4, 256>>>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tree_sitter import Node, Parser

from warplens.core.launch import Dim3, Launch
from warplens.transform import KernelSource, LaunchChange, LaunchFacts
from warplens.transform._change import SAME_LAUNCH, Edit, edited
from warplens.transform.syntax.canonical_form import canonical
from warplens.transform.syntax.guarded_index import NotSafe, guarded_index
from warplens.transform.syntax.kernel_source import CUDA, walk

ONE = (1, 1, 1)


@dataclass(frozen=True)
class LaunchRewrite:
    """What a change does to each launch of its kernel, whatever the launch's size.

    over      the grid is divided, rounded up;  times: it is multiplied in x;  blocks: it is this
    threads   of a block by axis, with a grid of as many threads, None where they stay;  swapped: x and y are exchanged
              in both
    block     of all launches, beside `times`
    Exactly one of the others is set; of `swapped` and `threads` the exchange comes first.
    """

    over: Dim3 | None = None
    times: int | None = None
    blocks: Dim3 | None = None
    threads: tuple[int | None, ...] | None = None
    swapped: bool = False
    block: Dim3 | None = None

    def applied(self, launch: Launch) -> Launch:
        """The launch that takes the place of this one."""
        (gx, gy, gz), (bx, by, bz) = launch.grid, launch.block
        if self.swapped:
            launch = replace(launch, grid=(gy, gx, gz), block=(by, bx, bz))
            return replace(self, swapped=False).applied(launch) if self.threads else launch
        if self.over is not None:
            x, y, z = self.over
            return replace(launch, grid=(-(-gx // x), -(-gy // y), -(-gz // z)))
        if self.times is not None:
            return replace(launch, grid=(gx * self.times, gy, gz), block=self.block or launch.block)
        if self.blocks is not None:
            return replace(launch, grid=self.blocks)
        along = zip(launch.grid, launch.block, self.threads or (None,) * 3, strict=True)
        (gx, bx), (gy, by), (gz, bz) = ((-(-g * b // t), t) if t else (g, b) for g, b, t in along)
        return replace(launch, grid=(gx, gy, gz), block=(bx, by, bz))


def rewrite_of(change: LaunchChange, facts: LaunchFacts) -> LaunchRewrite | None:
    """None where the change is right only for the sizes of this one launch."""
    (gx, gy, gz), (bx, by, bz) = facts.grid, facts.block
    if change.grid is None and change.grid_times > 1:
        # as many columns of threads as before, or a block for each of the threads
        stays = change.block is None or bx in (change.block[0] * change.grid_times, change.grid_times)
        return LaunchRewrite(times=change.grid_times, block=change.block) if stays and change.grid_over == ONE else None
    if change.grid is None:
        return LaunchRewrite(over=change.grid_over) if change.block is None else None
    if change.block is None:
        return LaunchRewrite(blocks=change.grid) if (gy, gz) == (1, 1) else None
    if change.exchanged > 1:
        return None
    swapped = bool(change.exchanged)
    grid, block = ((gy, gx, gz), (by, bx, bz)) if swapped else (facts.grid, facts.block)
    if change.grid != tuple(g * b // t for g, b, t in zip(grid, block, change.block, strict=True)):
        return None
    threads = tuple(t if t != b else None for t, b in zip(change.block, block, strict=True))
    return LaunchRewrite(threads=threads if any(threads) else None, swapped=swapped)


def why_not_rewritten(kernel: KernelSource, change: LaunchChange, facts: LaunchFacts, texts: dict[str, str]) -> str:
    """Why a change of the launch is not made in these files; "" where it can be, or where the launch stays."""
    if change == SAME_LAUNCH:
        return ""
    rewrite = rewrite_of(change, facts)
    if rewrite is None:
        return "its grid is right for launches of this size alone"
    sizes = zip("xyz", facts.block, rewrite.threads or (), strict=False)
    larger = [axis for axis, now, size in sizes if size and now % size]
    if rewrite.swapped and rewrite.threads:
        larger = ["x", "y"]
    if larger and not _is_guarded(kernel, facts) and not all(_is_tested(kernel, axis) for axis in larger):
        return (
            "the kernel does not test whether its thread is within the data: in launches of other sizes larger blocks "
            "would start threads beyond it"
        )
    if not any(any(_sites(text, kernel.name)) for text in texts.values()):
        return f"the launch would change, and {kernel.name}<<<...>>> stands in none of the files"
    for name, text in texts.items():
        if line := _used_elsewhere(text, kernel.name):
            return f"the launch would change, and {name}:{line} uses {kernel.name} other than by <<<...>>>"
    return ""


def _is_guarded(kernel: KernelSource, facts: LaunchFacts) -> bool:
    try:
        return guarded_index(kernel, facts) is not None
    except NotSafe:
        return False


def _is_tested(kernel: KernelSource, axis: str) -> bool:
    """Whether an `if` on top of the kernel compares the thread's number in the grid along this axis with something."""
    number = f"blockDim.{axis}*blockIdx.{axis}+threadIdx.{axis}"
    tests = [one.child_by_field_name("condition") for one in kernel.body.named_children if one.type == "if_statement"]
    return any(
        canonical(kernel, side) == number
        for test in tests if test is not None
        for node in kernel.find("binary_expression", within=test) if kernel[node.children[1]] in ("<", "<=", ">", ">=")
        for side in (node.children[0], node.children[2])
    )  # fmt: skip


def with_launches(text: str, kernel: str, rewrite: LaunchRewrite) -> str:
    """A file with all its launches of a kernel rewritten; as it was where there are none."""
    return edited(text, (edit for site in _sites(text, kernel) for edit in site.edits(rewrite)))


@dataclass(frozen=True)
class LaunchSite:
    """One <<<...>>>.  root: of the file;  grid, block: their nodes"""

    data: bytes
    root: Node
    grid: Node
    block: Node

    def edits(self, rewrite: LaunchRewrite) -> Iterator[Edit]:
        grid, block = self.axes(self.grid), self.axes(self.block)
        if rewrite.swapped:
            grid, block = ([*(*sizes, "1")[1::-1], *sizes[2:]] for sizes in (grid, block))
        if rewrite.over is not None:
            grid = [_divided(size, over) for size, over in zip((*grid, "1", "1"), rewrite.over, strict=False)]
        elif rewrite.times is not None:
            grid = [_multiplied(grid[0], rewrite.times), *grid[1:]]
            block = [str(size) for size in rewrite.block] if rewrite.block else block
        elif rewrite.blocks is not None:
            grid = [str(size) for size in rewrite.blocks]
        elif rewrite.threads is not None:
            grid, block = ([*sizes, *"11"][: max(len(grid), len(block))] for sizes in (grid, block))
            for axis, (size, threads) in enumerate(zip(block, rewrite.threads, strict=False)):
                if threads:
                    grid[axis] = _divided(f"{_factor(grid[axis])} * {_factor(size)}", threads)
                    block[axis] = str(threads)
        for node, sizes in ((self.grid, grid), (self.block, block)):
            text = _dim3(sizes)
            if text != self.text(node):
                yield Edit(node.start_byte, node.end_byte, text)

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode()

    def axes(self, node: Node) -> list[str]:
        """The sizes of x, y and z as expressions; of x alone where it is a number."""
        if node.type == "call_expression" and self.text(node).startswith("dim3"):
            arguments = node.child_by_field_name("arguments")
            listed = [one for one in (arguments.named_children if arguments else ()) if one.type != "comment"]
            # the only one may be a dim3 itself
            return self.axes(listed[0]) if len(listed) == 1 else [self.text(one) for one in listed] or ["1"]
        if node.type == "identifier" and self.text(node) in self._dim3_variables:
            return [f"{self.text(node)}.{axis}" for axis in "xyz"]
        return [self.text(node)]

    @property
    def _dim3_variables(self) -> set[str]:
        found = set()
        for node in walk(self.root):
            if node.type in ("declaration", "parameter_declaration"):
                kind = node.child_by_field_name("type")
                if kind is not None and self.text(kind).endswith("dim3"):
                    named = node.children_by_field_name("declarator")
                    leaves = (next((n for n in walk(one) if n.type == "identifier"), None) for one in named)
                    found |= {self.text(leaf) for leaf in leaves if leaf is not None}
        return found


def _sites(text: str, kernel: str) -> Iterator[LaunchSite]:
    if kernel not in text:
        return
    data = text.encode()
    root = Parser(CUDA).parse(data).root_node
    for node in walk(root):
        if node.type == "call_expression" and (syntax := _launch_syntax(node)) is not None:
            called = node.child_by_field_name("function")
            if called is not None and _name(data, called) == kernel:
                grid, block = [child for child in syntax.named_children if child.type != "comment"][:2]
                yield LaunchSite(data, root, grid, block)


def _launch_syntax(call: Node) -> Node | None:
    """The <<<...>>> of a call with at least a grid and a block."""
    found = next((child for child in call.children if child.type == "kernel_call_syntax"), None)
    return found if found is not None and found.named_child_count >= 2 and not found.has_error else None


def _name(data: bytes, called: Node) -> str:
    """Without namespaces and template arguments."""
    text = data[called.start_byte : called.end_byte].decode()
    return text.partition("<")[0].rpartition("::")[2].strip()


def _used_elsewhere(text: str, kernel: str) -> int:
    """A line that names a kernel and neither defines, declares nor launches it; 0 for none."""
    if kernel not in text:
        return 0
    data = text.encode()
    for node in walk(Parser(CUDA).parse(data).root_node):
        if node.type == "identifier" and data[node.start_byte : node.end_byte].decode() == kernel:
            up = node.parent
            while up is not None and up.type in ("template_function", "qualified_identifier"):
                up = up.parent
            launched = up is not None and up.type == "call_expression" and _launch_syntax(up) is not None
            if not launched and (up is None or up.type != "function_declarator"):
                return node.start_point[0] + 1
    return 0


def _factor(text: str) -> str:
    """In parentheses where it is more than a name, a field or a number."""
    return text if re.fullmatch(r"[\w.]+", text) else f"({text})"


def _divided(size: str, over: int) -> str:
    """Rounded up."""
    if over == 1:
        return size
    if size.isdecimal():
        return str(-(-int(size) // over))
    addend = size if re.fullmatch(r"[\w.\s+*/()-]+", size) else f"({size})"
    return f"({addend} + {over - 1}) / {over}"


def _multiplied(size: str, times: int) -> str:
    return str(int(size) * times) if size.isdecimal() else f"{_factor(size)} * {times}"


def _dim3(sizes: list[str]) -> str:
    """As text, without sizes of 1 at the end."""
    while len(sizes) > 1 and sizes[-1] == "1":
        sizes = sizes[:-1]
    name = sizes[0].removesuffix(".x")
    if sizes == [f"{name}.{axis}" for axis in "xyz"]:
        return name
    return sizes[0] if len(sizes) == 1 else f"dim3({', '.join(sizes)})"
