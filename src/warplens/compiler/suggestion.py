"""Launch suggestions: a launch block from a kernel's declaration and its file's host code.

Sizes are guesses to be changed; what the file itself has (threads of a block, names, types) is taken from there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement, count
from math import prod
from typing import TypeGuard

from warplens.compiler.c_types import TYPES
from warplens.compiler.host_code import blanked
from warplens.compiler.host_launch import HostLaunch, commas, instance_of_launch, launched
from warplens.compiler.ptx import declared
from warplens.compiler.signature import declarations, declared_name
from warplens.core.cubin import Kernel
from warplens.core.demangle import demangled
from warplens.launchspec.element_type import parse_element
from warplens.launchspec.expression import Number

QUALIFIERS = re.compile(r"\b(const|volatile|struct|__restrict(__)?|restrict|__grid_constant__|std::(?=\w+_t\b))")
TEMPLATE = re.compile(
    r"\btemplate\s*<([^{};]*?)>\s*(?:static\s+)?__global__(?:\s+__launch_bounds__\s*\([^)]*\)|[^{};(])*?\b(\w+)\s*\("
)
STRUCTURE = re.compile(r"\bstruct\s+(?:__align__\s*\(\d+\)\s*)?(\w+)\s*\{([^{}()]*)\}")
SIZES = ("i16", "u16", "i32", "u32", "i64", "u64")  # types that sizes have; bytes are flags and values
SIDES = {0: (), 1: (1 << 20,), 2: (1024, 1024)}  # sizes for one name and for two; for more:
SIDE = 128
RESIDENT = 64  # blocks that any GPU holds at once
THREADS = {1: (256,), 2: (16, 16), 3: (8, 8, 4)}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One table of a launch block, and the names above it."""

    names: Mapping[str, int]
    lines: tuple[str, ...] = field(default=())


def launch_block(kernels: Mapping[str, Kernel], source: str) -> str:
    """The comment block for kernels, by title, from their declarations and the host code of their file."""
    names: dict[str, int] = {}
    found = []
    for title, kernel in kernels.items():
        found.append(suggestion(title, kernel, source, names))
        names |= found[-1].names
    lines = [f"{name} = {value}" for name, value in names.items()]
    for one in found:
        lines += ["", *one.lines]
    body = "\n".join(f"// {line}".rstrip() for line in (lines if names else lines[1:]))
    return f"// /// warplens\n{body}\n// ///"


def suggestion(title: str, kernel: Kernel, source: str, taken: Mapping[str, int]) -> Suggestion:
    """A table for the kernel of this name; what the source lacks is guessed from sizes in bytes.

    taken   names of the block: a size that the host passes and that differs gets another name
    """
    parameters = kernel.parameters
    declared_as = declarations(source, kernel.name, len(parameters)) or declared(source, kernel.name)
    declared_as = declared_as if len(declared_as) == len(parameters) else tuple("" for _ in parameters)
    name = title.split("<")[0].split(":")[-1]
    types = _types(name, demangled(kernel.name), source)
    declared_as = tuple(
        re.sub(r"\b[A-Za-z_]\w*\b", lambda word: types.get(word[0], word[0]), text) for text in declared_as
    )
    plain = _body(name, blanked(source))
    dims = 3 if "threadIdx.z" in plain else 2 if "threadIdx.y" in plain else 1
    host = launched(name, source) or HostLaunch(_threads(dims, kernel.max_threads))
    values = [*host.values, *(None for _ in declared_as)]
    declared_as = tuple(_untaken(text, value, taken) for text, value in zip(declared_as, values, strict=False))
    given = [*host.given, *(None for _ in declared_as)]
    unknown = [text for text, memory in zip(declared_as, given, strict=False) if "*" in text and memory is None]
    block, sizes = host.block, _sizes(declared_as, bool(unknown) or not host.grid)
    extent = list(sizes)[:3]
    if len(sizes) == 1 < len(block):  # one side of a square
        extent = extent * 2
        sizes = dict.fromkeys(sizes, SIDES[2][0])
    passed = {declared_name(text): value for text, value in zip(declared_as, values, strict=False) if value is not None}
    sizes = {name: value if _is_size(value := passed.get(name)) else taken.get(name, sizes[name]) for name in sizes}
    words = [
        _argument(text, p.size, sizes, extent, passed, memory, source)
        for text, p, memory in zip(declared_as, parameters, given, strict=False)
    ]
    table = [
        f"[{title}]" if re.fullmatch(r"\w+", title) else f'["{title}"]',
        f"grid = {_grid(host, sizes, passed)}",
        f"block = {list(block) if len(block) > 1 else block[0]}",
    ]
    if host.shared:
        table.append(f"shared = {host.shared}")
    if "this_grid" in plain or "grid_group" in plain:
        table[1:2] = [f"grid = {RESIDENT}", "cooperative = true"]
    if words:
        table.append(f"args = [{', '.join(words)}]")
    return Suggestion(sizes, tuple(table))


