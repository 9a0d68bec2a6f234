"""A launch block for a kernel that has none, from its declaration and from the host code of its file.  F3.

Sizes are guesses to be changed; what the file itself says (threads of a block, names, types) is taken from there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from warplens.compiler.demangle import demangled
from warplens.compiler.host_code import blanked, closing
from warplens.compiler.signature import declarations, declared_name
from warplens.errors import UsageError
from warplens.expression import evaluate_list, evaluate_whole
from warplens.kernel import Kernel

TYPES = {
    "float": "f32", "double": "f64", "int": "i32", "unsigned": "u32", "unsigned int": "u32", "uint": "u32",
    "char": "i8", "signed char": "i8", "unsigned char": "u8", "uchar": "u8", "bool": "u8", "short": "i16",
    "unsigned short": "u16", "ushort": "u16", "long": "i64", "long int": "i64", "long long": "i64",
    "long long int": "i64", "unsigned long": "u64", "unsigned long long": "u64", "unsigned long long int": "u64",
    "size_t": "u64", "half": "f16", "__half": "f16", "__nv_bfloat16": "bf16", "nv_bfloat16": "bf16",
    "half2": "f16x2", "__half2": "f16x2", "__nv_bfloat162": "bf16x2", "cuFloatComplex": "f32x2", "cuComplex": "f32x2",
    "cuDoubleComplex": "f64x2", "T": "f32", "scalar_t": "f32",
}  # fmt: skip
TYPES |= {f"{'u' if s == 'u' else ''}int{bits}_t": f"{s}{bits}" for s in "iu" for bits in (8, 16, 32, 64)}
VECTORS = ("float", "f32", "double", "f64", "int", "i32", "uint", "u32", "uchar", "u8", "char", "i8")
TYPES |= {f"{c}{k}": f"{short}x{k}" for c, short in zip(VECTORS[::2], VECTORS[1::2], strict=True) for k in (2, 3, 4)}
QUALIFIERS = re.compile(r"\b(const|volatile|struct|__restrict(__)?|restrict|__grid_constant__|std::(?=\w+_t\b))")
TEMPLATE = re.compile(
    r"\btemplate\s*<([^{};]*?)>\s*(?:static\s+)?__global__(?:\s+__launch_bounds__\s*\([^)]*\)|[^{};(])*?\b(\w+)\s*\("
)
LAUNCH = r"\b{}\s*(?:<[^;{{}}]*?>)?\s*<<<(?P<how>.*?)>>>\s*\("
COUNT = re.compile(r"(?:#[ \t]*define[ \t]+|\b(?:int|unsigned|size_t|auto|long)\s+)(\w+)\s*=?\s*\(?([\d][\w \t*+<-]*)")
DIM3 = re.compile(r"\bdim3\s+([^;]*);")
DIM3_NAME = re.compile(r"\s*(\w+)\s*[({=]\s*(?:dim3\s*[({])?(.*?)[)}]*\s*$", re.DOTALL)
SIZES = ("i16", "u16", "i32", "u32", "i64", "u64")  # types that sizes have; bytes are flags and values
SIDES = {0: (), 1: (1 << 20,), 2: (1024, 1024)}  # sizes for one name and for two; for more:
SIDE = 128
SHARED = 4096
MOST_THREADS = 1024
RESIDENT = 64  # blocks that any GPU holds at once
THREADS = {1: (256,), 2: (16, 16), 3: (8, 8, 4)}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One table of a launch block, and the names above it."""

    names: Mapping[str, int]
    lines: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Launched:
    """A `<<<...>>>` of the host's: bytes as a number or ""; a grid of () and a value of 0 are not known."""

    block: tuple[int, ...]
    shared: str = ""
    grid: tuple[int, ...] = ()
    values: tuple[int, ...] = ()


def launch_block(found: Sequence[Suggestion]) -> str:
    """The comment block for these kernels."""
    names = {name: value for one in reversed(found) for name, value in one.names.items()}
    lines = [f"{name} = {value}" for name, value in names.items()]
    for one in found:
        lines += ["", *one.lines]
    body = "\n".join(f"// {line}".rstrip() for line in lines)
    return f"// /// warplens\n{body}\n// ///"


