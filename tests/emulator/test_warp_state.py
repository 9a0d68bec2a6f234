"""Warp state: each part of a warp's record is reached by its owner alone, and is zeroed as documented."""

from __future__ import annotations

import ctypes
import inspect
import re
from pathlib import Path

import pytest

import warplens
from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32
from warplens.emulator.codegen.vector_types import I32, PTR
from warplens.emulator.state.structs import (
    ZEROED_FROM,
    ZEROED_TO,
    BarrierState,
    SimtStackState,
    WarpState,
    YieldState,
)

OWNERS = {
    "stack": (SimtStackState, "simt_stack.py"),
    "yielding": (YieldState, "yielded_lanes.py"),
    "barriers": (BarrierState, "convergence_barrier.py"),
}
NOT_ZEROED = {"stack.pc", "stack.mask", "barriers.need", "barriers.collective_pc"}


@pytest.mark.parametrize("part", OWNERS)
def test_a_part_is_accessed_in_the_file_of_its_owner_only(part: str) -> None:
    record, owner = OWNERS[part]
    names = "|".join(field[0] for field in record._fields_)
    access = re.compile(rf'"{part}\.({names})"')
    emulator = Path(warplens.__file__).parent / "emulator"
    found = {path.name for path in emulator.rglob("*.py") if access.search(path.read_text(encoding="utf-8"))}
    assert found == {owner}


@pytest.mark.parametrize("part", OWNERS)
def test_each_field_is_documented_with_its_life(part: str) -> None:
    record, _ = OWNERS[part]
    text = inspect.getdoc(record) or ""
    for name, *_ in record._fields_:
        if f"{part}.{name}" not in {"stack.pc", "stack.mask"}:
            assert re.search(rf"^{name} ", text, re.MULTILINE), name


def _offset(part: str, name: str) -> int:
    record, _ = OWNERS[part]
    offset: int = getattr(WarpState, part).offset + getattr(record, name).offset
    return offset


def test_a_block_starts_with_all_scheduling_state_zeroed() -> None:
    for part, (record, _) in OWNERS.items():
        for name, *_ in record._fields_:
            zeroed = ZEROED_FROM <= _offset(part, name) < ZEROED_TO
            assert zeroed == (f"{part}.{name}" not in NOT_ZEROED), (part, name)


def test_generated_code_reaches_a_field_of_a_part_where_ctypes_has_it() -> None:
    module = llvm.IRModule(name="fields")
    made, code = function(module, "read", I32, [PTR])
    made.linkage = "external"
    (warp,) = made.args
    code.store(7, WarpState, warp, "yielding.turn")
    code.store(i32(9), WarpState, warp, "barriers.skipped", 3)
    code.b.ret(code.load(WarpState, warp, "stack.mask", 5))
    record = WarpState()
    record.stack.mask[5] = 0x1234
    assert _run(module, ctypes.addressof(record)) == 0x1234
    assert record.yielding.turn == 7
    assert list(record.barriers.skipped) == [0, 0, 0, 9, *[0] * 12]


def _run(module: llvm.IRModule, address: int) -> int:
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    parsed = binding.parse_assembly(str(module))
    engine = binding.create_mcjit_compiler(parsed, binding.Target.from_default_triple().create_target_machine())
    read = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(engine.get_function_address("read"))
    return int(read(address))


def test_a_name_that_no_part_has_is_an_error() -> None:
    module = llvm.IRModule(name="fields")
    made, code = function(module, "read", I32, [PTR])
    with pytest.raises(AttributeError):
        StructuredBuilder.load(code, WarpState, made.args[0], "yielding.buried")
