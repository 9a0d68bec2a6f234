"""LLVM emitter: 64-bit values and their words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from warplens import llvm
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.vector_types import DOUBLE, I32, I64, vector
from warplens.isa.dsl.lanes import F64, U32, U64

Made = tuple[LlvmEmitter, list[llvm.Value], Callable[[], str]]


@pytest.fixture
def made() -> Made:
    """An emitter in a function of two words, 64 bits and two doubles a lane, these values, and the text at its end."""
    module = llvm.IRModule("one")
    kinds = [vector(I32), vector(I32), vector(I64), vector(DOUBLE), vector(DOUBLE)]
    function = llvm.Function(module, llvm.FunctionType(llvm.VoidType(), kinds), "one")
    builder = llvm.IRBuilder(function.append_basic_block())

    def text() -> str:
        builder.ret_void()
        return str(module)

    return LlvmEmitter(builder), list(function.args), text


def test_words_that_were_joined_are_taken_apart_without_code(made: Made) -> None:
    e, (low, high, *_), _ = made
    whole = U32(e, low).join(U32(e, high))
    assert whole.low().node is low
    assert whole.high().node is high


def test_the_two_words_of_a_value_are_that_value(made: Made) -> None:
    e, (_, _, whole, *_), _ = made
    low, high = U64(e, whole).low(), U64(e, whole).high()
    assert low.join(high).node is whole
    assert high.join(low).node is not whole


def test_a_known_word_is_widened_and_others_interleaved(made: Made) -> None:
    e, (low, high, *_), text = made
    U32(e, low).join(U32(e, e.splat(e.constant(U32, 0))))
    U32(e, low).join(U32(e, high))
    written = text()
    assert (written.count("zext <32 x i32>"), written.count("shufflevector")) == (2, 1)


def test_which_nan_a_double_becomes_is_chosen_out_of_line_in_one_function(made: Made) -> None:
    e, (*_, x, y), text = made
    for _ in range(3):
        F64(e, x) + F64(e, y)
    written = text()
    assert written.count('define internal <32 x double> @"nan of 2"') == 1
    assert written.count('call <32 x double> @"nan of 2"') == 3
