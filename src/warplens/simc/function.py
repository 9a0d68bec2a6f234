"""@compiled: a Python function over numbers and arrays that runs as machine code of this host.

The function is compiled (from_python.py) on its first call with arguments of these types; the code is cached on disk.
Arguments are numbers, numpy arrays in C order of which no two overlap, and tuples of those; the result is a number, a
tuple of numbers, or None.  `function.python` is the function itself: the same, slowly.
"""

from __future__ import annotations

import ctypes
import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache, update_wrapper
from pathlib import Path
from typing import Any

import numpy as np

from warplens import llvm
from warplens.llvm.host_target import emit_object, host, load
from warplens.simc.record import Record
from warplens.system import disk_cache as disk

# Of an argument: "int", "float", (dtype, axes) of an array, ("record", fields), or the class and the kinds of a tuple
Kind = Any
LARGE = 1 << 18  # characters of LLVM assembly; the SM simulation, 800,000, is the only such function
# For large functions: LLVM's level 1 takes nine times as long to optimise the SM simulation, and makes it no faster.
LARGE_PASSES = (
    "always_inliner", "sroa", "simplify_cfg", "instruction_combine", "simplify_cfg", "aggressive_dce",
)  # fmt: skip
RESULTS = 16  # maximum of numbers that a function may return
C_TYPES: dict[str, Any] = {"int": ctypes.c_int64, "float": ctypes.c_double, "pointer": ctypes.c_void_p}


class ArrayInterface(ctypes.Structure):
    """Array interface: numpy's PyArrayInterface (array protocol, version 3) as far as the pointer to the data.

    The SM simulation takes 150 arrays, and `array.ctypes.data` takes six times as long: half of the time of a
    simulation of 64 blocks.
    """

    _fields_ = (
        ("two", ctypes.c_int), ("axes", ctypes.c_int), ("kind", ctypes.c_char), ("item_bytes", ctypes.c_int),
        ("flags", ctypes.c_int), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("data", ctypes.c_void_p),
    )  # fmt: skip


