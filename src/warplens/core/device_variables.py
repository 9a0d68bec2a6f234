"""Device variables: `__device__` and `__constant__` variables of a module, as the host sets and reads them.

Their values persist from launch to launch, as on a GPU, at the offsets of the cubin: an image of all `__device__`
variables, and constant bank 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warplens.core.cubin import Cubin
from warplens.core.demangle import demangled
from warplens.errors import UsageError

CONSTANT_BANK = 3
MOST_NAMED = 12  # in a message


@dataclass(frozen=True)
class DeviceVariable:
    """Device variable.  A cubin has its size, not its type: the reader passes the type.

    name   as in the source, with its namespaces;  data: its bytes, in place;  constant: `__constant__`
    """

    name: str
    data: NDArray[np.uint8]
    constant: bool

    def __repr__(self) -> str:
        kind = "__constant__" if self.constant else "__device__"
        return f"<{kind} variable {self.name}: {self.size} bytes>"

    @property
    def size(self) -> int:
        """Bytes."""
        return self.data.size

    def read(self, dtype: DTypeLike) -> NDArray[Any]:
        """A copy of its values, one-dimensional.  UsageError if its size is no multiple of the type's."""
        kind = np.dtype(dtype)
        if self.size % kind.itemsize:
            raise UsageError(f"{self.name} has {self.size} bytes, no multiple of the {kind.itemsize} of {kind}")
        return self.data.copy().view(kind)

    def write(self, values: Any) -> None:
        """Sets it from the start on: numpy arrays and numbers as they are, bytes; shorter values leave the rest.

        UsageError for values that are longer than the variable or have no definite size.
        """
        if isinstance(values, bytes | bytearray):
            values = np.frombuffer(values, np.uint8)
        if not isinstance(values, np.ndarray | np.generic):
            raise UsageError(
                f"{self.name} is set from {type(values).__name__}, which has no size; give a numpy array or number, "
                f"such as np.float32({values!r})" if isinstance(values, int | float)
                else f"{self.name} is set from {type(values).__name__}; give a numpy array, a numpy number or bytes"
            )  # fmt: skip
        content = np.frombuffer(np.ascontiguousarray(values).tobytes(), np.uint8)
        if content.size > self.size:
            raise UsageError(f"{self.name} has {self.size} bytes, and {content.size} are given")
        self.data[: content.size] = content


class Variables(Mapping[str, DeviceVariable]):
    """Variables: the variables of a module by name; `variables["table"] = array` sets one.

    image      all `__device__` variables, one after the other
    constants  constant bank 3
    """

    def __init__(self, cubin: Cubin) -> None:
        self._initial = (cubin.globals_image, _constant_bank(cubin))
        self.image, self.constants = (np.frombuffer(bytearray(content), np.uint8) for content in self._initial)
        self._linked = {r.offset: bytes(self.image[r.offset : r.offset + 8]) for r in cubin.relocations}
        self._found: dict[str, DeviceVariable] = {}
        for places, image, constant in (
            (cubin.globals, self.image, False),
            (cubin.constants, self.constants, True),
        ):
            for symbol, place in places.items():
                name = demangled(symbol)
                data = image[place.offset : place.offset + place.size]
                self._found.setdefault(name, DeviceVariable(name, data, constant))

    def __getitem__(self, name: str) -> DeviceVariable:
        if name not in self._found:
            known = list(self)
            shown = ", ".join(known[:MOST_NAMED]) + (" ..." if len(known) > MOST_NAMED else "")
            raise UsageError(f"no variable {name!r} here; there are: {shown or 'none'}")
        return self._found[name]

    def __setitem__(self, name: str, values: Any) -> None:
        self[name].write(values)

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        """Names of the source's variables, without the compiler's strings and tables and those of CUDA's headers."""
        return (name for name in self._found if _QUALIFIED_NAME.fullmatch(name) and not _FROM_HEADERS.match(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<Variables: {', '.join(self) or 'none'}>"

    def reset(self) -> None:
        """Resets every variable to its initial value in the cubin."""
        for image, content in zip((self.image, self.constants), self._initial, strict=True):
            image[:] = np.frombuffer(content, np.uint8)
        self._linked = {offset: bytes(self.image[offset : offset + 8]) for offset in self._linked}

    def changed(self, cubin: Cubin) -> dict[str, bytes]:
        """The variables that no longer have their initial bytes, by symbol."""
        found = {}
        places = ((cubin.globals, self.image), (cubin.constants, self.constants))
        for (variables, image), first in zip(places, self._initial, strict=True):
            for symbol, place in variables.items():
                span = slice(place.offset, place.offset + place.size)
                if image[span].tobytes() != first[span]:
                    found[symbol] = image[span].tobytes()
        return found

    def link(self, cubin: Cubin, addresses: Mapping[str, int]) -> None:
        """Applies relocations: writes addresses of symbols into the image; pointers that a kernel or the host has
        changed since are kept."""
        for relocation in cubin.relocations:
            place = self.image[relocation.offset : relocation.offset + 8]
            if place.tobytes() == self._linked[relocation.offset]:
                target = (addresses.get(relocation.symbol, 0) + relocation.addend).to_bytes(8, "little")
                place[:] = np.frombuffer(target, np.uint8)
                self._linked[relocation.offset] = target


_FROM_HEADERS = re.compile(r"__|cuda::|cooperative_groups::|_INTERNAL_")
_QUALIFIED_NAME = re.compile(r"(?:[\w:]|\(anonymous namespace\))+")


def _constant_bank(cubin: Cubin) -> bytes:
    return next((k.constants[CONSTANT_BANK] for k in cubin.kernels.values() if CONSTANT_BANK in k.constants), b"")
