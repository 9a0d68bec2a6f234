"""The processor that this runs on, as LLVM knows it."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any


@cache
def host() -> tuple[str, str, str]:
    """The version of the compiler, the host's processor and its features, as LLVM names them."""
    import llvmlite.binding as llvm

    return version("llvmlite"), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def target() -> Any:
    """LLVM's machine that makes code for this host."""
    return new_target()


def new_target() -> Any:
    """The same for an engine, which frees it in the end."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    _, cpu, features = host()
    found = llvm.Target.from_default_triple()
    return found.create_target_machine(cpu=cpu, features=features, opt=2, jit=True, codemodel="jitdefault")
