"""Random kernels: elementwise, stencil, reduction, histogram and matrix kernels from a seed, with their launches."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from warplens.transform import LaunchFacts

DTYPES = {
    "float": np.float32, "int": np.int32, "unsigned": np.uint32, "double": np.float64, "unsigned char": np.uint8,
    "short": np.int16,
}  # fmt: skip
FAULTS = frozenset({
    "uncoalesced_access", "bank_conflicts", "inactive_lanes", "contended_atomics", "double_literal", "low_occupancy",
    "local_memory", "narrow_access", "small_grid", "redundant_loads", "barrier_stalls",
})  # fmt: skip


@dataclass
class Example:
    """A kernel `k` and a launch.

    arguments   by parameter: arrays, and numbers;  facts: of the launch, on a GPU that holds two blocks
    """

    source: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: dict[str, Any]
    facts: LaunchFacts = field(init=False)

    def __post_init__(self) -> None:
        arrays = {name: value for name, value in self.arguments.items() if isinstance(value, np.ndarray)}
        numbers = {name: value.item() for name, value in self.arguments.items() if name not in arrays}
        # a small GPU: grids of a few blocks are more than it holds
        self.facts = LaunchFacts(
            self.grid, self.block, 0, numbers, {name: array.nbytes for name, array in arrays.items()}, faults=FAULTS,
            multiprocessors=1, resident=2,
        )  # fmt: skip


def numbers(pick: random.Random, kind: str, count: int) -> np.ndarray[Any, Any]:
    values = np.random.default_rng(pick.randrange(2**32))
    if kind in ("float", "double"):
        return values.uniform(-4, 4, count).astype(DTYPES[kind])
    return values.integers(0, 100, count).astype(DTYPES[kind])


def elementwise(pick: random.Random) -> Example:
    n, block = pick.randrange(500, 2500), pick.choice((64, 128, 256))
    kinds = [pick.choice(list(DTYPES)) for _ in range(pick.randint(1, 3))]
    arrays = {f"x{place}": kind for place, kind in enumerate(kinds)}
    out = pick.choice(list(DTYPES))
    parameters = [f"const {kind}* {name}" for name, kind in arrays.items()]
    index = pick.choice(("int", "unsigned"))
    parameters += [f"{out}* y", f"{index} n", "int d"]
    body = _body(pick, [f"{name}[i]" for name in arrays])
    source = _guarded(pick, parameters, index, body)
    arguments = {name: numbers(pick, kind, n) for name, kind in arrays.items()}
    arguments |= {"y": numbers(pick, out, n), "n": DTYPES[index](n), "d": np.int32(pick.randint(1, 50))}
    return Example(source, (-(-n // block), 1, 1), (block, 1, 1), arguments)


def _body(pick: random.Random, elements: list[str]) -> list[str]:
    """Statements on the elements of one index, which leave y[i]."""

    def expression(depth: int, leaves: list[str]) -> str:
        if depth == 0 or pick.random() < 0.2:
            return pick.choice([*leaves, *leaves, "i", "3", "0.5f", "0.25"])
        form = pick.choice(("({} + {})", "({} * {})", "({} - {})", "({} < {} ? 1 : 2)"))
        return form.format(expression(depth - 1, leaves), expression(depth - 1, leaves))

    kind = pick.randrange(5)
    if kind == 0:
        return [f"y[i] = {expression(2, elements)};"]
    if kind == 1:
        return [f"y[i] += {expression(1, elements)};"]
    if kind == 2:
        return [f"float v = {expression(1, elements)};", "for (int r = 0; r < 3; ++r) v = v * 0.5f + r;",
                f"y[i] = v + {expression(1, elements)};"]  # fmt: skip
    if kind == 3:
        return ["int q = i / d + i % d, t = i % 8;", f"y[i] = q * t + {pick.choice(elements)};"]
    return ["// a choice", f"float v = {pick.choice(elements)};", "if (v < 1)", "  v = 2 * v + 1;", "y[i] = v;"]


def _guarded(pick: random.Random, parameters: list[str], index: str, body: list[str]) -> str:
    start = pick.choice(("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x + blockDim.x * blockIdx.x"))
    head = f"__global__ void k({', '.join(parameters)}) {{"
    form = pick.choice(("if", "return", "loop"))
    if form == "return":
        lines = [f"{index} i = {start};", "if (i >= n) return;", *body]
    elif form == "if":
        lines = [f"{index} i = {start};", "if (i < n) {", *[f"  {line}" for line in body], "}"]
    else:
        lines = [f"{index} all = gridDim.x * blockDim.x;", f"for ({index} i = {start}; i < n; i += all) {{",
                 *[f"  {line}" for line in body], "}"]  # fmt: skip
    return "\n".join([head, *[f"  {line}" for line in lines], "}", ""])


def stencil(pick: random.Random) -> Example:
    n, block, far = pick.randrange(500, 2500), pick.choice((64, 128, 256)), pick.randint(1, 3)
    kind = pick.choice(("float", "int", "double"))
    terms = " + ".join(f"{pick.randint(1, 3)} * x[i {sign} {far}]" for sign in "+-")
    source = f"""\
