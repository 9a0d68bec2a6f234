"""A program as CUDA C++, to be compiled with -fmad=false: whatever is fused says so."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from random_programs.collectives import COLLECTIVES
from random_programs.memory import CELLS, IN_BYTES, TABLE, VECTOR_WORDS, WITH_RESULT, WITHOUT_RESULT, start_cells
from random_programs.tree import (
    Apply,
    Assign,
    Atomic,
    Block,
    Both,
    Call,
    Collective,
    Const,
    Count,
    Declare,
    Emit,
    Exchange,
    Expr,
    Fetch,
    Function,
    If,
    Leave,
    Load,
    LoadVector,
    Loop,
    Program,
    Select,
    Stmt,
    Store,
    StoreVector,
    Switch,
    Var,
)  # fmt: skip
from random_programs.words import WORDS

PRELUDE = Path(__file__).with_name("prelude.cu").read_text()
OPTIONS = ("-fmad=false", "-w")
OPERATIONS = list(WITHOUT_RESULT)


def source(programs: Iterable[Program]) -> str:
    """One file of many kernels: starting the compiler costs more than a kernel."""
    table = f"__constant__ u32 table[{len(TABLE)}] = {{{', '.join(f'{v}u' for v in TABLE)}}};\n"
    return PRELUDE + table + "\n".join(Writer(p).kernel() for p in programs)


def const(type: str, bits: int) -> str:
    match type:
        case "bool":
            return "true" if bits else "false"
        case "f32":
            return f"__uint_as_float({bits:#x}u)"
        case "f64":
            return f"__longlong_as_double({bits:#x}ll)"
        case "u32":
            return f"{bits}u"
        case "u64":
            return f"{bits:#x}ull"
    return f"(({type}){bits:#x}{'u' if type == 'i32' else 'ull'})"


class Writer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.elements = dict(program.elements)

    # --- expressions ---

    def expr(self, e: Expr) -> str:
        match e:
            case Const():
                return const(e.type, e.bits)
            case Var():
                return e.name
            case Apply():
                return WORDS[e.word].text.format(*map(self.expr, e.args))
            case Select():
                return f"({self.expr(e.condition)} ? {self.expr(e.yes)} : {self.expr(e.no)})"
            case Both():
                return f"({self.expr(e.a)} {e.word} {self.expr(e.b)})"
            case Load():
                return f"(({e.type}){self.element(e.array, e.index)})"
            case Call():
                return f"{e.function}({', '.join(['in', *map(self.expr, e.args)])})"

    def element(self, array: str, index: Expr) -> str:
        place = self.expr(index)
        if array == "table":
            return f"table[{place} & {len(TABLE) - 1}u]"
        if array.startswith("in."):
            element = array[3:]
            return f"((const {element} *)in)[{place} & {IN_BYTES * 8 // int(element[1:]) - 1}u]"
        return f"{array}[{place} & {self.elements[array][1] - 1}u]"

    # --- statements ---

    def block(self, block: Block) -> str:
        return "{ " + "\n".join(map(self.statement, block)) + " }"

    def statement(self, s: Stmt) -> str:
        match s:
            case Declare():
                return f"auto {s.name} = {self.expr(s.value)};"
            case Assign():
                return f"{s.name} = {self.expr(s.value)};"
            case Store():
                return f"{self.element(s.array, s.index)} = {self.expr(s.value)};"
            case LoadVector():
                return self.load_vector(s)
            case StoreVector():
                n = len(s.values)
                place = f"gid * {VECTOR_WORDS // n}u + ({self.expr(s.index)} & {VECTOR_WORDS // n - 1}u)"
                return f"((uint{n} *)vectors)[{place}] = make_uint{n}({', '.join(map(self.expr, s.values))});"
            case Emit():
                return self.emit(s)
            case If():
                return self.branch(s)
            case Loop():
                return self.loop(s)
            case Leave():
                return self.leave(s)
            case Switch():
                return self.switch(s)
            case Collective():
                return (
                    f"{s.type} {s.name} = {COLLECTIVES[s.word].text}({', '.join([s.mask, *map(self.expr, s.args)])});"
                )
            case Exchange():
                put = f"slots[linear] = {self.expr(s.value)}; __syncthreads();"
                return f"{put} u32 {s.name} = slots[{self.expr(s.index)} % {self.program.threads}u]; __syncthreads();"
            case Count():
                whole = "" if s.word == "count" else " != 0"
                return f"u32 {s.name} = __syncthreads_{s.word}({self.expr(s.condition)}){whole};"
            case Atomic():
                return self.atomic(s)
            case Fetch():
                args = ", ".join([f"&{self.element(s.array, s.index)}", *map(self.expr, s.args)])
                return f"{self.elements[s.array][0]} {s.name} = {WITH_RESULT[s.word].text}({args});"

    def load_vector(self, s: LoadVector) -> str:
        n = len(s.names)
        place = f"{self.expr(s.index)} & {IN_BYTES // 4 // n - 1}u"
        parts = " ".join(f"{name} = t.{axis};" for name, axis in zip(s.names, "xyzw", strict=False))
        return f"u32 {', '.join(s.names)}; {{ uint{n} t = ((const uint{n} *)in)[{place}]; {parts} }}"

    def emit(self, s: Emit) -> str:
        value = self.expr(s.value)
        if s.value.type in ("f32", "f64"):
            value = f"bits_of({value})"
        wide = s.value.type in ("i64", "u64", "f64")
        fold = f"u64 t = (u64){value}; u32 h = (u32)t ^ (u32)(t >> 32);" if wide else f"u32 h = (u32){value};"
        threads = self.program.threads * self.program.blocks
        return f"{{ {fold} u32 *o = out + gid + {s.slot * threads}u; *o = *o * 33u ^ h; }}"

    def atomic(self, s: Atomic) -> str:
        operation = WITHOUT_RESULT[s.word]
        place = f"&{s.array}[{OPERATIONS.index(s.word) * CELLS}u + ({self.expr(s.index)} & {CELLS - 1}u)]"
        if operation.signed:
            place = f"({s.value.type} *){place}"
        return f"{operation.text}({place}, {self.expr(s.value)});"

    # --- control flow ---

    def branch(self, s: If) -> str:
        condition, masks = self.expr(s.condition), ""
        otherwise = f" else {self.block(s.otherwise)}" if s.otherwise else ""
        if s.masks:
            here, then, other = s.masks
            votes = f"u32 {then} = __ballot_sync({here}, b{then}), {other} = {here} & ~{then};"
            masks = f"bool b{then} = {condition}; {votes}\n"
            condition = f"b{then}"
        return f"{masks}if ({condition}) {self.block(s.then)}{otherwise}"

    def loop(self, s: Loop) -> str:
        i, body = s.counter, self.block(s.body)
        start = f"u32 n{i} = {self.expr(s.count)}, {i} = 0;"
        go_on = f"{i} < n{i} && {self.expr(s.condition)}"
        if s.masks:
            here, loop, now = s.masks
            vote = f"bool b{i} = {go_on}; {loop} = __ballot_sync({loop}, b{i}); if (!b{i}) break;"
            return f"{start} u32 {loop} = {here};\nfor (;;) {{ {vote} ++{i}; u32 {now} = {loop};\n{body} }}"
        match s.form:
            case "do":
                return f"{start} do {{ ++{i}; {body} }} while ({go_on});"
            case "while":
                return f"{start} while ({go_on}) {{ ++{i}; {body} }}"
        return f"{start} for (; {go_on};) {{ ++{i}; {body} }}"

    def leave(self, s: Leave) -> str:
        value = f" {self.expr(s.value)}" if s.value else ""
        if not s.masks:
            return f"if ({self.expr(s.condition)}) {s.how}{value};"
        stay = f"{' = '.join(s.masks)} = __ballot_sync({s.masks[-1]}, !b);"
        return f"{{ bool b = {self.expr(s.condition)}; {stay} if (b) {s.how}; }}"

    def switch(self, s: Switch) -> str:
        cases = []
        for number, (block, falls) in enumerate(zip(s.cases, s.falls, strict=True)):
            label = "default" if number == len(s.cases) - 1 else f"case {number}"
            cases.append(f"{label}: {self.block(block)}{'' if falls else ' break;'}")
        most = 3 if len(s.cases) <= 4 else 7
        return f"switch ({self.expr(s.value)} & {most}u) {{\n" + "\n".join(cases) + " }"

    # --- functions ---

    def function(self, f: Function) -> str:
        self.elements = {"local": f.local} if f.local else {}
        parameters = ", ".join(["const u8 *in", *(f"{p.type} {p.name}" for p in f.parameters)])
        local = f"{f.local[0]} local[{f.local[1]}] = {{}};\n" if f.local else ""
        text = f"{local}{self.block(f.body)} return {self.expr(f.result)};"
        self.elements = dict(self.program.elements)
        return f"static __device__ __noinline__ {f.type} {f.name}({parameters}) {{ {text} }}\n"

    def kernel(self) -> str:
        p = self.program
        functions = "".join(map(self.function, p.functions))
        body = "\n".join(map(self.statement, p.body))
        own, count = p.elements["own"]
        restrict = "__restrict__ " if p.seed % 2 else ""
        return f"""{functions}extern "C" __global__ void {p.name}(
    const u8 *{restrict}in, {own} *all, u32 *vectors, u32 *out, u32 *cells, u64 *cells64, u32 pu, i64 pl, f32 pf) {{
{self.opening(body)}
{own} *own = all + gid * {count}u;
{body}
{self.closing(body)}
}}
"""

    def opening(self, body: str) -> str:
        """The thread's numbers, and the arrays that the body uses."""
        p = self.program
        x, y, _ = p.block
        lines = [
            "u32 tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x;",
            f"u32 linear = tx + ty * {x}u + threadIdx.z * {x * y}u;",
            f"u32 gid = (bx + blockIdx.y * gridDim.x + blockIdx.z * gridDim.x * gridDim.y) * {p.threads}u + linear;",
        ]
        if "m0" in body:
            last = (1 << p.threads % 32) - 1 or 0xFFFFFFFF
            lines.append(f"u32 m0 = linear < {p.threads // 32 * 32}u ? ~0u : {last:#x}u;")
        if "local[" in body:
            element, count = p.elements["local"]
            lines.append(f"{element} local[{count}] = {{}};")
        if "mine[" in body:
            element, count = p.elements["mine"]
            lines.append(
                f"__shared__ {element} mine_all[{p.threads * count}]; {element} *mine = mine_all + linear * {count}u;"
            )
            lines.append(f"for (u32 i = 0; i < {count}u; ++i) mine[i] = linear * 7u + i;")
        if "slots" in body or "through_shared" in body:
            lines.append(f"__shared__ u32 slots[{-(-p.threads // 32) * 32}]; slots[linear] = linear;")
        if "shared_cells" in body:
            starts = start_cells("u4")
            full = " || ".join(f"i / {CELLS}u == {n}u" for n in np.flatnonzero(starts[::CELLS]))
            lines.append(f"__shared__ u32 shared_cells[{starts.size}];")
            turns = f"u32 i = linear; i < {starts.size}u; i += {p.threads}u"
            lines.append(f"for ({turns}) shared_cells[i] = {full} ? ~0u : 0u;")
        if "__shared__" in "".join(lines):
            lines.append("__syncthreads();")
        return "\n".join(lines)

    def closing(self, body: str) -> str:
        if "shared_cells" not in body:
            return ""
        turns = f"u32 i = linear; i < {start_cells('u4').size}u; i += {self.program.threads}u"
        return f"__syncthreads();\nfor ({turns}) out[gid] ^= shared_cells[i] * (i + 1u);"