def suggestion(title: str, kernel: Kernel, source: str) -> Suggestion:
    """A table for the kernel of this name; what the source does not tell is guessed from sizes in bytes."""
    parameters = kernel.parameters
    said = declarations(source, kernel.name, len(parameters)) or tuple("" for _ in parameters)
    name = title.split("<")[0].split(":")[-1]
    types = _types(name, demangled(kernel.name), source)
    said = tuple(re.sub(r"\b[A-Za-z_]\w*\b", lambda word: types.get(word[0], word[0]), text) for text in said)
    plain = _body(name, blanked(source))
    dims = 3 if "threadIdx.z" in plain else 2 if "threadIdx.y" in plain else 1
    host = _launched(name, source) or Launched(_threads(dims, kernel.max_threads))
    block, sizes = host.block, _sizes(said)
    extent = list(sizes)[:3]
    if len(sizes) == 1 < len(block):  # one side of a square
        extent = extent * 2
        sizes = dict.fromkeys(sizes, SIDES[2][0])
    told = {declared_name(text): value for text, value in zip(said, host.values, strict=False) if value}
    words = [_argument(text, p.size, list(sizes), extent) for text, p in zip(said, parameters, strict=True)]
    table = [
        f"[{title}]" if re.fullmatch(r"\w+", title) else f'["{title}"]',
        f"grid = {_grid(host, list(sizes), told)}",
        f"block = {list(block) if len(block) > 1 else block[0]}",
    ]
    if host.shared:
        table.append(f"shared = {host.shared}")
    if "this_grid" in plain or "grid_group" in plain:
        table[1:2] = [f"grid = {RESIDENT}", "cooperative = true"]
    if words:
        table.append(f"args = [{', '.join(words)}]")
    return Suggestion({name: told.get(name, guess) for name, guess in sizes.items()}, tuple(table))


def _grid(host: Launched, sizes: Sequence[str], told: Collection[str]) -> str:
    """As the host has it, where it says all sizes too; or enough threads for every size."""
    if host.grid and told and all(name in told for name in sizes):
        return str(list(host.grid) if len(host.grid) > 1 else host.grid[0])
    across = (list(sizes) * 3)[: len(host.block)] if len(host.block) > 1 else [" * ".join(sizes)]
    if not sizes:
        return "1"
    pairs = zip(across, host.block, strict=False)
    return f'"{", ".join(f"ceil({size} / {threads})" if threads > 1 else size for size, threads in pairs)}"'


def instances(source: str) -> tuple[str, ...]:
    """Templates of the file as --kernel takes them: "sum<float, 256>", from the types of their parameters."""
    return tuple(
        f"{name}<{', '.join(_instance(parameter) for parameter in _commas(parameters))}>"
        for parameters, name in TEMPLATE.findall(source)
        if name != "__launch_bounds__"
    )


def _instance(parameter: str) -> str:
    """A guess for one parameter of a template."""
    if re.match(r"\s*(typename|class)\b", parameter):
        return "float"
    return "true" if re.match(r"\s*bool\b", parameter) else str(THREADS[1][0])


def _types(name: str, instance: str, source: str) -> dict[str, str]:
    """What the template's types are in "sum<double, 4>": {"T": "double"}."""
    given = _commas(instance[instance.index("<") + 1 : -1]) if instance.endswith(">") else []
    asked = next((_commas(parameters) for parameters, found in TEMPLATE.findall(source) if found == name), [])
    pairs = ((re.match(r"\s*(?:typename|class)\s+(\w+)", one), other) for one, other in zip(asked, given, strict=False))
    return {match[1]: other.strip() for match, other in pairs if match}


def _body(name: str, plain: str) -> str:
    """From the kernel's `__global__` to the next one; all of the text where a macro writes it."""
    parts = re.split(r"\b__global__\b", plain)[1:]
    return next((part for part in parts if re.search(rf"\b{re.escape(name)}\s*\(", part.split("{")[0])), plain)


def _threads(dims: int, most: int | None) -> tuple[int, ...]:
    """Of a block, in so many dimensions; most: as `__launch_bounds__` says, or None."""
    usual = THREADS[dims]
    return usual if most is None or prod(usual) <= most else (most, 1, 1)[:dims]