__global__ void k(const {kind}* x, {kind}* y, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= {far} && i < n - {far}) {{
    y[i] = {terms} + x[i] / 3;
  }}
}}
"""
    arguments = {"x": numbers(pick, kind, n), "y": numbers(pick, kind, n), "n": np.int32(n)}
    return Example(source, (-(-n // block), 1, 1), (block, 1, 1), arguments)


def reduction(pick: random.Random) -> Example:
    block, blocks, kind = pick.choice((64, 128, 256)), pick.choice((8, 16)), pick.choice(("float", "int", "unsigned"))
    n = block * blocks - (guarded := pick.random() < 0.5) * pick.randrange(block)
    update = pick.choice(("{0} += {1};", "{0} = {0} + {1};", "{0} = max({0}, {1});", "{0} = min({1}, {0});"))
    size = pick.choice((str(block), "blockDim.x"))
    up = f"for (unsigned s = 1; s < {size}; s *= 2)"
    down = f"for (unsigned s = {size} / 2; s > 0; s >>= 1)"
    loop, test, at = pick.choice((
        (up, "if (t % (2 * s) == 0)", "t"), (up, "unsigned at = 2 * s * t;\n    if (at < blockDim.x)", "at"),
        (down, "if (t < s)", "t"), (down, "if (t < s)", "t"),
    ))  # fmt: skip
    step = f"{test} {update.format(f'd[{at}]', f'd[{at} + s]')}"
    first = pick.random() < 0.5
    rounds = ["__syncthreads();", step] if first else [step, "__syncthreads();"]
    value = "i < n ? x[i] : x[0]" if guarded else "x[i]"
    source = f"""\
__global__ void k(const {kind}* x, {kind}* y, int n) {{
  __shared__ {kind} d[{block}];
  unsigned t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  d[t] = {value};
{"" if first else "  __syncthreads();" + chr(10)}  {loop} {{
    {rounds[0]}
    {rounds[1]}
  }}
  if (t == 0) y[blockIdx.x] = d[0];
}}
"""
    arguments = {"x": numbers(pick, kind, n), "y": numbers(pick, kind, blocks) * 0, "n": np.int32(n)}
    return Example(source, (blocks, 1, 1), (block, 1, 1), arguments)


def total(pick: random.Random) -> Example:
    """A reduction whose blocks add to one number."""
    block, blocks = pick.choice((64, 128, 256)), pick.choice((8, 9, 16))
    kind = pick.choice(("float", "int", "unsigned"))
    n = block * blocks - pick.randrange(block)
    source = f"""\
__global__ void k(const {kind}* x, const {kind}* w, {kind}* y, int n) {{
    __shared__ {kind} d[{block}];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    d[threadIdx.x] = (i < n) ? x[i] * w[i] : 0;
    __syncthreads();
    for (int s = blockDim.x / 2; s >= 1; s /= 2) {{
        if (threadIdx.x < s)
            d[threadIdx.x] += d[threadIdx.x + s];
        __syncthreads();
    }}
    if (threadIdx.x == 0) atomicAdd(y, d[0]);
}}
"""
    arguments = {"x": numbers(pick, kind, n), "w": numbers(pick, kind, n), "y": numbers(pick, kind, 1)}
    return Example(source, (blocks, 1, 1), (block, 1, 1), {**arguments, "n": np.int32(n)})


def histogram(pick: random.Random) -> Example:
    n, block, bins = pick.randrange(500, 2500), pick.choice((64, 128, 256)), pick.choice((7, 64, 300))
    kind, weight = pick.choice((("int", "1"), ("unsigned", "i"), ("float", "0.5f")))
    body = [f"int bin = x[i] % {bins};", f"atomicAdd(&y[bin], {weight});"]
    source = _guarded(pick, ["const int* x", f"{kind}* y", "int n"], "int", body)
    arguments = {"x": numbers(pick, "int", n), "y": numbers(pick, kind, bins), "n": np.int32(n)}
    return Example(source, (-(-n // block), 1, 1), (block, 1, 1), arguments)


def matrix(pick: random.Random) -> Example:
    rows, columns = pick.randrange(20, 90), pick.randrange(20, 90)
    x, y = pick.choice(((32, 8), (16, 16), (8, 32)))
    row, column = pick.choice(("xy", "yx"))
    source = f"""\
