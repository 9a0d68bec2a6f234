"""Argument parser: kernel arguments from text: "random f32[n]", "zeros:i32[n * m]", "file x.npy", "null", "n / 2".

The syntax of the command line and of launch blocks; kind and type are separated by a colon or a blank.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.core.tensor_map import BYTES
from warplens.errors import UsageError
from warplens.launchspec.element_type import ElementType, parse_element
from warplens.launchspec.expression import Names, Number, evaluate, evaluate_call, evaluate_list, whole
from warplens.launchspec.initializers import KINDS, InitialArray, Maker, plan
from warplens.launchspec.mapped_array import MappedArray, mapped
from warplens.launchspec.pitched_array import USUAL_ALIGNMENT, Pitched, padded, pitch_of
from warplens.launchspec.struct_literal import STRUCTURE, structure

_POINTER_BYTES = 8
_MOST_BYTES = 64 << 30
MOST_AXES = 32  # as numpy 1 has; numpy 2 has 64
_INTEGERS: dict[int, tuple[type[np.integer[Any]], type[np.integer[Any]]]] = {
    1: (np.int8, np.uint8),
    2: (np.int16, np.uint16),
    4: (np.int32, np.uint32),
    8: (np.int64, np.uint64),
}
_FLOATS: dict[int, type[np.floating[Any]]] = {2: np.float16, 4: np.float32, 8: np.float64}

_LABEL = re.compile(r"([A-Za-z_]\w*)\s*=(?!=)\s*(.*)", re.DOTALL)
_TYPE = r"(?P<type>[A-Za-z]\w*)\s*\[(?P<shape>.*)\]"
_ARRAY = re.compile(
    rf"(?P<kind>[A-Za-z]\w*)\s*(?:\((?P<before>.*)\))?\s*[:\s]\s*{_TYPE}\s*(?:\((?P<after>.*)\))?", re.DOTALL
)
_BARE_TYPE = re.compile(rf"{_TYPE}\s*", re.DOTALL)
_PITCHED = re.compile(r"(?P<array>.*\S)(?:\s+|\s*:\s*)pitched", re.DOTALL)
_MAPPED = re.compile(r"(?P<array>.*\S)(?:\s+|\s*:\s*)tensor_map\s*\((?P<box>.*)\)", re.DOTALL)
_PITCH = re.compile(r"\bpitch\s*\(\s*(\w*)\s*\)")
_FILE = re.compile(rf"file\s*[:\s]\s*(?P<path>.+?)(?:\s*[:\s]\s*{_TYPE})?", re.DOTALL)
_POSSIBLE = (
    f"possible are arrays (KIND TYPE[SIZE], such as 'random f32[n]', with the kinds {', '.join(KINDS)}; "
    "'random f32[h, w] pitched', 'random f16[m, k] tensor_map(64, 64, swizzle=128)'), "
    "'file PATH', 'struct(f32 0.5, i32 n)', 'null', and numbers or expressions such as 'n / 2' or '3.5f'"
)


@dataclass(frozen=True, slots=True)
class Argument:
    """Argument: one argument of a launch.

    text    as the user wrote it, without the label
    label   "in" of "in=random f32[n]"; a name for messages, None if not given
    source  the array's maker; or the number; or a structure's bytes; or None for a null pointer
    bytes   of the array's memory, 0 for numbers and null pointers
    pitch   of a pitched array in bytes, 0 for everything else
    taken   bytes of the parameter for an array: of its pointer, or its tensor map
    """

    text: str
    label: str | None
    source: Callable[[], NDArray[Any] | Pitched | MappedArray] | Number | bytes | None
    bytes: int = 0
    pitch: int = 0
    taken: int = _POINTER_BYTES

    def make(self, size: int | None = None) -> NDArray[Any] | Pitched | MappedArray | np.generic | None:
        """The array, the number or None (a null pointer), the same at every call.

        `size` is the parameter's in bytes.  Without it whole numbers take 4 bytes if they fit, else 8, and
        floats 4.  UsageError if the argument does not fit a parameter of that size.
        """
        if isinstance(self.source, int | float):
            return scalar(self.source, _natural_size(self.source) if size is None else size)
        if isinstance(self.source, bytes):
            return _whole_structure(self.source, size)
        if size not in (None, self.taken):
            what = "pointer" if self.taken == _POINTER_BYTES else "tensor map"
            raise UsageError(
                f"'{self.text}' is a {what} of {self.taken} bytes, and the kernel's parameter here has "
                f"{size}; possible is a number"
            )
        if self.source is None:
            return None
        try:
            return self.source()
        except MemoryError:
            raise UsageError(f"'{self.text}' needs {_gib(self.bytes)}, more than is free here") from None


def parse_argument(
    text: str, names: Names | None = None, position: int = 0, folder: Path | None = None,
    alignment: int = USUAL_ALIGNMENT, pitches: Mapping[str, int] | None = None,
) -> Argument:  # fmt: skip
    """The argument that `text` describes.

    names      for sizes, parameters and numbers
    position   among the kernel's arguments, from 0: random data differs from one position to the next
    folder     base of relative file paths; default: the working directory
    alignment  of the rows of pitched arrays, in bytes;  pitches: value of pitch(a) for the pitched array labelled a

    UsageError names the argument, the error, and what is possible.
    """
    try:
        labelled = _LABEL.fullmatch(text.strip())
        label, body = (labelled[1], labelled[2].strip()) if labelled else (None, text.strip())
        body = _PITCH.sub(partial(_pitch_called, pitches or {}), body)
        if (found := _MAPPED.fullmatch(body)) and (array := _ARRAY.fullmatch(found["array"])):
            return _mapped(body, label, array, found["box"], names or {}, position)
        if (found := _PITCHED.fullmatch(body)) and (array := _ARRAY.fullmatch(found["array"])):
            return _pitched(body, label, array, names or {}, position, alignment)
        source, size = _source(body, names or {}, position, folder or Path())
    except UsageError as error:
        raise UsageError(f"argument {position + 1}, '{text.strip()}': {error}") from None
    return Argument(body, label, source, size)


def parse_arguments(
    texts: Sequence[str], names: Names, folder: Path | None = None, alignment: int = USUAL_ALIGNMENT
) -> tuple[Argument, ...]:
    """All arguments of a kernel: a number may be the pitch of another one, `pitch(a)`.  UsageError as for each."""
    found: dict[int, Argument] = {}
    pitches: dict[str, int] = {}
    for place in sorted(range(len(texts)), key=lambda place: bool(_PITCH.search(texts[place]))):
        made = found[place] = parse_argument(texts[place], names, place, folder, alignment, pitches)
        if made.label and made.pitch:
            pitches[made.label] = made.pitch
    return tuple(found[place] for place in range(len(texts)))


def labelled_numbers(texts: Sequence[str], names: Names) -> dict[str, Number]:
    """Labelled numbers among a kernel's arguments, "n=1024", usable in sizes.  Labels of
    known names are ignored."""
    found: dict[str, Number] = {}
    for text in texts:
        labelled = _LABEL.fullmatch(text.strip())
        if labelled and labelled[1] not in names:
            try:
                found[labelled[1]] = evaluate(labelled[2], {**found, **names})
            except UsageError:  # an array, or wrong: parse_arguments() reports it
                continue
    return found


def variable_value(
    text: str, names: Names, position: int, folder: Path, size: int
) -> NDArray[Any] | np.generic | Number:
    """Value of a `__device__` or `__constant__` variable of `size` bytes, in argument syntax.

    UsageError if it is null, or a number for a variable of several.
    """
    source, made = _source(text.strip(), names, position, folder)
    if isinstance(source, int | float):
        if size not in _INTEGERS:
            raise UsageError(f"it has {size} bytes: set it to an array, such as 'full({source}) f32[{size // 4}]'")
        return source
    value = Argument(text, None, source, made).make(None if made or source is None else size)
    if value is None or isinstance(value, Pitched | MappedArray):
        raise UsageError("a variable is set to an array or a number, not to null")
    return value


def scalar(value: Number, size: int) -> np.generic:
    """`value` as a parameter of `size` bytes holds it: a float if it is written as one, else an integer.

    Integers are signed where they fit, else unsigned.  UsageError if the parameter cannot hold it.
    """
    if size not in _INTEGERS:
        raise UsageError(f"a parameter of {size} bytes is a structure: write its fields, struct(f32 0.5, i32 n, ...)")
    if isinstance(value, int):
        return _integer(value, size)
    if size not in _FLOATS:
        raise UsageError(f"{value} is a float, and a parameter of {size} byte holds only whole numbers")
    number = _FLOATS[size]
    if abs(value) > float(np.finfo(number).max):
        raise UsageError(f"{value} is too large for a float of {size} bytes")
    return number(value)


def _whole_structure(data: bytes, size: int | None) -> np.generic:
    if size not in (None, len(data)):
        raise UsageError(f"the structure has {len(data)} bytes, and the kernel takes one of {size}")
    made: np.generic = np.frombuffer(data, f"V{len(data)}")[0]
    return made


def _integer(value: int, size: int) -> np.generic:
    for integer in _INTEGERS[size]:
        if np.iinfo(integer).min <= value <= np.iinfo(integer).max:
            return integer(value)
    raise UsageError(
        f"{value} does not fit in a parameter of {size} bytes: "
        f"possible are {-(1 << (8 * size - 1))} to {(1 << (8 * size)) - 1}"
    )


def _natural_size(value: Number) -> int:
    return 8 if isinstance(value, int) and not -(1 << 31) <= value < 1 << 32 else 4


def _source(body: str, names: Names, position: int, folder: Path) -> tuple[Maker | Number | bytes | None, int]:
    """The argument's source, and the bytes of its array."""
    if body == "null":
        return None, 0
    if found := STRUCTURE.fullmatch(body):
        return structure(found["fields"], names), 0
    if found := _FILE.fullmatch(body):
        return _file(found, names, folder)
    if found := _ARRAY.fullmatch(body):
        return _array(found, names, position)
    if _BARE_TYPE.fullmatch(body):
        raise UsageError(f"does not say what the array holds: write 'random {body}'; kinds are {', '.join(KINDS)}")
    if body.split("(")[0].strip() in (KINDS.keys() | {"file"}) - names.keys():
        raise UsageError("a type and a size, or a path, are missing: write 'zeros f32[n]' or 'file data.npy'")
    try:
        return evaluate(body, names), 0
    except UsageError as error:
        raise UsageError(f"{error}; {_POSSIBLE}" if "possible" not in str(error) else str(error)) from None


