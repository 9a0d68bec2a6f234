"""What the constants of a kernel are called: parameters as in the source, blockDim, gridDim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from warplens.compiler.signature import first_names
from warplens.core.cubin import Kernel, Parameter, chip_number
from warplens.core.program import Constant
from warplens.emulator.state.abi import bank0

AXES = ("x", "y", "z")


def constant_names(
    kernel: Kernel, sources: Mapping[str, str], labels: Sequence[str] = ()
) -> Callable[[Constant], str | None]:
    """Names for the entries of constant bank 0, by place.

    A parameter is called as in the source, else by its label, else param0, param1 ...; what lies inside one
    is "byte 4 of point", the upper half of a pointer "high word of x".
    """
    written = first_names(sources.values(), kernel.name, len(kernel.parameters))
    parameters = [(p, _name(p, written, labels)) for p in kernel.parameters]
    places = _launch_places(kernel)

    def name_of(constant: Constant) -> str | None:
        if constant.bank != 0 or (constant.index is not None and constant.index.index >= 0):
            return None
        inside = constant.offset - kernel.parameter_base
        for parameter, name in parameters:
            if 0 <= inside - parameter.offset < parameter.size:
                return _part(name, parameter, inside - parameter.offset)
        return places.get(constant.offset)

    return name_of


def _name(parameter: Parameter, written: Sequence[str], labels: Sequence[str]) -> str:
    at = parameter.ordinal
    known = [names[at] for names in (written, labels) if at < len(names) and names[at]]
    return known[0] if known else f"param{at}"


def _part(name: str, parameter: Parameter, offset: int) -> str:
    if offset == 0:
        return name
    return f"high word of {name}" if (parameter.size, offset) == (8, 4) else f"byte {offset} of {name}"


def _launch_places(kernel: Kernel) -> dict[int, str]:
    """What the driver writes there beside the parameters."""
    place = bank0(kernel.arch)
    found = {place.block + 4 * k: f"blockDim.{axis}" for k, axis in enumerate(AXES)}
    found |= {place.grid + 4 * k: f"gridDim.{axis}" for k, axis in enumerate(AXES)}
    found[place.stack] = "top of the stack"
    found[_descriptor(chip_number(kernel.arch))] = "the memory descriptor"
    if place.dynamic_shared is not None:
        found[place.dynamic_shared] = "dynamic shared bytes"
    return found


def _descriptor(chip: int) -> int:
    """Where sm_80 and newer keep the descriptor of global memory, which is 0 in ordinary kernels."""
    return 0x358 if chip >= 100 else 0x208 if chip >= 90 else 0x118
