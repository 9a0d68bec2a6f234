"""Cross-lane operations: shuffle, match, reduction over a warp."""

from __future__ import annotations

from functools import cache

from warplens import llvm
from warplens.emulator.access.site import V32
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i64
from warplens.emulator.codegen.vector_types import I1, I32, LANES, intrinsic, undefined, vector

HALF = llvm.VectorType(I32, 16)


@cache
def host_permutes() -> bool:
    """Whether the host has a 16-lane table look-up in two registers (AVX-512)."""
    import llvmlite.binding as binding

    return bool(binding.get_host_cpu_features().get("avx512f"))


def shuffled(code: StructuredBuilder, value: llvm.Value, source: llvm.Value) -> llvm.Value:
    """value[source[lane]] for each lane; source is taken modulo 32."""
    b = code.b
    e = LlvmEmitter(b)
    if host_permutes():
        nothing = undefined(V32)
        lower, upper = (llvm.IRConstant(HALF, list(range(start, start + 16))) for start in (0, 16))
        low, high = (b.shuffle_vector(value, nothing, part) for part in (lower, upper))
        permute = intrinsic(code.module, "llvm.x86.avx512.vpermi2var.d.512", HALF, [HALF, HALF, HALF])
        first, second = (
            b.call(permute, [low, b.shuffle_vector(source, nothing, part), high]) for part in (lower, upper)
        )
        return b.shuffle_vector(first, second, llvm.IRConstant(V32, list(range(LANES))))
    table = code.variable(V32, value)
    result = code.variable(V32)
    lanes = code.variable(V32, b.and_(source, e.number(source, LANES - 1)))

    def one(lane: llvm.Value) -> None:
        number = b.load(b.gep(lanes, [lane], source_etype=I32), typ=I32)
        b.store(b.load(b.gep(table, [number], source_etype=I32), typ=I32), b.gep(result, [lane], source_etype=I32))

    code.each(i64(LANES), one)
    return b.load(result, typ=V32)


def match_routine(module: llvm.IRModule, words: int) -> llvm.Function:
    """(mask, words) -> for each lane the lanes of mask that hold the same words."""
    name = f"match_{words}"
    if found := module.globals.get(name):
        return found
    made, code = function(module, name, V32, [I32, *[V32] * words])
    mask, *values = made.args
    b = code.b
    e = LlvmEmitter(b)
    result = code.variable(V32, llvm.IRConstant(V32, None))
    left = code.variable(I32, mask)

    def step() -> None:
        rest = b.load(left, typ=I32)
        lane = code.lowest(rest)
        same: llvm.Value = b.bitcast(mask, vector(I1))
        for value in values:
            same = b.and_(same, b.icmp_signed("==", value, e.splat(b.extract_element(value, lane))))
        members = b.bitcast(same, I32)
        b.store(b.select(same, e.splat(members), b.load(result, typ=V32)), result)
        b.store(b.and_(rest, b.not_(members)), left)

    code.loop(lambda: code.nonzero(b.load(left, typ=I32)), step)
    b.ret(b.load(result, typ=V32))
    return made


NEUTRAL = {
    "add": 0,
    "min": -1,
    "max": 0,
    "smin": 0x7FFFFFFF,
    "smax": 0x80000000,
    "and": -1,
    "or": 0,
    "xor": 0,
}
NAMES = {"min": "umin", "max": "umax"}


def reduced(code: StructuredBuilder, value: llvm.Value, active: llvm.Value, op: str) -> llvm.Value:
    """The operation over the active lanes."""
    b = code.b
    neutral = LlvmEmitter(b).number(value, NEUTRAL[op])
    kept = b.select(active, value, neutral)
    return code.intrinsic(f"vector.reduce.{NAMES.get(op, op)}", kept, result=I32)