def _pitch_called(pitches: Mapping[str, int], found: re.Match[str]) -> str:
    if found[1] in pitches:
        return str(pitches[found[1]])
    known = f"there are {', '.join(pitches)}" if pitches else f"write '{found[1] or 'a'} = random f32[h, w] pitched'"
    raise UsageError(f"no pitched array is called '{found[1]}'; {known}")


def _pitched(
    body: str, label: str | None, found: re.Match[str], names: Names, position: int, alignment: int
) -> Argument:
    maker, _ = _array(found, names, position)
    element, shape = parse_element(found["type"]), _shape(found["shape"], names)
    if not 2 <= len(shape) <= 3 or min(shape) < 1:
        raise UsageError("a pitched array has rows and columns, or slices, rows and columns: write f32[h, w] pitched")
    pitch = pitch_of(shape[-1] * element.bytes, alignment)
    size = math.prod(shape[:-1]) * pitch
    _check_bytes(size)
    row_axes = 1 if element.lanes == 1 else 2
    return Argument(body, label, lambda: padded(maker(), alignment, row_axes), size, pitch)


def _mapped(body: str, label: str | None, found: re.Match[str], box: str, names: Names, position: int) -> Argument:
    """The box in the order of the array's axes, then what else a map says."""
    maker, size = _array(found, names, position)
    values, keywords = evaluate_call(box, names)
    known = {name: whole(box, keywords.pop(name, 0)) for name in ("swizzle", "interleave", "l2_promotion", "nan")}
    if keywords:
        raise UsageError(f"a tensor map has no {', '.join(keywords)}; possible are {', '.join(known)}")
    scalar, sizes = parse_element(found["type"]).scalar, tuple(whole(box, value) for value in values)

    def make() -> MappedArray:
        return mapped(
            maker(), sizes, swizzle=known["swizzle"], interleave=known["interleave"],
            fill="nan" if known["nan"] else "zero", l2_promotion=known["l2_promotion"],
            element_type="bf16" if scalar == "bf16" else "",
        )  # fmt: skip

    return Argument(body, label, make, size, taken=BYTES)