__global__ void k(const float* x, float* y, int rows, int columns) {{
    int row = blockIdx.{row} * blockDim.{row} + threadIdx.{row};
    int column = blockIdx.{column} * blockDim.{column} + threadIdx.{column};
    if (row < rows && column < columns) y[row * columns + column] = 2 * x[row * columns + column];
}}
"""
    across, down = (rows, columns) if row == "x" else (columns, rows)
    arguments = {"x": numbers(pick, "float", rows * columns), "y": numbers(pick, "float", rows * columns),
                 "rows": np.int32(rows), "columns": np.int32(columns)}  # fmt: skip
    return Example(source, (-(-across // x), -(-down // y), 1), (x, y, 1), arguments)


def rows(pick: random.Random) -> Example:
    """Each thread walks along a row."""
    count, columns, block = pick.randrange(20, 90), pick.randrange(20, 90), pick.choice((32, 64, 128))
    kind = pick.choice(("float", "int", "double"))
    own, first = f"x[i * columns + j] * {pick.randint(1, 3)}", f"{kind} v = {pick.choice(('0', '1'))};"
    loop = pick.choice(("for (int j = 0; j < columns; ++j)", "for (int j = i % 3; j < columns; j++)"))
    body = pick.choice((
        [first, f"{loop} v += {own};", "y[i] = v;"],
        [f"{kind} v = x[i * columns];", f"{loop} {{", f"  {kind} w = {own};", "  v = max(v, w);", "}",
         "if (v > 2) y[i] = v;"],
        ["y[i] = 1;", loop, f"  y[i] += {own};"],
        [first, f"{loop} v += {own};", f"{loop} z[i * columns + j] = x[i * columns + j] + v;"],
    ))  # fmt: skip
    parameters = [f"const {kind}* x", f"{kind}* y", f"{kind}* z", "int n", "int columns"]
    source = _guarded(pick, parameters, "int", body)
    arrays = {"x": count * columns, "y": count, "z": count * columns}
    arguments = {name: numbers(pick, kind, size) for name, size in arrays.items()}
    arguments |= {"n": np.int32(count), "columns": np.int32(columns)}
    return Example(source, (-(-count // block), 1, 1), (block, 1, 1), arguments)


def parts(pick: random.Random) -> Example:
    """Each thread works on a contiguous part."""
    n, block, blocks = pick.randrange(500, 2500), pick.choice((32, 64)), pick.choice((2, 3))
    kind = pick.choice(("float", "int"))
    end = pick.choice(("min(begin + per, n)", "(begin + per < n ? begin + per : n)"))
    body = pick.choice(("y[k] = 2 * x[k];", "{ y[k] += x[k]; }", "if (x[k] > 1) y[k] = x[k] * k;"))
    source = f"""\
__global__ void k(const {kind}* x, {kind}* y, int n) {{
    const int all = gridDim.x * blockDim.x;
    const int t = threadIdx.x + blockIdx.x * blockDim.x;
    int per = (n + all - 1) / all, begin = t * per;
    for (int k = begin; k < {end}; ++k) {body}
}}
"""
    arguments = {"x": numbers(pick, kind, n), "y": numbers(pick, kind, n), "n": np.int32(n)}
    return Example(source, (blocks, 1, 1), (block, 1, 1), arguments)


def word(pick: random.Random) -> Example:
    """All threads add to one word."""
    n, block = pick.randrange(500, 2500), pick.choice((64, 128))
    kind, value = pick.choice((("int", "1"), ("unsigned", "x[i] * 3"), ("float", "x[i]")))
    body = pick.choice(([f"atomicAdd(y, {value});"], ["int v = x[i];", f"if (v > 7) atomicAdd(&y[0], {value});"]))
    source = _guarded(pick, ["const int* x", f"{kind}* y", "int n"], "int", body)
    arguments = {"x": numbers(pick, "int", n), "y": numbers(pick, kind, 1), "n": np.int32(n)}
    return Example(source, (-(-n // block), 1, 1), (block, 1, 1), arguments)


def product(pick: random.Random) -> Example:
    """A naive product of matrices."""
    m, n, depth = (pick.randrange(17, 40) for _ in "mnd")
    kind, side = pick.choice(("float", "int", "double")), pick.choice((16, 32))
    start, body = (
        "int i = blockIdx.y * blockDim.y + threadIdx.y, j = threadIdx.x + blockIdx.x * blockDim.x;",
        f"""\
{kind} v = 1;
    for (int d = 0; d < depth; d++) v += a[i * depth + d] * {pick.choice(("b[d * n + j]", "b[j * depth + d]"))};
    y[i * n + j] = v;""",
    )
    guarded = pick.choice((f"if (i >= m || j >= n) return;\n    {body}", f"if (j < n && i < m) {{\n    {body}\n    }}"))
    source = f"""\