def _sizes(said: Sequence[str]) -> dict[str, int]:
    """The integers that are passed by value, with a guess: the first three are sizes, others 1."""
    whole = [declared_name(text) for text in said if "*" not in text and _type(text) in SIZES]
    named = [name for name in whole if name] or (["n"] if any("*" in text for text in said) else [])
    sides = SIDES.get(len(named), (SIDE,) * 3)
    return dict(zip(named, (*sides, *(1 for _ in named)), strict=False))


def _argument(text: str, size: int, sizes: Sequence[str], sides: Sequence[str]) -> str:
    """In quotes, as it stands in `args`; sides: of an array."""
    name = declared_name(text)
    label = f"{name} = " if name else ""
    kind = _type(text.replace("*", " ").split("[")[0])
    if "*" in text or "[" in text or (not text and size == 8):
        fill = "random" if re.search(r"\bconst\b[^*]*\*", text) else "zeros"
        extent = " * ".join(sides) or str(1 << 20)
        return f'"{label}{fill} {kind or "u8"}[{extent if kind else f"{extent} * 16"}]"'
    if name in sizes:
        return f'"{name}"'
    if "x" in kind:
        return f'"{label}struct({kind} 0)"'
    if size not in (1, 2, 4, 8):
        return f'"{label}struct({", ".join(["f32 0"] * (size // 4) + ["u8 0"] * (size % 4))})"'
    return f'"{label}1.0"' if kind.startswith("f") else f'"{label}1"'


def _type(text: str) -> str:
    """ "f32" for "const float x"; "" for a type of the file's own."""
    words = QUALIFIERS.sub(" ", text).replace("*", " ").split()
    return TYPES.get(" ".join(words[:-1]), "") or TYPES.get(" ".join(words), "")


def _launched(name: str, source: str) -> Launched | None:
    """The first `name<<<...>>>(...)` whose block can be read."""
    found = re.search(LAUNCH.format(re.escape(name)), source, re.DOTALL)
    if not found:
        return None
    parts = [part.strip() for part in _commas(found["how"])]
    numbers: dict[str, int] = {}
    for known, value in COUNT.findall(source):
        try:
            numbers.setdefault(known, evaluate_whole(value.rstrip("uUlL \t"), numbers))
        except UsageError:
            continue
    named = [DIM3_NAME.match(one) for many in DIM3.findall(source) for one in _commas(many)]
    dims = {one[1]: one[2] for one in named if one}

    def whole(text: str) -> tuple[int, ...]:
        """Of a size or a dim3; () if it is not known."""
        text = dims.get(text, re.sub(r"^dim3\s*[({](.*)[)}]$", r"\1", text))
        try:
            sizes = evaluate_list(text.replace("/", "//"), numbers)
        except UsageError:
            return ()
        return tuple(int(size) for size in sizes if isinstance(size, int) and size > 0) if len(sizes) <= 3 else ()

    block = whole(parts[1]) if len(parts) > 1 else ()
    if not block or max(block) > MOST_THREADS:
        return None
    opening = found.end() - 1
    given = _commas(source[opening + 1 : closing(source, opening)])
    shared = _bytes(parts[2] if len(parts) > 2 else "0", numbers)
    return Launched(block, shared, whole(parts[0]), tuple(next(iter(whole(one.strip())), 0) for one in given))


def _bytes(text: str, numbers: Mapping[str, int]) -> str:
    for kind, size in (("float", 4), ("int", 4), ("double", 8), ("half", 2), ("unsigned", 4)):
        text = re.sub(rf"sizeof\s*\(\s*{kind}\s*\)", str(size), text)
    try:
        amount = evaluate_whole(text.replace("/", "//"), numbers)
    except UsageError:
        amount = SHARED
    return str(amount) if amount else ""


def _commas(text: str) -> list[str]:
    """Split at the commas outside of all brackets."""
    parts, start, at = [], 0, 0
    while at < len(text):
        if text[at] in "({[":
            at = closing(text, at)
        elif text[at] == ",":
            parts.append(text[start:at])
            start = at + 1
        at += 1
    return [*parts, text[start:]]