array_interface = ctypes.PYFUNCTYPE(ctypes.POINTER(ArrayInterface), ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
"""Of array.__array_struct__; the second argument is None, the name of that capsule."""


class CompiledFunction:
    """A function and its machine code, by the kinds of its arguments."""

    def __init__(self, python: Callable[..., Any]) -> None:
        self.python = python
        self.ready: dict[tuple[Kind, ...], tuple[Any, Any, Any]] = {}  # (function, kinds of the result, its owner)
        update_wrapper(self, python)

    def __call__(self, *arguments: Any) -> Any:
        words: list[Any] = []
        kinds = tuple([_pack(a, words) for a in arguments])
        if kinds not in self.ready:
            self.ready[kinds] = self._made(kinds)
        run, returned, _ = self.ready[kinds]
        results = (ctypes.c_int64 * RESULTS)()
        run(*words, results)
        return _decode_result(returned, iter(results))

    def address(self, *arguments: Any) -> int:
        """Host address of the machine code for arguments of these kinds, for other machine code to call: it takes
        numbers as 64 bits, of an array the pointer and the extents, and last a pointer to RESULTS words."""
        kinds = tuple(_pack(a, []) for a in arguments)
        if kinds not in self.ready:
            self.ready[kinds] = self._made(kinds)
        return int(ctypes.cast(self.ready[kinds][0], ctypes.c_void_p).value or 0)

    def _made(self, kinds: tuple[Kind, ...]) -> tuple[Any, Any, Any]:
        mine = Path(inspect.getfile(self.python)).read_bytes()
        name = disk.key("compiled", *host(), mine, self.python.__qualname__, repr(kinds))
        code = disk.remember("object", name, lambda: _object(self.python, kinds))
        loaded = load((code,), ("entry", "returned"))
        returned = json.loads(ctypes.string_at(loaded.addresses["returned"]))
        types = [C_TYPES[t] for kind in kinds for t in _c_types(kind)]
        run = ctypes.CFUNCTYPE(None, *types, ctypes.c_void_p)(loaded.addresses["entry"])
        return run, returned, loaded


def compiled(function: Callable[..., Any]) -> Any:
    return CompiledFunction(function)


# Arguments and results


def _pack(argument: Any, words: list[Any]) -> Kind:
    """The kind of an argument; appends the words that are passed for it."""
    if isinstance(argument, np.ndarray):
        if not argument.flags.c_contiguous:
            raise TypeError("compiled functions take arrays in C order: np.ascontiguousarray makes one")
        words += (array_interface(argument.__array_struct__, None).contents.data, *argument.shape)
        return _type_string(argument.dtype), argument.ndim
    if isinstance(argument, Record):
        words.append(argument.values.ctypes.data)
        return "record", argument._fields
    if isinstance(argument, tuple):
        return *_class_name(type(argument)), tuple([_pack(a, words) for a in argument])
    words.append(argument)
    return "float" if isinstance(argument, float) else "int"


@cache
def _type_string(dtype: np.dtype[Any]) -> str:
    return dtype.str


@cache
def _class_name(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


def _c_types(kind: Kind) -> list[str]:
    """C_TYPES of an argument as it is passed."""
    if isinstance(kind, str):
        return [kind]
    if kind[0] == "record":
        return ["pointer"]
    if len(kind) == 2:
        return ["pointer", *["int"] * kind[1]]
    return [t for part in kind[2] for t in _c_types(part)]


def _decode_result(returned: Any, results: Iterator[int]) -> Any:
    """Decode the result from 64-bit numbers and its kinds: a name, a list, or None."""
    if isinstance(returned, list):
        return tuple(_decode_result(r, results) for r in returned)
    if returned is None:
        return None
    bits = next(results)
    if returned == "float":
        return ctypes.c_double.from_buffer(ctypes.c_int64(bits)).value
    return bool(bits) if returned == "truth" else bits


# Machine code


def _object(python: Callable[..., Any], kinds: Sequence[Kind]) -> bytes:
    """Object file with `entry`, and in `returned` the kinds of the result."""
    text = str(llvm_module(python, kinds))
    return emit_object(text, LARGE_PASSES if len(text) > LARGE else None)


def llvm_module(python: Callable[..., Any], kinds: Sequence[Kind]) -> llvm.IRModule:
    """The LLVM module, before optimisation."""
    from warplens.simc.from_python import FromPython
    from warplens.simc.typed_values import FLOAT, INT, PTR

    types = {"int": INT, "float": FLOAT, "pointer": PTR}
    module = llvm.IRModule(name=python.__qualname__)
    passed = [types[t] for kind in kinds for t in _c_types(kind)]
    function = llvm.Function(module, llvm.FunctionType(llvm.VoidType(), [*passed, PTR]), "entry")
    function.noalias = [argument for argument in function.args if argument.type is PTR]
    b = llvm.IRBuilder(function.append_basic_block("entry"))
    given = iter(function.args)
    values = [_value(kind, given) for kind in kinds]
    result = FromPython(b, lambda f: f.python if isinstance(f, CompiledFunction) else None).inline(python, values)
    returned = json.dumps(_store_result(b, result, function.args[-1], iter(range(RESULTS)))).encode() + b"\0"
    b.ret_void()
    text = llvm.GlobalVariable(module, llvm.ArrayType(llvm.IntType(8), len(returned)), "returned")
    text.initializer = llvm.IRConstant(text.kind, returned)
    return module


def _value(kind: Kind, given: Iterator[Any]) -> Any:
    """An argument inside the function."""
    import importlib

    from warplens.simc.typed_values import TypedArray, TypedGroup, TypedNumber, TypedRecord

    if isinstance(kind, str):
        return TypedNumber(kind, next(given))
    if kind[0] == "record":
        return TypedRecord(next(given), kind[1])
    if len(kind) == 2:
        return TypedArray(
            next(given), np.dtype(kind[0]), tuple(TypedNumber("int", next(given)) for _ in range(kind[1]))
        )
    made = getattr(importlib.import_module(kind[0]), kind[1])
    return TypedGroup(tuple(_value(part, given) for part in kind[2]), getattr(made, "_fields", ()))


def _store_result(b: Any, result: Any, results: Any, places: Iterator[int]) -> Any:
    """Store the result; returns its kinds."""
    from warplens.simc.typed_values import Arithmetic, TypedGroup

    if result is None:
        return None
    if isinstance(result, TypedGroup):
        return [_store_result(b, item, results, places) for item in result.items]
    at = b.gep(results, [llvm.IRConstant(llvm.IntType(64), next(places))], source_etype=llvm.IntType(64))
    b.store(Arithmetic(b).to("int", result).value if result.kind == "truth" else result.value, at)
    return result.kind
