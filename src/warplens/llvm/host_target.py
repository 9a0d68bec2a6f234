"""Host target: the host's processor as an LLVM target machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import count
from typing import Any


@cache
def host() -> tuple[str, str, str]:
    """LLVM version, host CPU name and features, as LLVM names them."""
    import llvmlite.binding as llvm

    return version("llvmlite"), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def target() -> Any:
    """Target machine of this host, with the small code model: calls and constants within 2 GiB.

    Calls in the large model go through a register; on a host with restricted branch prediction (IBRS), each waits for
    its target, which took a quarter of the time of a kernel with barriers.
    """
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # Computations sunk to the end of long straight-line code keep their operands in registers until then.
    llvm.set_option("warplens", "-disable-machine-sink")
    # Scheduling after register allocation takes a fifth of code generation; processors reorder instructions themselves.
    llvm.set_option("warplens", "-disable-post-ra")
    _, cpu, features = host()
    found = llvm.Target.from_default_triple()
    return found.create_target_machine(cpu=cpu, features=features, opt=2, jit=True, reloc="pic", codemodel="small")


def without_scheduling() -> None:
    """For this process: no scheduling before register allocation.  Blocks of 2,000 instructions take it a quarter of
    code generation."""
    import llvmlite.binding as llvm

    llvm.set_option("warplens", "-enable-misched=false")


def emit_object(text: str, passes: Sequence[str] | None) -> bytes:
    """The object file of a module, after these passes; None: those of LLVM's level 2."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text)
    builder = llvm.create_pass_builder(target(), llvm.create_pipeline_tuning_options())
    manager = builder.getModulePassManager() if passes is None else llvm.create_new_module_pass_manager()
    for name in passes or ():
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, builder)
    return bytes(target().emit_object(module))


@dataclass(frozen=True)
class Loaded:
    """Loaded machine code: addresses of its exported symbols.  The code is valid as long as this object."""

    addresses: Mapping[str, int]
    owner: Any


def load(parts: Sequence[bytes], exported: Sequence[str]) -> Loaded:
    """Links object files.  Each goes to one memory block, so that calls within it are in range."""
    import llvmlite.binding as llvm

    builder = llvm.JITLibraryBuilder()
    for part in parts:
        builder.add_object_img(part)
    for name in exported:
        builder.export_symbol(name)
    linked = builder.link(_linker(), f"code{next(_numbers)}")
    return Loaded({name: linked[name] for name in exported}, linked)


_numbers = count()  # library names must be unique


@cache
def _linker() -> Any:
    import llvmlite.binding as llvm

    target()  # initializes LLVM
    return llvm.create_lljit_compiler(use_jit_link=True)