def drawn_values(text: str, names: Names, position: int, count: int) -> NDArray[Any]:
    """So many elements as the array has them that `text` describes; UsageError if that is no plain array."""
    labelled = _LABEL.fullmatch(text.strip())
    found = _ARRAY.fullmatch(labelled[2].strip() if labelled else text.strip())
    if found is None:
        raise UsageError(f"'{text}' is no array")
    return _array(found, names, position, (count,))[0]()


def _array(found: re.Match[str], names: Names, position: int, shape: tuple[int, ...] = ()) -> tuple[Maker, int]:
    """shape: instead of that in the text"""
    if found["kind"] not in KINDS:
        raise UsageError(f"no kind '{found['kind']}'; {_POSSIBLE}")
    if found["before"] is not None and found["after"] is not None:
        raise UsageError("shape given twice (before and after the type)")
    array = InitialArray(parse_element(found["type"]), shape or _shape(found["shape"], names), position)
    _check_bytes(array.bytes)
    parameters = found["before"] or found["after"] or ""
    values, keywords = evaluate_call(parameters, names) if parameters.strip() else ((), {})
    return partial(_shaped, plan(found["kind"], array, values, keywords), array.numpy_shape), array.bytes


def _shaped(maker: Maker, shape: tuple[int, ...]) -> NDArray[Any]:
    return maker().reshape(shape)