__global__ void k(const {kind}* a, const {kind}* b, {kind}* y, int m, int n, int depth) {{
    {start}
    {guarded}
}}
"""
    arguments = {"a": numbers(pick, kind, m * depth), "b": numbers(pick, kind, depth * n),
                 "y": numbers(pick, kind, m * n), "m": np.int32(m), "n": np.int32(n),
                 "depth": np.int32(depth)}  # fmt: skip
    return Example(source, (-(-n // side), -(-m // side), 1), (side, side, 1), arguments)


def columns(pick: random.Random) -> Example:
    """Each thread counts, and finds the least, down a column."""
    rows_, count, block = pick.randrange(20, 90), pick.randrange(40, 200), pick.choice((64, 128))
    kind = pick.choice(("int", "float"))
    body = pick.choice((
        "if (v < 3) a++; else if (v < 20) { a += 2; b++; } else ++b;",
        "float d = 0;\n    for (int k = 0; k < 3; ++k) d += (v - k) * v;\n    if (d < least) { least = d; b = r; }",
        "w = v + 1;\n    if (w > 50) continue;\n    a += w > 3 ? 2 : 1;",
        "few[0]++; if (v < 5) few[1] += 2;",
    ))  # fmt: skip
    source = _guarded(
        pick, [f"const {kind}* x", "int* y", "float* z", "int n", "int rows"], "int",
        ["int a = 0, b = 1, few[2] = {0, 1};", "float least = 1e30f, w = 0;", "for (int r = 0; r < rows; ++r) {",
         f"    {kind} v = x[r * n + i];", f"    {body}", "}", "y[i] = a + 3 * b + few[0] - few[1];",
         "z[i] = least;"],
    )  # fmt: skip
    arguments = {"x": numbers(pick, kind, rows_ * count), "y": numbers(pick, "int", count),
                 "z": numbers(pick, "float", count), "n": np.int32(count), "rows": np.int32(rows_)}  # fmt: skip
    return Example(source, (-(-count // block), 1, 1), (block, 1, 1), arguments)


def alone(pick: random.Random) -> Example:
    """Thread 0 adds up a row for its block."""
    blocks, block, n = pick.choice((3, 5)), pick.choice((32, 64, 128)), pick.randrange(20, 200)
    kind = pick.choice(("float", "int"))
    rest = pick.choice((
        "mean = s / n;", f"mean = 0;\n    for (int k = 0; k < n; k++) {{ {kind} d = row[k] - s; mean += d * d; }}",
        "mean = s;\n    y[blockIdx.x] = s;",
    ))  # fmt: skip
    source = f"""\
__global__ void k(const {kind}* x, {kind}* y, {kind}* z, int n) {{
  __shared__ {kind} mean;
  const {kind}* row = x + blockIdx.x * n;
  if (threadIdx.x == 0) {{
    {kind} s = 0;
    for (int j = 0; j < n; ++j) s += row[j];
    {rest}
  }}
  __syncthreads();
  for (int j = threadIdx.x; j < n; j += blockDim.x) z[blockIdx.x * n + j] = row[j] - mean;
}}
"""
    arguments = {"x": numbers(pick, kind, blocks * n), "y": numbers(pick, kind, blocks),
                 "z": numbers(pick, kind, blocks * n), "n": np.int32(n)}  # fmt: skip
    return Example(source, (blocks, 1, 1), (block, 1, 1), arguments)


def own_row(pick: random.Random) -> Example:
    """Each thread compares a row of its own with all rows of another array."""
    n, count, d, block = pick.randrange(50, 300), pick.randrange(3, 9), pick.randrange(2, 8), pick.choice((32, 64))
    kind = pick.choice(("float", "int"))
    least = pick.choice(("if (s < best) { best = s; which = c; }", "best = min(best, s);", "best += s / 4;"))
    source = _guarded(
        pick, [f"const {kind}* x", f"const {kind}* w", f"{kind}* y", "int n", "int count", "int d"], "int",
        [f"{kind} best = 1000000;", "int which = 0;", "for (int c = 0; c < count; c++) {", f"    {kind} s = 0;",
         "    for (int j = 0; j < d; ++j) s += (x[i * d + j] - w[c * d + j]) * 2;", f"    {least}", "}",
         "y[i] = best + which;"],
    )  # fmt: skip
    arguments = {"x": numbers(pick, kind, n * d), "w": numbers(pick, kind, count * d), "y": numbers(pick, kind, n),
                 "n": np.int32(n), "count": np.int32(count), "d": np.int32(d)}  # fmt: skip
    return Example(source, (-(-n // block), 1, 1), (block, 1, 1), arguments)


KINDS: tuple[Callable[[random.Random], Example], ...] = (
    elementwise, stencil, reduction, total, histogram, matrix, rows, parts, word, product,
    columns, alone, own_row,
)  # fmt: skip


def example(kind: Callable[[random.Random], Example], seed: int) -> Example:
    return kind(random.Random(f"{kind.__name__} {seed}"))
