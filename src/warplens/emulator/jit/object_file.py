"""Object file: LLVM IR text through passes to machine code of this host, here or in a process of its own.

Python handles no signal while LLVM runs, and a kernel of 6,000 instructions takes it 90 s: --timeout and Ctrl-C end a
process at once.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from warplens.llvm.host_target import target


def object_file(text: str, passes: Sequence[str]) -> bytes:
    import llvmlite.binding as llvm

    module, machine = llvm.parse_assembly(text), target()
    manager = llvm.create_new_module_pass_manager()
    for name in passes:
        getattr(manager, f"add_{name}_pass")()
    manager.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    return bytes(machine.emit_object(module))


def object_file_apart(text: str, passes: Sequence[str]) -> bytes:
    """The same by another process, which takes 0.2 s more."""
    command = [sys.executable, __file__, *passes]  # as a module it would import the executor
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        made = subprocess.run(command, input=text.encode(), capture_output=True, env=environment, check=True)
    except (OSError, subprocess.CalledProcessError):  # no process can be started, or not this Python
        return object_file(text, passes)
    return made.stdout


if __name__ == "__main__":
    sys.stdout.buffer.write(object_file(sys.stdin.buffer.read().decode(), sys.argv[1:]))
