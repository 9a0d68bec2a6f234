"""Launch template: a launch block to be filled in, for kernels that have none.

Parameters have the names and types of their declarations; sizes are examples.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from warplens.compiler.host_code import strip_host_code
from warplens.compiler.parameter_type import ParameterType, types_of
from warplens.compiler.signature import body, declarations
from warplens.core.cubin import Kernel

SIZES = {1: (1 << 20,), 2: (1024, 1024)}  # examples for one name and for two; for three:
SIDE = 128
THREADS = 256
SHAPES = {"y": (16, 16), "z": (8, 8, 4)}  # of blocks of kernels that use threads or blocks along this axis
GUESS = "  # a guess: see how the kernel uses x, y and z"


def is_program(source: str) -> bool:
    """Whether the file has `main`."""
    return "main" in strip_host_code(source).left_out


def launch_template(kernels: Mapping[str, Kernel], source: str) -> str:
    """The comment block for kernels, by title."""
    sizes: dict[str, int] = {}
    tables = [_table(title, kernel, source, sizes) for title, kernel in kernels.items()]
    names = [f"{name} = {value}" for name, value in sizes.items()]
    lines = [line for table in (names, *tables) if table for line in ("", *table)][1:]
    body = "\n".join(f"// {line}".rstrip() for line in lines)
    return f"// /// warplens\n{body}\n// ///"


def _table(title: str, kernel: Kernel, source: str, sizes: dict[str, int]) -> list[str]:
    count = len(kernel.parameters)
    types = types_of(kernel, {"": source}) or (ParameterType(),) * count
    declared = declarations(source, kernel.name, count) or ("",) * count
    own = [kind.name for kind in types if _is_size(kind)][:3] or ["n"]
    threads = min(kernel.max_threads or THREADS, THREADS)
    shape = _shape(body(source, kernel.name), threads)
    own = [own[min(place, len(own) - 1)] for place in range(max(len(shape), len(own)))]  # one size serves for all axes
    extent = " * ".join(own)
    examples = SIZES.get(len(own), (SIDE,) * len(own))
    for name, example in zip(own, examples, strict=True):
        sizes[name] = min(sizes.get(name, example), example)
    words = [
        _argument(kind, text, parameter.size, extent, own)
        for kind, text, parameter in zip(types, declared, kernel.parameters, strict=True)
    ]
    return [
        f"[{title}]" if title.isidentifier() else f'["{title}"]',
        *_launch(own, shape or (threads,), extent),
        *([f"args = [{', '.join(words)}]"] if words else []),
    ]


def _shape(code: str, threads: int) -> tuple[int, ...]:
    """Threads of a block along each axis; () for a kernel that uses x alone."""
    for axis, shape in reversed(SHAPES.items()):
        if threads == THREADS and re.search(rf"(?:threadIdx|blockIdx)\s*\.\s*{axis}\b", code):
            return shape
    return ()


def _launch(own: list[str], shape: tuple[int, ...], extent: str) -> list[str]:
    """grid and block."""
    if len(shape) > 1:
        axes = ", ".join(f'"ceil({name} / {side})"' for name, side in zip(own, shape, strict=False))
        return [f"grid = [{axes}]{GUESS}", f"block = [{', '.join(map(str, shape))}]"]
    whole = extent if len(own) == 1 else f"({extent})"
    return [f'grid = "ceil({whole} / {shape[0]})"', f"block = {shape[0]}"]


def _is_size(kind: ParameterType) -> bool:
    number = kind.element
    return bool(kind.name and number and not kind.pointer and number.whole and number.bytes >= 4)


def _argument(kind: ParameterType, declared: str, size: int, extent: str, own: list[str]) -> str:
    """In quotes, as in `args`."""
    label, element = f"{kind.name} = " if kind.name else "", kind.element
    if kind.pointer or (size == 8 and element is None):
        fill = "random" if "const" in declared else "zeros"
        return f'"{label}{fill} {element.name}[{extent}]"' if element else f'"{label}{fill} u8[({extent}) * 16]"'
    if kind.name in own:
        return f'"{kind.name}"'
    if element is None and size not in (1, 2, 4):
        return f'"{label}struct({", ".join(["f32 0"] * (size // 4) + ["u8 0"] * (size % 4))})"'
    return f'"{label}{1.0 if element and not element.whole else 1}"'
