"""Texture routines: calls of the texture machine code (emulator/texture), one routine a form of instruction.

The machine code takes numbers as 64 bits and of an array the pointer and its extents (simc/function.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from warplens import llvm
from warplens.core.texture_descriptor import FIELDS
from warplens.emulator.access.gather_scatter import return_words
from warplens.emulator.access.site import V32
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i64
from warplens.emulator.codegen.vector_types import I32, I64, LANES, PTR
from warplens.emulator.state.structs import WorkerEnv
from warplens.emulator.texture import fetch_request, surface_address, texel_reads
from warplens.isa.dsl.operation_records import SurfaceAccess, TextureFetch

OPERATIONS = {"sample": fetch_request.SAMPLE, "load": fetch_request.LOAD, "gather": fetch_request.GATHER}
LEVELS = {
    "first": fetch_request.LEVEL_ZERO,
    "given": fetch_request.LEVEL_GIVEN,
    "by gradients": fetch_request.LEVEL_BY_GRADIENTS,
}
OUTSIDE = {"trap": surface_address.TRAP, "clamp": surface_address.CLAMP, "zero": surface_address.ZERO}
RESULT_WORDS = 16  # simc.function.RESULTS
NO_MEMORY = llvm.IRConstant(PTR, None)


def fetch_routine(module: llvm.IRModule, fetch: TextureFetch, levels: int) -> llvm.Function:
    """(env, mask, texture, given words, level words) -> four words, the address of the first texel, in two words, and
    in all lanes the mask of those that have no texture."""
    name = f"fetch_{fetch.operation}_{fetch.shape}_{fetch.level}_{fetch.component}".replace(" ", "_")
    if found := module.globals.get(name):
        return found
    given = fetch.layered + fetch.coordinates
    result = llvm.LiteralStructType([V32] * 7)
    made, code = function(module, name, result, [PTR, I32, V32, *[V32] * (given + levels)])
    env, mask, texture, *words = made.args
    rows = fetch_request
    first_level = rows.GRADIENTS if fetch.level == "by gradients" else rows.LEVEL
    layer = [rows.LAYER] if fetch.layered else []
    places = [*layer, rows.X, rows.Y, rows.Z][:given] + [first_level + k for k in range(levels)]
    how = OPERATIONS[fetch.operation], fetch.axes, "CUBE" in fetch.shape, LEVELS[fetch.level], fetch.component
    request = _request(code, rows.ROWS, {rows.TEXTURE: texture, **dict(zip(places, words, strict=True))})
    arguments = [
        *_numbers(how), code.b.zext(mask, I64), request, *_numbers((rows.ROWS, LANES)), *_table(code, env),
        code.load(WorkerEnv, env, "buffers"), code.load(WorkerEnv, env, "buffer_count"), i64(texel_reads.RANGE_WORDS),
        *[NO_MEMORY, i64(0)] * 3,
    ]  # fmt: skip
    wrong = _called(code, code.load(WorkerEnv, env, "fetch_texture"), arguments)
    results = [_row(code, request, row) for row in range(rows.RESULT, rows.FIRST + 2)]
    return_words(code.b, [*results, _in_all_lanes(code, code.b.trunc(wrong, I32))], result)
    return made


def surface_routine(module: llvm.IRModule, access: SurfaceAccess) -> llvm.Function:
    """(env, mask, surface, coordinates) -> the addresses in two words, whether each lies on the surface, and in all
    lanes the masks of those that have no surface, and of those that trap."""
    name = f"locate_{access.shape}_{access.bytes}_{access.outside}{'_scaled' * access.scaled}"
    if found := module.globals.get(name):
        return found
    result = llvm.LiteralStructType([V32] * 5)
    made, code = function(module, name, result, [PTR, I32, V32, *[V32] * access.coordinates])
    env, mask, surface, *words = made.args
    rows = surface_address
    how = access.axes, access.layered, access.bytes, OUTSIDE[access.outside], access.scaled
    places = (rows.X, rows.Y, rows.Z)[: access.coordinates]
    request = _request(code, rows.ROWS, {rows.SURFACE: surface, **dict(zip(places, words, strict=True))})
    arguments = [*_numbers(how), code.b.zext(mask, I64), request, *_numbers((rows.ROWS, LANES)), *_table(code, env)]
    wrong = _called(code, code.load(WorkerEnv, env, "locate_surface"), arguments)
    masks = [code.b.trunc(part, I32) for part in (wrong, code.b.lshr(wrong, i64(rows.TRAPPED)))]
    results = [_row(code, request, row) for row in (rows.FIRST, rows.FIRST + 1, rows.THERE)]
    return_words(code.b, [*results, *(_in_all_lanes(code, mask) for mask in masks)], result)
    return made


def _numbers(values: Sequence[int]) -> list[llvm.Value]:
    return [i64(int(value)) for value in values]


def _table(code: StructuredBuilder, env: llvm.Value) -> list[llvm.Value]:
    return [code.load(WorkerEnv, env, "textures"), code.load(WorkerEnv, env, "texture_count"), i64(FIELDS)]


def _request(code: StructuredBuilder, rows: int, given: dict[int, llvm.Value]) -> llvm.Value:
    """Its rows, zeros where nothing is given."""
    request = code.variable(llvm.ArrayType(I32, LANES * rows))
    for row in range(rows):
        code.b.store(given.get(row, llvm.IRConstant(V32, None)), code.at(request, 4 * LANES * row), align=4)
    return request


def _row(code: StructuredBuilder, request: llvm.Value, row: int) -> llvm.Value:
    return code.b.load(code.at(request, 4 * LANES * row), typ=V32, align=4)


def _called(code: StructuredBuilder, routine: llvm.Value, arguments: Sequence[llvm.Value]) -> llvm.Value:
    """The result of the machine code; all ones, no lane having a texture, where the launch has none."""
    results = code.variable(llvm.ArrayType(I64, RESULT_WORDS))
    code.b.store(code.b.zext(llvm.IRConstant(I32, -1), I64), results)
    kind = llvm.FunctionType(llvm.VoidType(), [*(argument.type for argument in arguments), PTR])
    with code.when(code.b.icmp_unsigned("!=", routine, NO_MEMORY)):
        code.b.call(routine, [*arguments, results], kind)
    return code.b.load(results, typ=I64)


def _in_all_lanes(code: StructuredBuilder, word: llvm.Value) -> llvm.Value:
    return LlvmEmitter(code.b).splat(word)