def _shape(text: str, names: Names) -> tuple[int, ...]:
    """The sizes in "n", "n, m" or "n][m"."""
    parts = re.split(r"\]\s*\[", text)
    sizes = tuple(whole(text, size) for part in parts for size in evaluate_list(part, names))
    if not sizes:
        raise UsageError("the size is missing: write f32[n]")
    if min(sizes) < 0:
        raise UsageError(f"the size '{text}' is {min(sizes)}; possible are whole numbers from 0")
    if len(sizes) > MOST_AXES:
        raise UsageError(f"an array of {len(sizes)} sizes; at most {MOST_AXES} are possible")
    _check_bytes(math.prod(max(size, 1) for size in sizes))  # also if another size is 0
    return sizes


def _check_bytes(size: int) -> None:
    if size > _MOST_BYTES:
        raise UsageError(f"takes {_gib(size)}; the largest array possible is {_gib(_MOST_BYTES)}")


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.4g} GiB"


def _file(found: re.Match[str], names: Names, folder: Path) -> tuple[Maker, int]:
    """A .npy file, or any other file as raw bytes of the given type."""
    path = folder / os.path.expanduser(found["path"])
    if not os.path.isfile(path):
        raise UsageError(f"there is no file {path}")
    _check_bytes(path.stat().st_size)
    typed = None
    if found["type"] is not None:
        typed = InitialArray(parse_element(found["type"]), _shape(found["shape"], names))
        _check_bytes(typed.bytes)
    if path.suffix == ".npy":
        return partial(_npy, path, typed), path.stat().st_size
    if typed is None:
        raise UsageError(f"{path} is no .npy file, so it needs a type and a size: 'file {found['path']} f32[n]'")
    if path.stat().st_size != typed.bytes:
        raise UsageError(f"{path} holds {path.stat().st_size} bytes, and the array takes {typed.bytes}")
    raw: Callable[[], NDArray[Any]] = partial(np.fromfile, path, typed.element.dtype)
    return partial(_shaped, raw, typed.numpy_shape), typed.bytes


def _npy(path: Path, typed: InitialArray | None) -> NDArray[Any]:
    try:
        array = np.load(path, allow_pickle=False)
    except Exception as error:  # a damaged file fails anywhere in NumPy's readers, including those of archives
        raise UsageError(f"{path} cannot be read as a .npy file: {error}") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iufb" or not array.dtype.isnative:
        raise UsageError(f"{path} does not hold plain numbers in this machine's byte order")
    array = np.ascontiguousarray(np.atleast_1d(array))
    if typed is None:
        return array
    return _as_declared(path, array, typed.element, typed.numpy_shape)


def _as_declared(path: Path, array: NDArray[Any], element: ElementType, shape: tuple[int, ...]) -> NDArray[Any]:
    if array.dtype != element.dtype or array.shape != shape:
        raise UsageError(
            f"{path} holds {array.dtype} of shape {array.shape}, and the argument says {element.dtype} of shape {shape}"
        )
    return array
