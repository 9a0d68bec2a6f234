"""Object file: LLVM IR text to machine code of this host, by a process of its own.

Python handles no signal while LLVM runs, and a kernel of 6,000 instructions takes it 20 s: --timeout and Ctrl-C end a
process at once.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from warplens.llvm.host_target import emit_object, without_scheduling


def emit_object_apart(text: str, passes: Sequence[str]) -> bytes:
    """emit_object() by another process, which takes 0.2 s more."""
    command = [sys.executable, __file__, *passes]  # as a module it would import the executor
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        made = subprocess.run(command, input=text.encode(), capture_output=True, env=environment, check=True)
    except (OSError, subprocess.CalledProcessError):  # no process can be started, or not this Python
        return emit_object(text, passes)
    return made.stdout


if __name__ == "__main__":
    without_scheduling()
    sys.stdout.buffer.write(emit_object(sys.stdin.buffer.read().decode(), sys.argv[1:]))
