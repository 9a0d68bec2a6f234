"""The processor that this runs on, as LLVM knows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import count
from typing import Any


@cache
def host() -> tuple[str, str, str]:
    """The version of the compiler, the host's processor and its features, as LLVM names them."""
    import llvmlite.binding as llvm

    return version("llvmlite"), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def target() -> Any:
    """LLVM's machine that makes code for this host, of the small kind: calls and constants within 2 GiB.

    Calls that reach everywhere go through a register; where the host distrusts its branch predictor (IBRS), each waits
    for the target to be known, which took a quarter of the time of a kernel with barriers.
    """
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # Computations that wait for the end of long straight code keep all that they need in registers until then.
    llvm.set_option("warplens", "-disable-machine-sink")
    _, cpu, features = host()
    found = llvm.Target.from_default_triple()
    return found.create_target_machine(cpu=cpu, features=features, opt=2, jit=True, reloc="pic", codemodel="small")


@dataclass(frozen=True)
class Loaded:
    """Machine code in memory: where its exported symbols are.  The code lives as long as this."""

    addresses: Mapping[str, int]
    owner: Any


def load(parts: Sequence[bytes], exported: Sequence[str]) -> Loaded:
    """Object files, linked with each other.  Each goes to one piece of memory, so that all of it is within reach."""
    import llvmlite.binding as llvm

    builder = llvm.JITLibraryBuilder()
    for part in parts:
        builder.add_object_img(part)
    for name in exported:
        builder.export_symbol(name)
    linked = builder.link(_linker(), f"code{next(_numbers)}")
    return Loaded({name: linked[name] for name in exported}, linked)


_numbers = count()  # no name of a library can be used twice


@cache
def _linker() -> Any:
    import llvmlite.binding as llvm

    target()  # which initializes LLVM
    return llvm.create_lljit_compiler(use_jit_link=True)
