"""What can go wrong, in words a user can act on."""

from __future__ import annotations

import traceback
from pathlib import Path

from warplens.control_characters import visible

_PACKAGE = str(Path(__file__).parent)


class WarplensError(Exception):
    """Something the user can mend; the message says what was wrong and what is possible.

    `exit_code` is what the command line ends with: 2 for wrong usage, 3 for a fault of the kernel itself, 4 for one
    that cannot be executed here.
    """

    exit_code = 2

    def __str__(self) -> str:
        """Names from files may stand in it."""
        return visible(super().__str__())

    def _render_traceback_(self) -> list[str]:
        """Lines of the traceback that IPython and Jupyter show: the user's own frames and the message, not those of
        this package.  (The hook is IPython's.)"""
        frames = [
            frame for frame in traceback.extract_tb(self.__traceback__)
            if not frame.filename.startswith(_PACKAGE) and "IPython" not in Path(frame.filename).parts
        ]  # fmt: skip
        shown = "".join(traceback.format_list(frames)).rstrip().splitlines()
        return [*shown, f"{type(self).__name__}: {self}"]


class UsageError(WarplensError):
    """A wrong file, kernel name, argument, launch, architecture or GPU."""


class CompileError(WarplensError):
    """The CUDA C++ compiler refused the source; the message is the compiler's own log."""


class CubinError(WarplensError):
    """The bytes are not a cubin that can be read."""


class HardwareError(WarplensError):
    """There is no GPU here, or it, its driver or its profiler cannot do what is asked."""


class Unpredictable(WarplensError):
    """An assumption of the model of time fails for this launch; its counts stand."""


class UnsupportedInstruction(WarplensError):
    """What cannot be executed here: an instruction that has no meaning in isa/ yet, a function of the driver; never
    answered with numbers."""

    exit_code = 4


class DynamicParallelism(UnsupportedInstruction):
    """A kernel that launches kernels itself."""


class KernelFault(WarplensError):
    """The kernel itself did something wrong: stray or misaligned access, trap, deadlock, endless loop.

    `printed` is what it printed until then; `kind` the name of a FaultKind (emulator/state/structs.py).
    """

    exit_code = 3
    printed: str = ""
    kind: str = ""


class TimeLimitReached(Exception):
    """The seconds are over.  `place`: "copy.cu:40", where the kernel has executed most instructions until then; ""
    where none was running."""

    place: str = ""