def _untaken(declared_as: str, value: Number | None, taken: Mapping[str, int]) -> str:
    """The declaration of a parameter, with another name if a size of its name is known that differs."""
    name = declared_name(declared_as)
    if "*" in declared_as or not _is_size(value) or taken.get(name, value) == value:
        return declared_as
    number = next(number for number in count(2) if taken.get(f"{name}_{number}", value) == value)
    return re.sub(rf"\b{name}\b", f"{name}_{number}", declared_as)


def _is_size(value: Number | None) -> TypeGuard[int]:
    return isinstance(value, int) and value > 0


def _grid(host: HostLaunch, sizes: Mapping[str, int], passed: Mapping[str, Number]) -> str:
    """Enough threads for every size; or as the host has it, where it gives all sizes too and has another."""
    across = (list(sizes) * 3)[: len(host.block)] if len(host.block) > 1 else [" * ".join(sizes)]
    counts = [sizes[name] for name in across] if len(host.block) > 1 and sizes else [prod(sizes.values())]
    enough = tuple(-(-count // threads) for count, threads in zip(counts, host.block, strict=False))
    if host.grid and enough != host.grid and all(passed.get(name) == size for name, size in sizes.items()):
        return str(list(host.grid) if len(host.grid) > 1 else host.grid[0])
    if not sizes:
        return "1"
    pairs = zip(across, host.block, strict=False)
    return f'"{", ".join(f"ceil({size} / {threads})" if threads > 1 else size for size, threads in pairs)}"'


def instances(source: str, launched_only: bool = False) -> tuple[str, ...]:
    """Templates of the file as --kernel takes them: "sum<float, 256>", as the host launches them or, unless
    `launched_only`, from the types of their parameters."""
    found = []
    for parameters, name in TEMPLATE.findall(source):
        if name != "__launch_bounds__":
            guess = "" if launched_only else f"{name}<{', '.join(_instance(each) for each in commas(parameters))}>"
            found.append(instance_of_launch(name, source) or guess)
    return tuple(filter(None, found))


def _instance(parameter: str) -> str:
    """A guess for one parameter of a template."""
    if re.match(r"\s*(typename|class)\b", parameter):
        return "float"
    return "true" if re.match(r"\s*bool\b", parameter) else str(THREADS[1][0])


def _types(name: str, instance: str, source: str) -> dict[str, str]:
    """What the template's types are in "sum<double, 4>": {"T": "double"}."""
    given = commas(instance[instance.index("<") + 1 : -1]) if instance.endswith(">") else []
    asked = next((commas(parameters) for parameters, found in TEMPLATE.findall(source) if found == name), [])
    pairs = ((re.match(r"\s*(?:typename|class)\s+(\w+)", one), other) for one, other in zip(asked, given, strict=False))
    return {match[1]: other.strip() for match, other in pairs if match}


def _body(name: str, plain: str) -> str:
    """From the kernel's `__global__` to the next one; all of the text where a macro writes it."""
    parts = re.split(r"\b__global__\b", plain)[1:]
    return next((part for part in parts if re.search(rf"\b{re.escape(name)}\s*\(", part.split("{")[0])), plain)


def _threads(dims: int, most: int | None) -> tuple[int, ...]:
    """Of a block, in so many dimensions; most: from `__launch_bounds__`, or None."""
    usual = THREADS[dims]
    return usual if most is None or prod(usual) <= most else (most, 1, 1)[:dims]


def _sizes(declared_as: Sequence[str], one: bool) -> dict[str, int]:
    """The integers that are passed by value, with a guess: the first three are sizes, others 1.

    one   where there is none, n is the size of the arrays
    """
    whole = [declared_name(text) for text in declared_as if "*" not in text and _type(text) in SIZES]
    named = [name for name in whole if name] or (["n"] if one and any("*" in text for text in declared_as) else [])
    sides = SIDES.get(len(named), (SIDE,) * 3)
    return dict(zip(named, (*sides, *(1 for _ in named)), strict=False))


def _argument(
    text: str, size: int, sizes: Mapping[str, int], sides: Sequence[str], passed: Mapping[str, Number],
    memory: Number | None, source: str,
) -> str:  # fmt: skip
    """In quotes, as in `args`.

    sides   of an array whose memory is not known, in bytes;  passed: numbers that the host passes
    """
    name = declared_name(text)
    label = f"{name} = " if name else ""
    kind = _type(text.replace("*", " ").split("[")[0])
    if "*" in text or "[" in text or (not text and size == 8):
        fill = "random" if re.search(r"\bconst\b[^*]*\*", text) else "zeros"
        if isinstance(memory, int):
            return f'"{label}{fill} {kind or "u8"}[{_extent(memory // parse_element(kind or "u8").bytes, sizes)}]"'
        extent = " * ".join(sides) or str(1 << 20)
        return f'"{label}{fill} {kind or "u8"}[{extent if kind else f"{extent} * 16"}]"'
    if name in sizes:
        return f'"{name}"'
    if "x" in kind:
        return f'"{label}struct({kind} 0)"'
    if fields := _fields(text, source, sizes):
        return f'"{label}struct({", ".join(fields)})"'
    if size not in (1, 2, 4, 8):
        return f'"{label}struct({", ".join(["f32 0"] * (size // 4) + ["u8 0"] * (size % 4))})"'
    value = passed.get(name, 1)
    return f'"{label}{float(value)}"' if kind.startswith("f") else f'"{label}{value}"'


def _fields(text: str, source: str, sizes: Mapping[str, int]) -> list[str]:
    """Of a structure that the file declares, with 1 for floats and for integers a size; none where one is no number."""
    bodies = dict(STRUCTURE.findall(blanked(source)))
    inside = next((bodies[word] for word in text.split() if word in bodies), "")
    found = []
    for line in filter(None, map(str.strip, inside.split(";"))):
        first, *others = (each.strip() for each in line.split(","))
        kind = _type(first)
        if not kind or "*" in line or "[" in line:
            return []
        for name in (first.split()[-1], *others):
            size = name if name in sizes else next(iter(sizes), "1")
            found.append(f"{kind} {'1' if not kind.startswith(SIZES) else size}")
    return found


def _extent(elements: int, sizes: Mapping[str, int]) -> str:
    """In sizes, if it is one of them or a product of up to three; a power only where nothing else fits."""
    products = [chosen for many in (1, 2, 3) for chosen in combinations_with_replacement(sizes, many)]
    products.sort(key=lambda names: len(names) - len(set(names)))
    return next(
        (" * ".join(names) for names in products if prod(sizes[name] for name in names) == elements), str(elements)
    )


def _type(text: str) -> str:
    """ "f32" for "const float x"; "" for a type of the file's own."""
    words = QUALIFIERS.sub(" ", text).replace("*", " ").split()
    return TYPES.get(" ".join(words[:-1]), "") or TYPES.get(" ".join(words), "")
