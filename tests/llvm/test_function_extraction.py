"""Helper functions that modules have in common are compiled once."""

from __future__ import annotations

import ctypes

import pytest

from warplens import llvm
from warplens.emulator.access.runtime_library import calls_of
from warplens.emulator.jit import compile_module
from warplens.emulator.jit.compile_module import compile_ir
from warplens.llvm.function_extraction import extract
from warplens.llvm.host_target import emit_object, load

I32 = llvm.IntType(32)


def function(module: llvm.IRModule, name: str, attribute: str = "", helper: bool = True) -> llvm.IRBuilder:
    """A function of one number; where it takes one branch of two, the branch has weights."""
    made = llvm.Function(module, llvm.FunctionType(I32, [I32]), name)
    made.helper = helper
    if attribute:
        made.linkage = "internal"
        made.attributes.add(attribute)
    return llvm.IRBuilder(made.append_basic_block("entry"))


def ret_if_above(b: llvm.IRBuilder, least: int, value: llvm.Value) -> None:
    with b.if_then(b.icmp_signed(">", b.function.args[0], llvm.IRConstant(I32, least)), likely=False):
        b.ret(value)
    b.ret(llvm.IRConstant(I32, 0))


def kernel(number: int, weights: int = 1) -> llvm.IRModule:
    """outer(x) = number * above(x); above(x) = twice(x) if x > 3 else 0, in which twice() is inlined."""
    module = llvm.IRModule("k")
    module.metadata(f'!"branch_weights", i32 {weights}, i32 5')  # so that numbers of metadata differ
    twice = function(module, "twice", "alwaysinline")
    twice.ret(twice.add(twice.function.args[0], twice.function.args[0]))
    above = function(module, "above", "noinline")
    ret_if_above(above, 3, above.call(twice.function, above.function.args))
    outer = function(module, "outer", helper=False)
    value = outer.call(above.function, outer.function.args)
    for _ in range(number - 1):
        value = outer.add(value, outer.call(above.function, outer.function.args))
    outer.ret(value)
    return module


def test_modules_with_the_same_helper_have_the_same_text_for_it() -> None:
    (one, (helper,)), (other, (same,)) = extract(kernel(1)), extract(kernel(2))
    assert one != other
    assert helper == same
    assert 'declare i32 @"above"(i32)' in one
    assert '@"twice"' not in one
    assert 'define  i32 @"above"' in helper


def test_helpers_are_linked_and_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    emitted: list[str] = []

    def watched(text: str, passes: object) -> bytes:
        emitted.append(text)
        return emit_object(text, passes)  # type: ignore[arg-type]

    monkeypatch.setattr(compile_module, "emit_object", watched)
    monkeypatch.setenv("WARPLENS_CACHE", "off")
    compile_module._helper_object.cache_clear()
    for number in (1, 2, 3):
        _, codes = calls_of(compile_ir(kernel(number)))
        loaded = load(codes, ("outer",))
        run = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(loaded.addresses["outer"])
        assert [run(x) for x in (-7, 3, 4, 50)] == [0, 0, 8 * number, 100 * number]
    assert sum('define internal i32 @"twice"' in text for text in emitted) == 1
    assert len(emitted) == 4


def test_helpers_that_call_one_another_are_one_module_and_others_are_not() -> None:
    module = kernel(1)
    below = function(module, "below", "noinline")
    below.ret(below.call(module.globals["above"], below.function.args))
    alone = function(module, "alone", "noinline")
    alone.ret(alone.function.args[0])
    _, helpers = extract(module)
    assert sorted(text.count("\ndefine") + text.startswith("define") for text in helpers) == [1, 3]


def test_what_belongs_to_one_kernel_stays_in_its_module() -> None:
    module = kernel(1)
    table = llvm.GlobalVariable(module, I32, "table")
    reads = function(module, "reads", "noinline")
    reads.ret(reads.load(table, typ=I32))
    own = function(module, "own", "alwaysinline", helper=False)
    own.ret(own.function.args[0])
    around = function(module, "around", "noinline")
    around.ret(around.call(own.function, around.function.args))
    user = function(module, "user", "noinline")
    user.ret(user.call(around.function, user.function.args))
    text, helpers = extract(module)
    for name in ("reads", "around"):
        assert f'@"{name}"(i32 %a0)' in text
    assert any('define  i32 @"user"' in helper and 'declare i32 @"around"(i32)' in helper for helper in helpers)
    assert 'define  i32 @"around"' in text  # no longer internal: a helper calls it
